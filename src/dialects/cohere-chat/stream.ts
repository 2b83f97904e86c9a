import { isIndex, isObject, type Loose } from '../../base/values.ts';
import type { ChatChunk } from '../../schema/chunk.ts';
import type { Reading, StreamDecoder, StreamPart } from '../dialect.ts';
import { eventObject } from '../shared/events.ts';
import { badResponse } from '../shared/values.ts';
import { annotationsOf } from './citations.ts';
import { errorIn } from './errors.ts';
import { finishReasonOf } from './finish-reason.ts';
import { readLogprobs } from './logprobs.ts';
import type { CohereQuirks } from './quirks.ts';
import { type ThoughtKind, thoughtDetail } from './reasoning.ts';
import { streamedCalls } from './streamed-calls.ts';
import { readUsage } from './usage.ts';

/**
 * Reads a stream of Cohere's events. `message-end` is its end; some servers write `[DONE]` behind it.
 * @see https://docs.cohere.com/docs/streaming
 */
export function streamDecoder(quirks: CohereQuirks, { outputTool }: Reading = {}): StreamDecoder {
  const calls = streamedCalls(outputTool);
  /** How much text has come, and how much before each block. */
  let textLength = 0;
  const offsets = new Map<number, number>();
  /** The index of the detail of each block of thoughts; -1 stands for the plan. */
  const thoughts = new Map<number, number>();
  /** Text that is not yet the content: a call of the output tool may follow, whose arguments are. */
  let held: string[] | null = outputTool === undefined ? null : [];

  function decode(data: string): StreamPart[] {
    if (data.trim() === '[DONE]') return [];
    const event = eventObject(data);
    const delta = isObject(event.delta) ? event.delta : {};
    const message = isObject(delta.message) ? delta.message : {};
    const index = isIndex(event.index) ? event.index : 0;
    switch (event.type) {
      case 'message-start':
        return [chunkOf({ role: 'assistant' })];
      case 'content-start':
      case 'content-delta':
        return decodeContent(first(message.content), index, event.logprobs);
      case 'tool-plan-delta':
        return thought('plan', -1, message.tool_plan);
      case 'tool-call-start':
        return toChunks(calls.start(index, first(message.tool_calls)));
      case 'tool-call-delta':
        return toChunks(calls.add(index, first(message.tool_calls)));
      case 'tool-call-end':
        return toChunks(calls.end(index));
      case 'citation-start':
        return decodeCitation(first(message.citations));
      case 'message-end':
        return decodeEnd(delta);
      default:
        return decodeOther(event);
    }
  }

  function decodeContent(content: Loose, index: number, logprobs: unknown): StreamPart[] {
    if (!offsets.has(index)) offsets.set(index, textLength);
    const parts = thought('thinking', index, content.thinking);
    const { text } = content;
    if (typeof text !== 'string' || text === '') return parts;
    textLength += text.length;
    if (held !== null) held.push(text);
    else parts.push(chunkOf({ content: text }, readLogprobs(logprobs)));
    return parts;
  }

  function thought(kind: ThoughtKind, block: number, text: unknown): StreamPart[] {
    if (typeof text !== 'string' || text === '') return [];
    const index = thoughts.get(block) ?? thoughts.size;
    thoughts.set(block, index);
    return [chunkOf({ reasoning: text, reasoning_details: [thoughtDetail(kind, text, index)] })];
  }

  function decodeCitation(citation: Loose): StreamPart[] {
    const { content_index: block } = citation;
    const annotations = annotationsOf(citation, (typeof block === 'number' && offsets.get(block)) || 0);
    return annotations.length === 0 ? [] : [chunkOf({ annotations })];
  }

  function toChunks(delta: Loose | null): StreamPart[] {
    return delta === null ? [] : [chunkOf(delta)];
  }

  /** Text that came before the output tool was called is no part of the output. */
  function releaseHeld(): StreamPart[] {
    const text = held?.join('') ?? '';
    held = null;
    return text === '' ? [] : [chunkOf(calls.hasOutput() ? { reasoning: text } : { content: text })];
  }

  function decodeEnd(delta: Loose): StreamPart[] {
    const parts = [...releaseHeld(), ...calls.endAll().map((one) => chunkOf(one))];
    const usage = readUsage(delta.usage, quirks);
    if (usage) parts.push({ kind: 'usage', usage });
    const native = typeof delta.finish_reason === 'string' && delta.finish_reason !== '' ? delta.finish_reason : null;
    const reason = native === null ? null : finishReasonOf(native, calls.count() > 0);
    const error = errorIn({ error: delta.error });
    if (error || reason === 'error') {
      const broken = error ?? badResponse(`The provider broke off its response (${native}).`, native ?? undefined);
      return [...parts, { kind: 'error', error: broken, isReported: true }];
    }
    // Without a reason why it ended, a response may have been broken off.
    if (reason === null) return parts;
    const choice = { index: 0, delta: {}, finish_reason: reason, native_finish_reason: native };
    return [...parts, chunk([choice]), { kind: 'done' }];
  }

  /** Kinds of events that nobody knows yet are no errors; an error may come without a type. */
  function decodeOther(event: Loose): StreamPart[] {
    const isKnownKind = typeof event.type === 'string' && event.type !== 'error';
    const error = isKnownKind ? null : errorIn(event);
    return error ? [{ kind: 'error', error, isReported: true }] : [];
  }

  return { decode };
}

/** Cohere puts one item where a response has a list. Some servers keep the list. */
function first(value: unknown): Loose {
  const one = Array.isArray(value) ? value[0] : value;
  return isObject(one) ? one : {};
}

function chunkOf(delta: Loose, logprobs: object | null = null): StreamPart {
  return chunk([{ index: 0, delta, finish_reason: null, ...(logprobs === null ? {} : { logprobs }) }]);
}

function chunk(choices: readonly object[]): StreamPart {
  return {
    kind: 'chunk',
    chunk: { id: '', object: 'chat.completion.chunk', created: 0, model: '', choices } as unknown as ChatChunk,
  };
}
