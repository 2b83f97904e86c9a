import type { Native, NativeObject } from '../call/native.ts';
import type { ChatRequest } from '../schema/chat/chat.ts';
import { type Effort, jsonBound } from './token-bound.ts';

/** The tools of a request in the client's own format, as an upstream that speaks it gets them. */
export interface NativeTools {
  /** The tokens of all tools as the caller wrote them, with those that the provider runs and those in items. */
  tokens: number;
  /** The number of tools in the request as the caller wrote it. */
  tools: number;
  /** The tools, and the items that bring tools in: they are counted here, and not with the messages. */
  counted: ReadonlySet<NativeObject>;
}

/** Counts the tools of a request as the caller wrote them. */
export function nativeToolsOf({ tools }: ChatRequest, native: Native, effort: Effort): NativeTools {
  const counted = new Set<NativeObject>();
  const found = { tokens: 0, tools: 0, counted };
  const addTool = (tool: NativeObject): void => {
    // A namespace, or an item, stands for several tools, and is sent once.
    if (counted.has(tool)) return;
    counted.add(tool);
    found.tokens += jsonBound(tool, effort);
  };
  for (const [at, tool] of (tools ?? []).entries()) {
    found.tools++;
    addTool(native.tools[at] ?? tool);
  }
  for (const tool of native.hostedTools) {
    found.tools++;
    addTool(tool);
  }
  return found;
}
