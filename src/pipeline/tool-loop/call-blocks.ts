import type { NativeObject } from '../../call/native.ts';
import { ownToolId, toolResultBlock, toolUseBlock } from '../../formats/messages/server-tools.ts';
import type { ToolCall } from '../../schema/chat/chat.ts';
import type { ChatChunk } from '../../schema/chat/chunk.ts';
import type { OfferedTool } from '../server-tools/offer.ts';
import { argumentsOf } from './arguments.ts';
import { type CallOutcome, chunkOf, type ShownCalls } from './call-items.ts';

/** The blocks of calls of server tools, for a client that speaks Messages: as if the provider had run the tools. */
export class CallBlocks implements ShownCalls {
  readonly #toolOf: (call: ToolCall) => OfferedTool['tool'];
  readonly #ids = new Map<ToolCall, string>();
  #next = 0;

  constructor(toolOf: (call: ToolCall) => OfferedTool['tool']) {
    this.#toolOf = toolOf;
  }

  begun(head: ChatChunk, calls: readonly ToolCall[]): ChatChunk[] {
    return calls.flatMap((call) => {
      const id = ownToolId(call.id, this.#next++);
      const block = toolUseBlock(this.#toolOf(call).name, id, inputOf(call));
      if (block === null) return [];
      this.#ids.set(call, id);
      return [shown(head, block)];
    });
  }

  ended(head: ChatChunk, call: ToolCall, outcome: CallOutcome | null): ChatChunk[] {
    const id = this.#ids.get(call);
    if (id === undefined) return [];
    this.#ids.delete(call);
    return [shown(head, toolResultBlock(this.#toolOf(call).name, id, inputOf(call), outcome?.text ?? null))];
  }
}

function inputOf({ function: { arguments: text } }: ToolCall): NativeObject {
  return argumentsOf(text) ?? {};
}

function shown(head: ChatChunk, item: NativeObject): ChatChunk {
  return chunkOf(head, { index: 0, item, isOpaque: true, isDone: true });
}
