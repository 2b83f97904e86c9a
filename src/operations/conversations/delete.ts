import { noQuery } from '../../schema/page.ts';
import {
  type ConversationId,
  type DeletedConversation,
  deletedConversationSchema,
} from '../../schema/responses/conversations.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { type ConversationDeps, keptConversations, reachConversation } from './reach.ts';

/**
 * Removes a conversation and its items. Kept responses of the conversation stay.
 * @see https://platform.openai.com/docs/api-reference/conversations/delete
 */
export function deleteConversation(
  deps: ConversationDeps,
): ApiOperation<'conversations.delete', ConversationId, DeletedConversation> {
  return {
    name: 'deleteConversation',
    wire: 'responses',
    api: 'conversations.delete',
    method: 'DELETE',
    path: '/conversations/:id',
    permissions: ['inference', 'management'],
    body: null,
    query: noQuery,
    result: deletedConversationSchema,
    async run({ params, caller }) {
      const id = params.id as string;
      const conversations = keptConversations(deps);
      const { workspaceId } = await reachConversation(conversations, caller, id);
      await conversations.remove(workspaceId, id);
      return jsonReply({ id, object: 'conversation.deleted', deleted: true });
    },
  };
}
