import type { MessagesQuirks } from '../../../../src/dialects/anthropic-messages/quirks.ts';
import { encodeRequest } from '../../../../src/dialects/anthropic-messages/request.ts';
import type { ChatRequest } from '../../../../src/schema/chat/chat.ts';

export const ask = { role: 'user' as const, content: 'Hi' };
export const lookTool = {
  type: 'function' as const,
  function: { name: 'look', parameters: { type: 'object', properties: { at: { type: 'string' } } } },
};

/** What becomes of a request; a short question where it has no messages. */
export function encode(request: object, upstreamModel = 'claude-sonnet-4-5', quirks: MessagesQuirks = {}) {
  const encoded = encodeRequest({
    request: { messages: [ask], ...request } as unknown as ChatRequest,
    upstreamModel,
    quirks,
  });
  return { ...encoded, payload: encoded.payload as Payload, dropped: [...encoded.dropped].sort() };
}

interface Payload extends Record<string, unknown> {
  messages: { role: string; content: Record<string, unknown>[] }[];
}
