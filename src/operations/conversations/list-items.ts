import { type ConversationItemsFields, conversationItemListSchema } from '../../schema/responses/conversations.ts';
import { type InputItemList, type InputItemsQuery, inputItemsQuery } from '../../schema/responses/stored.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { pageOfItems } from '../responses/shown-items.ts';
import { shownEntry } from './items.ts';
import { type ConversationDeps, keptConversations, reachConversation } from './reach.ts';

/**
 * Lists the items of a conversation.
 * @see https://platform.openai.com/docs/api-reference/conversations/list-items
 */
export function listConversationItems(
  deps: ConversationDeps,
): ApiOperation<'conversations.items.list', ConversationItemsFields, InputItemList, unknown, InputItemsQuery> {
  return {
    name: 'listConversationItems',
    wire: 'responses',
    api: 'conversations.items.list',
    method: 'GET',
    path: '/conversations/:id/items',
    permissions: ['inference', 'management'],
    body: null,
    query: inputItemsQuery,
    result: conversationItemListSchema,
    async run({ params, query, caller }) {
      const found = await reachConversation(keptConversations(deps), caller, params.id as string);
      const { items } = await found.open();
      return jsonReply(pageOfItems(items.map(shownEntry), query, 'this conversation'));
    },
  };
}
