import { GatewayError } from '../../base/errors.ts';
import type { Loose } from '../../base/values.ts';
import {
  conversationItemSchema,
  type ItemId,
  type ItemQuery,
  itemQuery,
} from '../../schema/responses/conversations.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { shownEntry } from './items.ts';
import { type ConversationDeps, keptConversations, reachConversation } from './reach.ts';

/**
 * Shows an item of a conversation.
 * @see https://platform.openai.com/docs/api-reference/conversations/get-item
 */
export function retrieveConversationItem(
  deps: ConversationDeps,
): ApiOperation<'conversations.items.retrieve', ItemId, Loose, unknown, ItemQuery> {
  return {
    name: 'retrieveConversationItem',
    wire: 'responses',
    api: 'conversations.items.retrieve',
    method: 'GET',
    path: '/conversations/:id/items/:item_id',
    permissions: ['inference', 'management'],
    body: null,
    query: itemQuery,
    result: conversationItemSchema,
    async run({ params, caller }) {
      const found = await reachConversation(keptConversations(deps), caller, params.id as string);
      const item = (await found.open()).items.find(({ id }) => id === params.item_id);
      if (item === undefined) throw noItem(params.item_id as string);
      return jsonReply(shownEntry(item));
    },
  };
}

/** The error for an item that the conversation does not have. */
export function noItem(id: string): GatewayError {
  return new GatewayError('not_found', `Item with id '${id.slice(0, 100)}' not found in this conversation`);
}
