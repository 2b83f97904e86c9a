import {
  type ConversationFields,
  type ConversationObject,
  type ConversationSettings,
  conversationSchema,
  createConversationSchema,
} from '../../schema/responses/conversations.ts';
import { conversationItemIssues } from '../../schema/responses/responses.ts';
import { beingDeleted } from '../../stores/deletion.ts';
import type { ApiOperation } from '../operation.ts';
import { adding, newId } from './items.ts';
import { type ConversationDeps, conversationsToWrite, limited, shownConversation } from './reach.ts';

/**
 * Makes a conversation, with its first items.
 * @see https://platform.openai.com/docs/api-reference/conversations/create
 */
export function createConversation(
  deps: ConversationDeps,
): ApiOperation<'conversations.create', ConversationFields, ConversationObject, ConversationSettings> {
  return {
    name: 'createConversation',
    wire: 'responses',
    api: 'conversations.create',
    method: 'POST',
    path: '/conversations',
    permissions: ['inference', 'management'],
    body: createConversationSchema,
    isBodyOptional: true,
    issues: ({ items }) => conversationItemIssues(items ?? [], 'items'),
    result: conversationSchema,
    run({ body: { metadata, items }, caller }) {
      return limited(deps.pipeline, caller, async () => {
        const conversations = await conversationsToWrite(deps, caller);
        const id = newId(deps.ids, 'conv');
        const content = adding(items ?? [], deps.ids)({ metadata: metadata ?? {}, items: [] });
        const { apiKeyHash: api_key_hash, userId: user_id } = caller;
        const made = await conversations.create(caller.workspaceId, { id, content, api_key_hash, user_id });
        if (made === null) throw beingDeleted();
        return shownConversation(id, made, content.metadata);
      });
    },
  };
}
