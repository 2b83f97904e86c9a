import { originOf, type ResponsesObject } from '../call/responses-origin.ts';
import type { ChatRequest } from '../schema/chat.ts';
import { type Effort, jsonBound } from './token-bound.ts';

/** The tools of a Responses request, as an upstream that speaks Responses gets them. */
export interface NativeTools {
  /** Of all tools as the caller wrote them, with those that the provider runs and those in items. */
  tokens: number;
  /** How many tools are in the request as the caller wrote it. */
  tools: number;
  /** The tools, and the items that bring tools in: they are counted here, and not with the messages. */
  counted: ReadonlySet<ResponsesObject>;
}

/** @returns null: the caller sent a chat request */
export function nativeToolsOf(request: ChatRequest, effort: Effort): NativeTools | null {
  const origin = originOf(request);
  if (origin === null) return null;
  const counted = new Set<ResponsesObject>();
  const found = { tokens: 0, tools: 0, counted };
  const addTool = (tool: ResponsesObject): void => {
    // A namespace, or an item, stands for several tools, and is sent once.
    if (counted.has(tool)) return;
    counted.add(tool);
    found.tokens += jsonBound(tool, effort);
  };
  for (const tool of request.tools ?? []) {
    found.tools++;
    addTool(origin.toolOf.get(tool) ?? tool);
  }
  for (const tool of origin.hostedTools) {
    found.tools++;
    addTool(tool);
  }
  return found;
}
