import { noQuery } from '../../schema/page.ts';
import { type ConversationObject, conversationSchema, type ItemId } from '../../schema/responses/conversations.ts';
import type { ApiOperation } from '../operation.ts';
import {
  type ConversationDeps,
  changed,
  keptConversations,
  limited,
  reachConversation,
  shownConversation,
} from './reach.ts';
import { noItem } from './retrieve-item.ts';

/**
 * Removes an item of a conversation.
 * @see https://platform.openai.com/docs/api-reference/conversations/delete-item
 */
export function deleteConversationItem(
  deps: ConversationDeps,
): ApiOperation<'conversations.items.delete', ItemId, ConversationObject> {
  return {
    name: 'deleteConversationItem',
    wire: 'responses',
    api: 'conversations.items.delete',
    method: 'DELETE',
    path: '/conversations/:id/items/:item_id',
    permissions: ['inference', 'management'],
    body: null,
    query: noQuery,
    result: conversationSchema,
    run({ params, caller }) {
      const id = params.id as string;
      const itemId = params.item_id as string;
      return limited(deps.pipeline, caller, async () => {
        const conversations = keptConversations(deps);
        const found = await reachConversation(conversations, caller, id);
        const { entry, content } = await changed(conversations, found, id, (before) => {
          const items = before.items.filter((item) => item.id !== itemId);
          if (items.length === before.items.length) throw noItem(itemId);
          return { ...before, items };
        });
        return shownConversation(id, entry, content.metadata);
      });
    },
  };
}
