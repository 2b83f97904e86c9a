import { generationId } from '../../base/ids.ts';
import { serve } from '../../pipeline/serve.ts';
import type { MessagesRequest } from '../../schema/messages/request.ts';
import { messagesResultSchema } from '../../schema/messages/result.ts';
import type { Operation } from '../operation.ts';
import { type MessagesDeps, messagesCalls } from './call-of.ts';
import { messagesChecks } from './check.ts';
import { withThreadCode } from './threads.ts';

/**
 * Makes a message.
 * @see https://platform.claude.com/docs/en/api/messages/create
 */
export function createMessage(deps: MessagesDeps): Operation<MessagesRequest> {
  const callOf = messagesCalls(deps);
  return {
    name: 'createMessage',
    method: 'POST',
    path: '/messages',
    permissions: ['inference'],
    wire: 'messages',
    ...messagesChecks(deps),
    result: messagesResultSchema,
    recordsItself: true,
    generationId: (receivedAtMs) => generationId(deps.ids, receivedAtMs),
    run: (input) => withThreadCode(input.body, () => serve(deps.pipeline, callOf(input))),
  };
}
