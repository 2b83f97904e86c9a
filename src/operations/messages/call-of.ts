import type { Ids } from '../../base/ids.ts';
import type { Call } from '../../call/call.ts';
import { messagesEncoder } from '../../formats/messages/encoder/index.ts';
import { askOfMessages } from '../../formats/messages/request/index.ts';
import type { PipelineDeps } from '../../pipeline/deps.ts';
import { estimatePrompt } from '../../pricing/estimate.ts';
import type { RequestBounds } from '../../schema/chat/request-bounds.ts';
import type { MessagesRequest } from '../../schema/messages/request.ts';
import { completionCalls } from '../chat/call-of.ts';
import type { OperationInput } from '../operation.ts';

/** The dependencies of the operations of Messages. */
export interface MessagesDeps {
  pipeline: PipelineDeps;
  ids: Ids;
  brand: string;
  bounds: RequestBounds;
}

/** Headers of this wire that are for our eyes alone. */
const notForwarded: ReadonlySet<string> = new Set(['anthropic-dangerous-direct-browser-access']);

/** Returns the headers of a client that belong to its body: an upstream of the same wire format gets them as they are. */
export function clientHeaders(headers: Headers): Record<string, string> {
  const own: Record<string, string> = {};
  headers.forEach((value, name) => {
    if (name.startsWith('anthropic-') && !notForwarded.has(name)) own[name] = value;
  });
  return own;
}

/** Names the conversation, where the body and `x-session-id` do not. */
const sessionHeader = 'x-claude-code-session-id';

/** Makes the call of a Messages request: a chat request whose response is written in the caller's format. */
export function messagesCalls(
  { ids, brand }: Pick<MessagesDeps, 'ids' | 'brand'>,
  operation = 'createMessage',
): (input: OperationInput<MessagesRequest>) => Call {
  const callOf = completionCalls(ids, brand, operation, sessionHeader);
  return (input) => {
    const { body, headers } = input;
    const ask = askOfMessages(body, clientHeaders(headers));
    const encoder = messagesEncoder({
      brand,
      showsThoughts: body.thinking?.display !== 'omitted',
      estimate: () => estimatePrompt(ask.request),
    });
    return callOf(input, ask, encoder);
  };
}
