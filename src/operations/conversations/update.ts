import {
  type ConversationChange,
  type ConversationObject,
  type ConversationUpdateFields,
  conversationSchema,
  updateConversationSchema,
} from '../../schema/responses/conversations.ts';
import type { ApiOperation } from '../operation.ts';
import {
  type ConversationDeps,
  changed,
  conversationsToWrite,
  keptConversations,
  limited,
  reachConversation,
  shownConversation,
} from './reach.ts';

/**
 * Replaces the metadata of a conversation.
 * @see https://platform.openai.com/docs/api-reference/conversations/update
 */
export function updateConversation(
  deps: ConversationDeps,
): ApiOperation<'conversations.update', ConversationUpdateFields, ConversationObject, ConversationChange> {
  return {
    name: 'updateConversation',
    wire: 'responses',
    api: 'conversations.update',
    method: 'POST',
    path: '/conversations/:id',
    permissions: ['inference', 'management'],
    body: updateConversationSchema,
    result: conversationSchema,
    run({ params, body, caller }) {
      const id = params.id as string;
      return limited(deps.pipeline, caller, async () => {
        const found = await reachConversation(keptConversations(deps), caller, id);
        const conversations = await conversationsToWrite(deps, caller);
        const metadata = body.metadata ?? {};
        const { entry } = await changed(conversations, found, id, (content) => ({ ...content, metadata }));
        return shownConversation(id, entry, metadata);
      });
    },
  };
}
