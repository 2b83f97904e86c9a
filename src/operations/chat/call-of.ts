import { generationId, type Ids } from '../../base/ids.ts';
import type { Call } from '../../call/call.ts';
import { newTrace } from '../../call/trace.ts';
import { chatWire } from '../../convert/chat-wire.ts';
import type { ChatRequest } from '../../schema/chat.ts';
import type { OperationInput } from '../operation.ts';

const maxSessionIdChars = 256;

/** Makes the call of a chat request: what its headers and its body say together. */
export function chatCalls(
  ids: Ids,
  brand: string,
): (input: Pick<OperationInput<ChatRequest>, 'body' | 'caller' | 'headers' | 'signal' | 'receivedAtMs'>) => Call {
  const metadataHeaders = [
    ...new Set([`x-${brand}-metadata`, 'x-service-metadata', 'x-service-experimental-metadata']),
  ];
  const wire = chatWire(brand);
  return ({ body, caller, headers, signal, receivedAtMs }) => ({
    id: generationId(ids, receivedAtMs),
    request: body,
    caller,
    signal,
    receivedAtMs,
    created: Math.floor(receivedAtMs / 1000),
    wantsMetadata: metadataHeaders.some((name) => headers.get(name)?.trim().toLowerCase() === 'enabled'),
    // An empty one names no conversation.
    sessionId: body.session_id || headers.get('x-session-id')?.slice(0, maxSessionIdChars) || null,
    opening: null,
    wire,
    trace: newTrace(),
  });
}
