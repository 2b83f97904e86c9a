import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { jsonObject, list } from '../bounded.ts';
import { sealedSchema } from '../tenants/credential.ts';
import { storedResponseEntrySchema } from './stored-response.ts';

/** The caller who made a conversation, as it is stored beside the content of the conversation. */
export const storedConversationEntrySchema = lazily(() =>
  storedResponseEntrySchema().extend({
    /** Epoch ms: when it was changed last. */
    at_ms: z.int(),
    /** Epoch ms: when it was made. */
    created_at_ms: z.int(),
    /** The number of its changes, by which the entry and the content that belong together are known. */
    revision: z.int(),
    /** The length of the content, in characters. */
    chars: z.int(),
  }),
);
export interface StoredConversationEntry extends z.infer<ReturnType<typeof storedConversationEntrySchema>> {}

/** The content of a conversation. */
export const conversationContentSchema = lazily(() =>
  z.strictObject({
    /** The caller's own texts, by name. */
    metadata: z.record(z.string(), z.string()),
    /** The items, oldest first. `id` is the public id: that of the item itself, where no other item had it. */
    items: list(z.strictObject({ id: z.string(), item: jsonObject() })),
  }),
);
export interface ConversationContent extends z.infer<ReturnType<typeof conversationContentSchema>> {}
export type ConversationEntryItem = ConversationContent['items'][number];

/** The content as it is stored: with the revision of its entry, and sealed where there is a master key. */
export const storedConversationSchema = lazily(() =>
  z.union([
    z.strictObject({ revision: z.int(), sealed: sealedSchema() }),
    z.strictObject({ revision: z.int(), content: conversationContentSchema() }),
  ]),
);
