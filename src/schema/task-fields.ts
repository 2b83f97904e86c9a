import type * as z from 'zod';
import { lazily } from '../base/lazily.ts';
import { list, textUpTo } from './bounded.ts';
import { providerPreferencesSchema } from './chat/preferences.ts';
import { traceSchema } from './chat/request.ts';
import { optionalText, text } from './scalars.ts';

/** The fields that the request of every task has, chat aside. */
export const taskFields = lazily(() => ({
  /** The model, `author/model`. */
  model: optionalText(),
  /** Further models, in the order in which they are asked after `model`. */
  models: list(text()).optional(),
  /** The providers that may serve. */
  provider: providerPreferencesSchema().nullish(),
  /** A name of the client's user. */
  user: textUpTo(256).nullish(),
  /** A name that several requests share, for records. */
  session_id: textUpTo(256).optional(),
  /** Names for traces. */
  trace: traceSchema().nullish(),
}));

export interface TaskFields {
  model?: string | undefined;
  models?: string[] | undefined;
  provider?: z.infer<ReturnType<typeof providerPreferencesSchema>> | null | undefined;
  user?: string | null | undefined;
  session_id?: string | undefined;
  trace?: z.infer<ReturnType<typeof traceSchema>> | null | undefined;
}
