import type { ChatRequest } from '../schema/chat.ts';

/** A symbol: no JSON has it, so no caller can make one, and it is in no JSON that is sent. */
const mark = Symbol('native search');

/** A chat request that only providers which search the web by themselves may serve. Copies by `{ ...request }` keep it. */
export function withNativeSearch(request: ChatRequest): ChatRequest {
  return Object.assign(request, { [mark]: true });
}

export function asksNativeSearch(request: ChatRequest): boolean {
  return (request as { [mark]?: true })[mark] === true;
}
