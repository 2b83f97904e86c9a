import * as z from 'zod';
import { lazily } from '../base/lazily.ts';
import { jsonObject, list, textUpTo } from './bounded.ts';
import { pluginSchema } from './chat/plugins.ts';
import { providerPreferencesSchema } from './chat/preferences.ts';
import { stopConditionSchema, traceSchema } from './chat/request.ts';
import { flagOrNull } from './scalars.ts';

/** The fields for the gateway that a request has under the same names in every other wire format. */
export const gatewayShape = lazily(() => ({
  /** Key for sticky routing and for grouping. */
  session_id: textUpTo(256).nullish(),
  /** Affects streams only. */
  debug: z.looseObject({ echo_upstream_body: flagOrNull() }).nullish(),
  /** The plugins that act on the request. */
  plugins: list(pluginSchema()).nullish(),
  /** The providers that may serve, and their order. */
  provider: providerPreferencesSchema().nullish(),
  /** Deprecated in favour of `provider.sort.partition`. */
  route: z.union([z.enum(['fallback', 'sort']), jsonObject()]).nullish(),
  /** Any of the conditions ends the loop of server tools. */
  stop_server_tools_when: z.union([list(stopConditionSchema()).min(1), stopConditionSchema()]).nullish(),
  /** The caller's own names for tracing. */
  trace: traceSchema().nullish(),
}));

/** The names of all fields for the gateway: an upstream that speaks the wire format itself gets none of them. */
export const gatewayFieldNames = [
  'models',
  'user',
  'session_id',
  'debug',
  'plugins',
  'provider',
  'route',
  'stop_server_tools_when',
  'trace',
] as const satisfies readonly ('models' | 'user' | keyof ReturnType<typeof gatewayShape>)[];
