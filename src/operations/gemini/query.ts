import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { expectation } from '../../schema/chat/expectations.ts';

const none = () =>
  z
    .string()
    .regex(/^$/, { error: expectation('expected none: a part of a response cannot be asked for') })
    .optional();
const form = () =>
  z
    .string()
    .regex(/^sse$/, { error: expectation('expected "json" or "sse"') })
    .optional();

/** The query of a request of this wire. Clients add parameters of their own. `json` was taken away before: it is the usual form. */
export const geminiQuery = lazily(() =>
  z.looseObject({
    /** `sse`: a stream has server-sent events; otherwise it is one JSON array. */
    alt: form(),
    /** The same as `alt`. Enums are names, also where numbers are asked for: who asks for these takes both. */
    $alt: form(),
    /** Not served: the part of the response that is wanted. */
    fields: none(),
    /** The same as `fields`. */
    $fields: none(),
  }),
);
/** The query of `POST /models/{model}:streamGenerateContent`. */
export interface GeminiQuery extends z.infer<ReturnType<typeof geminiQuery>> {}

/** true: the response has server-sent events. */
export function wantsEvents(query: GeminiQuery | null | undefined): boolean {
  return (query?.alt || query?.$alt) === 'sse';
}
