import { anthropicMessages } from '../../../../src/dialects/anthropic-messages/index.ts';
import type { MessagesQuirks } from '../../../../src/dialects/anthropic-messages/quirks.ts';
import type { EncodedRequest } from '../../../../src/dialects/dialect.ts';
import { encodeFitted } from '../../../../src/dialects/fit/index.ts';
import type { ChatRequest } from '../../../../src/schema/chat/chat.ts';

export const ask = { role: 'user' as const, content: 'Hi' };
export const lookTool = {
  type: 'function' as const,
  function: { name: 'look', parameters: { type: 'object', properties: { at: { type: 'string' } } } },
};

/** What becomes of a request; a short question where it has no messages. */
export function encode(request: object, upstreamModel = 'claude-sonnet-4-5', quirks: MessagesQuirks = {}) {
  const asked = { messages: [ask], ...request } as unknown as ChatRequest;
  return shown(anthropicMessages.encodeRequest({ request: asked, upstreamModel, quirks }));
}

/** The same behind the stage that fits a request to the provider. */
export function encodeAsSent(request: object, upstreamModel = 'claude-sonnet-4-5', quirks: MessagesQuirks = {}) {
  const asked = { messages: [ask], ...request } as unknown as ChatRequest;
  return shown(encodeFitted(anthropicMessages, { request: asked, upstreamModel, quirks }));
}

function shown(encoded: EncodedRequest) {
  return { ...encoded, payload: encoded.payload as Payload, dropped: [...encoded.dropped].sort() };
}

interface Payload extends Record<string, unknown> {
  messages: { role: string; content: Record<string, unknown>[] }[];
}
