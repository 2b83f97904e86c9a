import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { jsonObject, list, mapOf, textUpTo } from '../bounded.ts';
import { integer, text } from '../scalars.ts';
import { type InputItem, inputItemSchema } from './items.ts';
import { type InputItemsFields, include, inputItemListSchema } from './stored.ts';

/** The most items that one request adds to a conversation. */
const mostAdded = 20;

const metadata = lazily(() => mapOf(textUpTo(512), { maxKeys: 16, maxKeyLength: 64 }));

/** Body of `POST /conversations`. */
export const createConversationSchema = lazily(() =>
  z.strictObject({
    /** The caller's own texts, by name. */
    metadata: metadata().nullish(),
    /** The first items of the conversation, at most 20. */
    items: list(inputItemSchema()).max(mostAdded).nullish(),
  }),
);
export interface ConversationSettings extends z.infer<ReturnType<typeof createConversationSchema>> {}
/** The argument of the function that makes a conversation. */
export interface ConversationFields {
  /** The caller's own texts, by name. */
  metadata?: Record<string, string> | null | undefined;
  /** The first items of the conversation, as in `input` of a response; at most 20. */
  items?: InputItem[] | null | undefined;
}

/** Body of `POST /conversations/{id}`. */
export const updateConversationSchema = lazily(() =>
  z.strictObject({
    /** The caller's own texts, by name. They take the place of those before; null: there are none. */
    metadata: metadata().nullable(),
  }),
);
export interface ConversationChange extends z.infer<ReturnType<typeof updateConversationSchema>> {}

/** The argument of a function for one conversation. */
export interface ConversationId {
  /** Id of the conversation, `conv_…`. */
  id: string;
}
/** The argument of the function that changes a conversation. */
export interface ConversationUpdateFields extends ConversationId {
  /** The caller's own texts, by name. They take the place of those before; null: there are none. */
  metadata: Record<string, string> | null;
}

/** Body of `POST /conversations/{id}/items`. */
export const createItemsSchema = lazily(() =>
  z.strictObject({
    /** The items to add, as in `input` of a response; at most 20. */
    items: list(inputItemSchema()).min(1).max(mostAdded),
  }),
);
export interface ItemsToAdd extends z.infer<ReturnType<typeof createItemsSchema>> {}
/** The argument of the function that adds items. */
export interface ItemsToAddFields extends ConversationId, ItemsToAdd {}

/** Query of operations that show items of a conversation. */
export const itemQuery = lazily(() => z.strictObject(include()));
export interface ItemQuery extends z.infer<ReturnType<typeof itemQuery>> {}
/** The argument of a function for one item of a conversation. */
export interface ItemId extends ConversationId {
  /** Id of the item. */
  item_id: string;
}
/** The argument of the function that lists the items of a conversation. */
export interface ConversationItemsFields extends Omit<InputItemsFields, 'id'>, ConversationId {}

/** A conversation. */
export const conversationSchema = lazily(() =>
  z.object({
    /** Id of the conversation, `conv_…`. */
    id: text(),
    /** Always `conversation`. */
    object: z.literal('conversation'),
    /** Unix seconds: when it was made. */
    created_at: integer(),
    /** The caller's own texts, by name. */
    metadata: mapOf(text()),
  }),
);
export interface ConversationObject extends z.infer<ReturnType<typeof conversationSchema>> {}

/** The end of a conversation. */
export const deletedConversationSchema = lazily(() =>
  z.object({
    /** Id of the conversation. */
    id: text(),
    /** Always `conversation.deleted`. */
    object: z.literal('conversation.deleted'),
    /** Always true: the conversation and its items are gone. */
    deleted: z.literal(true),
  }),
);
export interface DeletedConversation extends z.infer<ReturnType<typeof deletedConversationSchema>> {}

/** A page of the items of a conversation. */
export const conversationItemListSchema = inputItemListSchema;

/** An item of a conversation, with its id. */
export const conversationItemSchema = lazily(() => jsonObject());

/** The conversation that a request names; null: none. */
export function conversationIdOf({ conversation }: { conversation?: unknown }): string | null {
  if (typeof conversation === 'string') return conversation;
  return (conversation as { id?: string } | null | undefined)?.id ?? null;
}
