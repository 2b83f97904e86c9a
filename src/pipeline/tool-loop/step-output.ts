import { outputItemOf } from '../../call/output-item.ts';
import { chunkFolder } from '../../formats/chunks.ts';
import type { AssistantMessage, FinishReason, ToolCall } from '../../schema/chat/chat.ts';
import type { ChatChunk, ChunkChoice, ChunkDelta, ChunkToolCall } from '../../schema/chat/chunk.ts';

/** The end of a step, which is one response of the model. */
export interface StepEnd {
  /** The message of the model, with all of its calls. */
  message: AssistantMessage;
  /** Calls of server tools, which nobody but the gateway sees. */
  serverCalls: readonly ToolCall[];
  /** true: the model called functions of the caller as well. */
  hasOwnCalls: boolean;
  reason: FinishReason | null;
  /** The chunk with the finish_reason, which was held back; null: there was none. */
  last: ChatChunk | null;
}

const gap = '\n\n';

/**
 * Makes one response of several steps: texts and thoughts follow each other, calls of server tools and the ends of
 * steps are left out. Takes chunks of a stream, or those of a complete response.
 */
export class StepOutput {
  readonly #isServerTool: (name: string) => boolean;
  #folder = chunkFolder();
  #last: ChatChunk | null = null;
  /** true: text was sent in an earlier step. */
  #hasText = false;
  #needsGap = false;
  /** By the index in the step: the index for the client; null for a call of a server tool. */
  #callIndices = new Map<number, number | null>();
  #calls = 0;
  /** The number that is added to the indices of reasoning details in this step, and the next index that is free. */
  #detailOffset = 0;
  #detailEnd = 0;

  constructor(isServerTool: (name: string) => boolean) {
    this.#isServerTool = isServerTool;
  }

  /** @returns the chunks that go on to the client */
  push(chunk: ChatChunk): ChatChunk[] {
    this.#folder.add(chunk);
    const choices = chunk.choices.flatMap((choice) => this.#choice(choice));
    if (chunk.choices.some(({ finish_reason: reason }) => reason !== null)) this.#last = { ...chunk, choices: [] };
    if (chunk.choices.length === 0) return [chunk];
    return choices.length === 0 ? [] : [{ ...chunk, choices }];
  }

  #choice(choice: ChunkChoice): ChunkChoice[] {
    // Other choices were not asked for.
    if (choice.index !== 0) return [];
    const { finish_reason: reason, native_finish_reason: _native, delta, ...rest } = choice;
    const passed = this.#delta(delta);
    const isEmpty = Object.keys(passed).length === 0 && !rest.logprobs;
    // An error ends the response, in any step.
    if (reason === 'error') return [{ ...choice, delta: passed }];
    return isEmpty ? [] : [{ ...rest, delta: passed, finish_reason: null }];
  }

  #delta(delta: ChunkDelta): ChunkDelta {
    const passed: ChunkDelta = {};
    // The item of a provider that speaks Responses is left out: those of several responses share their indices.
    for (const key in delta) passed[key] = delta[key];
    if (outputItemOf(delta)?.isOpaque === true) return {};
    const { content, tool_calls: calls, reasoning_details: details } = delta;
    if (typeof content === 'string' && content !== '') {
      if (this.#needsGap) passed.content = gap + content;
      this.#needsGap = false;
      this.#hasText = true;
    }
    if (details) passed.reasoning_details = details.map((detail) => this.#detail(detail));
    if (calls) {
      const own = calls.flatMap((call) => this.#call(call));
      if (own.length > 0) passed.tool_calls = own;
      else delete passed.tool_calls;
    }
    return passed;
  }

  #detail<Detail extends { index?: number | null | undefined }>(detail: Detail): Detail {
    if (typeof detail.index !== 'number') return detail;
    const index = detail.index + this.#detailOffset;
    this.#detailEnd = Math.max(this.#detailEnd, index + 1);
    return { ...detail, index };
  }

  #call(call: ChunkToolCall): ChunkToolCall[] {
    let index = this.#callIndices.get(call.index);
    if (index === undefined) {
      index = this.#isServerTool(call.function?.name ?? '') ? null : this.#calls++;
      this.#callIndices.set(call.index, index);
    }
    return index === null ? [] : [{ ...call, index }];
  }

  /** Ends the step: the response of the model has ended. */
  endStep(): StepEnd {
    const choice = this.#folder.result()?.choices.find(({ index }) => index === 0);
    const calls = (choice?.message.tool_calls ?? []) as readonly ToolCall[];
    const isServerCall = (call: ToolCall) => this.#isServerTool(call.function.name);
    const end: StepEnd = {
      message: (choice?.message ?? { role: 'assistant', content: null }) as AssistantMessage,
      serverCalls: calls.filter(isServerCall),
      hasOwnCalls: !calls.every(isServerCall),
      reason: choice?.finish_reason ?? null,
      last:
        this.#last === null
          ? null
          : {
              ...this.#last,
              choices: [
                {
                  index: 0,
                  delta: {},
                  finish_reason: choice?.finish_reason ?? null,
                  native_finish_reason: choice?.native_finish_reason ?? null,
                },
              ],
            },
    };
    this.#folder = chunkFolder();
    this.#last = null;
    this.#needsGap = this.#hasText;
    this.#callIndices = new Map();
    this.#detailOffset = this.#detailEnd;
    return end;
  }
}
