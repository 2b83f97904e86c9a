import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { count, milliseconds } from '../settings/settings.ts';

/** Option `thoughtBindings`. */
export const thoughtBindingSettingsSchema = lazily(() =>
  z.strictObject({
    /**
     * After a provider has refused a thought that does not fit its conversation: how long requests with the same
     * credential tell it at once to drop such thoughts.
     */
    ttlMs: milliseconds().default(86_400_000),
    /** The most credentials that are remembered; of more, the workspace that has most forgets its oldest. */
    max: count().default(10_000),
  }),
);
export interface ThoughtBindingSettings extends z.infer<ReturnType<typeof thoughtBindingSettingsSchema>> {}
