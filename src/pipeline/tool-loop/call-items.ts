import type { NativeObject } from '../../call/native.ts';
import { withOutputItem } from '../../call/output-item.ts';
import type { ToolCall } from '../../schema/chat/chat.ts';
import type { ChatChunk, ChunkDelta } from '../../schema/chat/chunk.ts';
import type { OfferedTool } from '../server-tools/offer.ts';
import { argumentsOf } from './arguments.ts';

/** The result of a call. */
export interface CallOutcome {
  text: string;
  hasFailed: boolean;
}

/** Shows calls of server tools to a client whose wire format has a place for them. */
export interface ShownCalls {
  /** Returns chunks that show the beginning of the calls of a step. @param head  a chunk of the response */
  begun(head: ChatChunk, calls: readonly ToolCall[]): ChatChunk[];
  /** Returns chunks that show the end of a call. @param outcome  null: it was not run */
  ended(head: ChatChunk, call: ToolCall, outcome: CallOutcome | null): ChatChunk[];
}

/** The output items of calls of server tools, for a client that speaks Responses: a chat completion has no place for them. */
export class CallItems implements ShownCalls {
  readonly #toolOf: (call: ToolCall) => OfferedTool['tool'];
  /** The indices of a provider that speaks Responses begin at 0, so ours are below. */
  #next = -1;
  readonly #open = new Map<ToolCall, { index: number; item: NativeObject }>();

  constructor(toolOf: (call: ToolCall) => OfferedTool['tool']) {
    this.#toolOf = toolOf;
  }

  begun(head: ChatChunk, calls: readonly ToolCall[]): ChatChunk[] {
    return calls.flatMap((call) => {
      const index = this.#next--;
      const item = { ...this.#itemOf(call, null), status: 'in_progress' };
      this.#open.set(call, { index, item });
      const events = eventsOf(item.type, ['in_progress', 'searching']);
      return [undefined, ...events].map((event) => chunkOf(head, { index, item, isOpaque: true, ...event }));
    });
  }

  ended(head: ChatChunk, call: ToolCall, outcome: CallOutcome | null): ChatChunk[] {
    const open = this.#open.get(call);
    if (open === undefined) return [];
    this.#open.delete(call);
    const { index } = open;
    const status = outcome === null ? 'incomplete' : outcome.hasFailed ? 'failed' : 'completed';
    const item = { ...this.#itemOf(call, outcome?.text ?? null), status };
    const events = status === 'completed' ? eventsOf(item.type, ['completed']) : [];
    return [
      ...events.map((event) => chunkOf(head, { index, item, isOpaque: true, ...event })),
      chunkOf(head, { index, item, isOpaque: true, isDone: true }),
    ];
  }

  #itemOf(call: ToolCall, result: string | null): NativeObject & { type: string } {
    const tool = this.#toolOf(call);
    const item = tool.itemOf?.(argumentsOf(call.function.arguments) ?? {}, result);
    return item ?? { type: `service:${tool.name}` };
  }
}

/** Returns the events of an item. Only a web search has events of its own. */
function eventsOf(type: string, names: readonly string[]): { event: NativeObject }[] {
  if (type !== 'web_search_call') return [];
  return names.map((name) => ({ event: { type: `response.web_search_call.${name}` } }));
}

/** Returns a chunk with nothing but an item. */
export function chunkOf(head: ChatChunk, item: Parameters<typeof withOutputItem>[1]): ChatChunk {
  const delta = withOutputItem<ChunkDelta>({}, item);
  return { ...head, choices: [{ index: 0, delta, finish_reason: null }] };
}
