import { askOf } from '../../src/call/ask.ts';
import { boundPrompt, type PromptBound } from '../../src/pricing/prompt-bound.ts';
import type { ChatRequest } from '../../src/schema/chat/chat.ts';

/** The bound of a chat request that a client sent as it is. */
export function boundOf(request: ChatRequest): PromptBound {
  return boundPrompt(askOf(request));
}
