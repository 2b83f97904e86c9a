import * as z from 'zod';
import type { MessagesRequest } from '../../schema/messages/request.ts';
import { count } from '../../schema/scalars.ts';
import { countedReply } from '../chat/counted.ts';
import type { Operation } from '../operation.ts';
import { type MessagesDeps, messagesCalls } from './call-of.ts';
import { messagesChecks } from './check.ts';

/**
 * Counts the tokens of a Messages request, without a call of a model: its provider does where it can, else the gateway
 * estimates, which a header says.
 * @see https://platform.claude.com/docs/en/api/messages/count_tokens
 */
export function countMessageTokens(deps: MessagesDeps): Operation<MessagesRequest> {
  const callOf = messagesCalls(deps, 'countMessageTokens');
  return {
    name: 'countMessageTokens',
    method: 'POST',
    path: '/messages/count_tokens',
    permissions: ['inference'],
    wire: 'messages',
    ...messagesChecks(deps),
    result: () =>
      z.object({
        /** Tokens of the conversation, the instructions and the tools. */
        input_tokens: count(),
      }),
    run: (input) => countedReply(deps.pipeline, callOf(input), (tokens) => ({ input_tokens: tokens })),
  };
}
