import { isIndex, isObject, type Loose } from '../../base/values.ts';
import { withOutputItem } from '../../call/output-item.ts';
import type { ChunkDelta } from '../../schema/chat/chunk.ts';
import type { Reading, StreamDecoder, StreamPart } from '../dialect.ts';
import { deltaPart, finishPart } from '../shared/response/chunks.ts';
import { eventObject } from '../shared/response/event-object.ts';
import { badResponse } from '../shared/values.ts';
import { responseError } from './errors.ts';
import { finishOf } from './finish.ts';
import type { Addition, TextKind } from './output.ts';
import { readerFor } from './output-items.ts';
import type { ResponsesQuirks } from './quirks.ts';
import { createdOf, tierOf } from './result.ts';
import { readUsage } from './usage.ts';

/** The most depth of an event. The last one repeats the request's tools and schemas. */
const maxDepth = 128;

/** The kind of text of events that add to a text, and of events with all of it, with the field that holds it. */
const deltas: ReadonlyMap<unknown, TextKind> = new Map<unknown, TextKind>([
  ['response.output_text.delta', 'text'],
  ['response.refusal.delta', 'refusal'],
  ['response.reasoning_summary_text.delta', 'summary'],
  ['response.reasoning_text.delta', 'thought'],
  ['response.function_call_arguments.delta', 'arguments'],
  ['response.custom_tool_call_input.delta', 'arguments'],
]);
const wholes: ReadonlyMap<unknown, readonly [TextKind, string]> = new Map<unknown, [TextKind, string]>([
  ['response.output_text.done', ['text', 'text']],
  ['response.refusal.done', ['refusal', 'refusal']],
  ['response.reasoning_summary_text.done', ['summary', 'text']],
  ['response.reasoning_text.done', ['thought', 'text']],
  ['response.function_call_arguments.done', ['arguments', 'arguments']],
  ['response.custom_tool_call_input.done', ['arguments', 'input']],
]);

/**
 * Reads the events of a response. Items are told apart by `output_index`: some servers give an item another id in each
 * event. Events of the provider's own tools say nothing that a chat completion could hold.
 * @see https://platform.openai.com/docs/api-reference/responses-streaming
 */
export function streamDecoder(quirks: ResponsesQuirks, reading?: Reading): StreamDecoder {
  const reader = readerFor(quirks, reading);
  let created = 0;
  let hasBegun = false;
  let isOver = false;

  function decode(data: string): StreamPart[] {
    // Some servers add the sentinel of chat completions. Only an event can end a response.
    if (isOver || data.trim() === '[DONE]') return [];
    const event = eventObject(data, maxDepth);
    const kind = deltas.get(event.type);
    if (kind === undefined) return decodeOther(event);
    if (typeof event.delta !== 'string') return [];
    return chunksOf(reader.more(placeOf(event), kind, partOf(event, kind), event.delta, event.logprobs));
  }

  function decodeOther(event: Loose): StreamPart[] {
    const whole = wholes.get(event.type);
    if (whole !== undefined) {
      const [kind, field] = whole;
      return chunksOf(reader.complete(placeOf(event), kind, partOf(event, kind), event[field], event.logprobs));
    }
    switch (event.type) {
      case 'response.created':
        created = isObject(event.response) ? createdOf(event.response) : 0;
        return hasBegun ? [] : [deltaOf({ delta: { content: '' } })];
      case 'response.output_item.added':
        return isObject(event.item) ? chunksOf(reader.open(placeOf(event), event.item)) : [];
      case 'response.output_item.done':
        return isObject(event.item) ? chunksOf(reader.close(placeOf(event), event.item)) : [];
      case 'response.output_text.annotation.added':
        return chunksOf(reader.annotate(placeOf(event), partOf(event, 'text'), event.annotation));
      case 'response.completed':
        return end(event, 'completed');
      case 'response.incomplete':
        return end(event, 'incomplete');
      case 'response.failed':
      case 'response.cancelled':
        return fail(isObject(event.response) ? event.response : event);
      case 'error':
        return fail(event);
      default:
        return decodeUnknown(event);
    }
  }

  function decodeUnknown(event: Loose): StreamPart[] {
    // The event of one of the provider's tools may tell of an error that the model gets over.
    const isOfResponse = typeof event.type === 'string' && event.type.startsWith('response.');
    if (event.error && !isOfResponse) return fail(event);
    if (typeof event.type !== 'string') throw badResponse('The provider sent a stream event without a type.');
    return isOfResponse ? chunksOf(reader.event?.(placeOf(event), event) ?? []) : [];
  }

  function end({ response }: Loose, status: string): StreamPart[] {
    if (!isObject(response)) throw badResponse('The provider sent the end of a stream without its response.');
    if (response.error || response.status === 'failed') return fail(response);
    isOver = true;
    const parts = chunksOf([...restOf(response.output), ...(reader.end?.() ?? [])]);
    const finish = finishOf(response.status === 'incomplete' ? 'incomplete' : status, response, reader.hasCalls());
    if (finish !== null) parts.push(finishPart(finish, { created, ...tierOf(response) }));
    return [...parts, ...usageOf(response), { kind: 'done' }];
  }

  /** Adds items that had no events of their own, or not all: some servers send only the end. */
  function restOf(output: unknown): Addition[] {
    if (!Array.isArray(output)) return [];
    return output.flatMap((item, index) =>
      isObject(item) && reader.lacks(index, output.length) ? reader.close(index, item) : [],
    );
  }

  function fail(raw: Loose): StreamPart[] {
    isOver = true;
    return [...usageOf(raw), { kind: 'error', error: responseError(raw), isReported: true }];
  }

  function usageOf(response: Loose): StreamPart[] {
    const usage = readUsage(response.usage, reader.searches());
    return usage === null ? [] : [{ kind: 'usage', usage }];
  }

  function chunksOf(additions: readonly Addition[]): StreamPart[] {
    return additions.map(deltaOf);
  }

  function deltaOf({ delta, logprobs, item }: Addition): StreamPart {
    const whole: ChunkDelta = hasBegun ? delta : { role: 'assistant', ...delta };
    if (item !== undefined) withOutputItem(whole, item);
    hasBegun = true;
    return deltaPart(whole, logprobs === undefined ? null : { content: logprobs, refusal: null }, { created });
  }

  return { decode };
}

function placeOf({ output_index: index }: Loose): number {
  return isIndex(index) ? index : 0;
}

function partOf(event: Loose, kind: TextKind): number {
  if (kind === 'arguments') return 0;
  const number = kind === 'summary' ? event.summary_index : event.content_index;
  return isIndex(number) ? number : 0;
}
