import type { ConversationEntryItem } from '../../schema/records/stored-conversation.ts';
import {
  conversationItemListSchema,
  createItemsSchema,
  type ItemQuery,
  type ItemsToAdd,
  type ItemsToAddFields,
  itemQuery,
} from '../../schema/responses/conversations.ts';
import { conversationItemIssues } from '../../schema/responses/responses.ts';
import type { InputItemList } from '../../schema/responses/stored.ts';
import type { ApiOperation } from '../operation.ts';
import { listOfItems } from '../responses/shown-items.ts';
import { adding, shownEntry } from './items.ts';
import {
  type ConversationDeps,
  changed,
  conversationsToWrite,
  keptConversations,
  limited,
  reachConversation,
} from './reach.ts';

/**
 * Adds items to the end of a conversation.
 * @see https://platform.openai.com/docs/api-reference/conversations/create-items
 */
export function createConversationItems(
  deps: ConversationDeps,
): ApiOperation<'conversations.items.create', ItemsToAddFields, InputItemList, ItemsToAdd, ItemQuery> {
  return {
    name: 'createConversationItems',
    wire: 'responses',
    api: 'conversations.items.create',
    method: 'POST',
    path: '/conversations/:id/items',
    permissions: ['inference', 'management'],
    body: createItemsSchema,
    query: itemQuery,
    issues: ({ items }) => conversationItemIssues(items, 'items'),
    result: conversationItemListSchema,
    run({ params, body, caller }) {
      const id = params.id as string;
      return limited(deps.pipeline, caller, async () => {
        const found = await reachConversation(keptConversations(deps), caller, id);
        const conversations = await conversationsToWrite(deps, caller);
        let added: readonly ConversationEntryItem[] = [];
        const make = adding(body.items, deps.ids, (items) => {
          added = items;
        });
        await changed(conversations, found, id, make);
        return listOfItems(added.map(shownEntry), false);
      });
    },
  };
}
