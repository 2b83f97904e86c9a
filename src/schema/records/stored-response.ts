import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { jsonObject, list } from '../bounded.ts';
import { sealedSchema } from '../tenants/credential.ts';

/** The caller whose response is kept, as it is stored beside the response. */
export const storedResponseEntrySchema = lazily(() =>
  z.strictObject({
    /** Epoch ms: when the request arrived. */
    at_ms: z.int(),
    /** SHA-256 of the api key, hex; null: the host app has authenticated the caller. */
    api_key_hash: z.string().nullable(),
    /** The host app's id of the user; null for none. */
    user_id: z.string().nullable(),
  }),
);
export interface StoredResponseEntry extends z.infer<ReturnType<typeof storedResponseEntrySchema>> {}

/** A response that is kept, with the items that it was made of. */
export const storedResponseSchema = lazily(() =>
  z.strictObject({
    /** The response, as its client got it. */
    response: z.looseObject({ output: list(jsonObject()) }),
    /** All items of its input, those of earlier responses included, oldest first. */
    input: list(jsonObject()),
  }),
);
export interface StoredResponse extends z.infer<ReturnType<typeof storedResponseSchema>> {}

/** A response that is kept, sealed. */
export const sealedResponseSchema = lazily(() => z.strictObject({ sealed: sealedSchema() }));
