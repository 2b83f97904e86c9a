import { type ResponsesObject, type ResponsesOrigin, withOrigin } from '../../src/call/responses-origin.ts';
import type { ChatMessage, ChatRequest, ChatTool } from '../../src/schema/chat.ts';

/** A message with the items that it was made of; without items, it was made of none that is known. */
export type Made = readonly [ChatMessage, (readonly ResponsesObject[])?];

export interface MadeOf extends Partial<Omit<ResponsesOrigin, 'itemsOf' | 'toolOf' | 'instructions'>> {
  messages: readonly Made[];
  /** The first message is made of it. */
  hasInstructions?: boolean;
  tools?: readonly (readonly [ChatTool, ResponsesObject])[];
}

/** A chat request that was a Responses request, put together by hand. */
export function requestMadeOf({ messages, hasInstructions, tools, ...origin }: MadeOf, more: object = {}): ChatRequest {
  const request = {
    messages: messages.map(([message]) => message),
    ...(tools === undefined ? {} : { tools: tools.map(([tool]) => tool) }),
    ...more,
  } as ChatRequest;
  const itemsOf = new WeakMap<ChatMessage, readonly ResponsesObject[]>();
  for (const [message, items] of messages) if (items !== undefined) itemsOf.set(message, items);
  return withOrigin(request, {
    input: messages.flatMap(([, items]) => items ?? []),
    itemsOf,
    toolOf: new WeakMap(tools),
    instructions: hasInstructions ? (messages[0]?.[0] ?? null) : null,
    hostedTools: [],
    toolChoice: null,
    fields: {},
    include: [],
    dropped: [],
    onlyNative: [],
    toolMedia: [],
    callForms: new Map(),
    purpose: 'respond',
    ...origin,
  });
}
