import { type Ask, askOf } from '../../src/call/ask.ts';
import type { Native, NativeObject } from '../../src/call/native.ts';
import { pathOf } from '../../src/formats/responses/request/caller-path.ts';
import type { ChatMessage, ChatRequest, ChatTool } from '../../src/schema/chat/chat.ts';

/** A message with the items that it was made of; without items, it was made of none that is known. */
export type Made = readonly [ChatMessage, (readonly NativeObject[])?];

export interface MadeOf extends Partial<Omit<Native, 'items' | 'tools' | 'instructionsAt'>> {
  messages: readonly Made[];
  /** The first message is made of it. */
  hasInstructions?: boolean;
  tools?: readonly (readonly [ChatTool, NativeObject])[];
}

/** A request that came as a Responses request, put together by hand. */
export function askMadeOf(
  { messages, hasInstructions, tools, ...native }: MadeOf,
  more: object = {},
): Ask & { native: Native } {
  const request = {
    messages: messages.map(([message]) => message),
    ...(tools === undefined ? {} : { tools: tools.map(([tool]) => tool) }),
    ...more,
  } as ChatRequest;
  const whole: Native = {
    format: 'responses',
    input: messages.flatMap(([, items]) => items ?? []),
    items: messages.map(([, items]) => items ?? null),
    tools: (tools ?? []).map(([, tool]) => tool),
    instructionsAt: hasInstructions ? 0 : null,
    hostedTools: [],
    toolChoice: null,
    fields: {},
    include: [],
    dropped: [],
    onlyNative: [],
    toolMedia: [],
    callForms: new Map(),
    purpose: 'respond',
    pathOf,
    ...native,
  };
  return { ...askOf(request), native: whole };
}
