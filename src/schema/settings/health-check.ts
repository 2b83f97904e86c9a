import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { expectation } from '../chat/expectations.ts';
import { count, milliseconds } from './settings.ts';

/** Option `providers.<slug>.healthCheck`. */
export const healthCheckSettingsSchema = lazily(() =>
  z.strictObject({
    /**
     * The path that is asked, from the root of the server, such as `/health`.
     * @default `/models` behind the `baseUrl`
     */
    path: z
      .string()
      .regex(/^\/[^\s?#]*(?:\?[^\s#]*)?$/, expectation('expected a path such as /health'))
      .optional(),
    /**
     * true: the response is a list of models, as of `/models`, and an endpoint whose model is not in it is down too.
     */
    checkModels: z.boolean().default(false),
    /** The time between two checks; a random tenth is added or taken off. */
    intervalMs: z.int().min(100).default(10_000),
    /** The longest time for the response to a check. */
    timeoutMs: milliseconds().default(2_000),
    /** Failed checks in a row after which the server is down. */
    failures: count().default(3),
    /** Successful checks in a row after which a server that was down is up again. */
    successes: count().default(1),
  }),
);
/** The option as it is given. */
export interface HealthCheckOptions extends z.input<ReturnType<typeof healthCheckSettingsSchema>> {}
/** The same, with all defaults. */
export interface HealthCheckSettings extends z.infer<ReturnType<typeof healthCheckSettingsSchema>> {}
