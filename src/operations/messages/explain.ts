import * as z from 'zod';
import { explanationSchema } from '../../schema/chat/explanation.ts';
import type { MessagesRequest } from '../../schema/messages/request.ts';
import { explainCall } from '../chat/explain.ts';
import type { Operation } from '../operation.ts';
import { type MessagesDeps, messagesCalls } from './call-of.ts';
import { messagesChecks } from './check.ts';

/** Explains how a Messages request would be routed and paid now. The operation calls no provider and holds no money. */
export function explainMessage(deps: MessagesDeps): Operation<MessagesRequest> {
  const callOf = messagesCalls(deps);
  return {
    name: 'explainMessage',
    method: 'POST',
    path: '/messages/explain',
    permissions: ['inference', 'management'],
    wire: 'messages',
    ...messagesChecks(deps),
    result: () => z.object({ data: explanationSchema() }),
    run: (input) => explainCall(deps.pipeline, callOf(input)),
  };
}
