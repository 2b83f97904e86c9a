import { isIndex, isObject, type Loose } from '../../base/values.ts';
import type { Reading, StreamDecoder, StreamPart } from '../dialect.ts';
import { deltaPart, finishPart } from '../shared/response/chunks.ts';
import { eventObject } from '../shared/response/event-object.ts';
import { brokenOff, toolCallIds } from '../shared/values.ts';
import { errorIn } from './errors.ts';
import { finishReasonOf } from './finish-reason.ts';
import { type Addition, messageReader } from './message-reader.ts';
import type { CohereQuirks } from './quirks.ts';
import { readUsage } from './usage.ts';

/**
 * Reads a stream of Cohere's events. `message-end` is its end; some servers write `[DONE]` behind it.
 * @see https://docs.cohere.com/docs/streaming
 */
export function streamDecoder(quirks: CohereQuirks, { outputTool }: Reading = {}): StreamDecoder {
  const reader = messageReader(toolCallIds(), outputTool);

  function decode(data: string): StreamPart[] {
    if (data.trim() === '[DONE]') return [];
    const event = eventObject(data);
    const delta = isObject(event.delta) ? event.delta : {};
    const message = isObject(delta.message) ? delta.message : {};
    const index = isIndex(event.index) ? event.index : 0;
    switch (event.type) {
      case 'message-start':
        return [deltaPart({ role: 'assistant' })];
      case 'content-start':
      case 'content-delta':
        return said(reader.content(index, first(message.content), event.logprobs));
      case 'tool-plan-delta':
        return said(reader.plan(message.tool_plan));
      case 'tool-call-start':
        return said(reader.startCall(index, first(message.tool_calls)));
      case 'tool-call-delta':
        return said(reader.addToCall(index, first(message.tool_calls)));
      case 'tool-call-end':
        return said(reader.endCall(index));
      case 'citation-start':
        return said(reader.cite(first(message.citations)));
      case 'message-end':
        return decodeEnd(delta);
      default:
        return decodeOther(event);
    }
  }

  function decodeEnd(delta: Loose): StreamPart[] {
    const parts = said(reader.finish());
    const usage = readUsage(delta.usage, quirks);
    if (usage) parts.push({ kind: 'usage', usage });
    const native = typeof delta.finish_reason === 'string' && delta.finish_reason !== '' ? delta.finish_reason : null;
    const reason = native === null ? null : finishReasonOf(native, reader.hasCalls());
    const error = errorIn({ error: delta.error });
    if (error) return [...parts, { kind: 'error', error, isReported: true }];
    // A response without a finish reason may have been broken off.
    if (native === null || reason === null) return parts;
    if (reason === 'error') return [...parts, { kind: 'error', error: brokenOff(native), isReported: true }];
    return [...parts, finishPart({ finish_reason: reason, native_finish_reason: native }), { kind: 'done' }];
  }

  /** Decodes other events. Kinds that nobody knows yet are no errors; an error may come without a type. */
  function decodeOther(event: Loose): StreamPart[] {
    const isKnownKind = typeof event.type === 'string' && event.type !== 'error';
    const error = isKnownKind ? null : errorIn(event);
    return error ? [{ kind: 'error', error, isReported: true }] : [];
  }

  return { decode };
}

/** Returns the first item. Cohere puts one item where a response has a list. Some servers keep the list. */
function first(value: unknown): Loose {
  const one = Array.isArray(value) ? value[0] : value;
  return isObject(one) ? one : {};
}

/** Returns the parts that say something: a block begins with an empty text. */
function said(additions: readonly Addition[]): StreamPart[] {
  return additions.filter(({ delta }) => delta.content !== '').map(({ delta, logprobs }) => deltaPart(delta, logprobs));
}
