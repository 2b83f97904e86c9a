import { noQuery } from '../../schema/page.ts';
import {
  type ConversationId,
  type ConversationObject,
  conversationSchema,
} from '../../schema/responses/conversations.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { type ConversationDeps, keptConversations, reachConversation, shownConversation } from './reach.ts';

/**
 * Shows a conversation, without its items.
 * @see https://platform.openai.com/docs/api-reference/conversations/retrieve
 */
export function retrieveConversation(
  deps: ConversationDeps,
): ApiOperation<'conversations.retrieve', ConversationId, ConversationObject> {
  return {
    name: 'retrieveConversation',
    wire: 'responses',
    api: 'conversations.retrieve',
    method: 'GET',
    path: '/conversations/:id',
    permissions: ['inference', 'management'],
    body: null,
    query: noQuery,
    result: conversationSchema,
    async run({ params, caller }) {
      const id = params.id as string;
      const found = await reachConversation(keptConversations(deps), caller, id);
      return jsonReply(shownConversation(id, found, (await found.open()).metadata));
    },
  };
}
