import type { Loose } from '../../base/values.ts';
import type { ChatChunk } from '../../schema/chunk.ts';
import type { StreamDecoder, StreamPart } from '../dialect.ts';
import { eventObject } from '../shared/events.ts';
import { badResponse } from '../shared/values.ts';
import { errorIn } from './errors.ts';
import { readFinish } from './finish-reason.ts';
import { mediaField } from './media.ts';
import { type Metadata, merged, metadataIn, notesDetail, textNotesDetail, thoughtDetail } from './metadata.ts';
import { sources } from './sources.ts';
import { streamedCalls } from './streamed-calls.ts';
import { readUsage } from './usage.ts';
import { readWarnings } from './warnings.ts';

/**
 * Reads what `doStream` of an AI SDK language model gave, each part as JSON.
 * @see https://github.com/vercel/ai/blob/main/packages/provider/src/language-model/v4/language-model-v4-stream-part.ts
 */
export function streamDecoder(): StreamDecoder {
  const based = sources();
  /** Where each text begins in the complete text. */
  const texts = new Map<unknown, number>();
  /** The index of each thought. */
  const thoughts = new Map<unknown, number>();
  let details = 0;
  const nextDetail = () => details++;
  const calls = streamedCalls(nextDetail);
  let textLength = 0;
  let textNotes: Metadata | null = null;
  let hasFinished = false;

  function decode(data: string): StreamPart[] {
    const event = eventObject(data);
    // What is said behind the end is none of the response, unless it is an error.
    if (hasFinished && event.type !== 'error') return [];
    const notes = metadataIn(event.providerMetadata);
    switch (event.type) {
      case 'stream-start':
        return start(readWarnings(event.warnings));
      case 'text-start':
      case 'text-delta':
      case 'text-end':
        return decodeText(event, notes);
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return decodeThought(event, notes);
      case 'tool-input-start':
        return toChunk(calls.start(event));
      case 'tool-input-delta':
        return toChunk(calls.add(event));
      case 'tool-call':
        return toChunk(calls.complete(event, notes));
      case 'source':
        based.add(event);
        return [];
      case 'file':
        return toChunk(mediaField(event));
      case 'error':
        return [{ kind: 'error', error: errorIn(event), isReported: true }];
      case 'finish':
        return finish(event);
      default:
        // Kinds that nobody knows yet are no errors.
        return [];
    }
  }

  function start(warnings: readonly string[]): StreamPart[] {
    return [chunkOf({ role: 'assistant' }, warnings.length > 0 ? { warnings } : {})];
  }

  function decodeText({ type, id, delta, citations }: Loose, notes: Metadata | null): StreamPart[] {
    const begin = texts.get(id) ?? textLength;
    texts.set(id, begin);
    textNotes = merged(textNotes, notes);
    if (type === 'text-end') {
      const annotations = based.cited(citations, begin);
      return annotations.length === 0 ? [] : [chunkOf({ annotations })];
    }
    if (typeof delta !== 'string' || delta === '') return [];
    textLength += delta.length;
    return [chunkOf({ content: delta })];
  }

  function decodeThought({ id, delta }: Loose, notes: Metadata | null): StreamPart[] {
    let index = thoughts.get(id);
    if (index === undefined) {
      index = nextDetail();
      thoughts.set(id, index);
    }
    const parts: StreamPart[] = [];
    if (typeof delta === 'string' && delta !== '')
      parts.push(chunkOf({ reasoning: delta, reasoning_details: [thoughtDetail(delta, index)] }));
    if (notes) parts.push(chunkOf({ reasoning_details: [notesDetail(notes, index)] }));
    return parts;
  }

  function finish({ usage: counted, finishReason }: Loose): StreamPart[] {
    hasFinished = true;
    const parts = calls.endAll().map((delta) => chunkOf(delta));
    // Notes of several texts could not be told apart once the texts are one.
    if (textNotes !== null && texts.size === 1)
      parts.push(chunkOf({ reasoning_details: [textNotesDetail(textNotes, nextDetail())] }));
    const annotations = based.rest();
    if (annotations.length > 0) parts.push(chunkOf({ annotations }));
    const usage = readUsage(counted);
    if (usage) parts.push({ kind: 'usage', usage });
    const end = readFinish(finishReason, calls.count() > 0);
    // Without a reason why it ended, a response may have been broken off.
    if (end === null) return parts;
    if (end.reason === 'error') {
      const error = badResponse(`The model broke off its response (${end.native}).`, end.native ?? undefined);
      return [...parts, { kind: 'error', error, isReported: true }];
    }
    return [
      ...parts,
      chunk([{ index: 0, delta: {}, finish_reason: end.reason, native_finish_reason: end.native }], {}),
      { kind: 'done' },
    ];
  }

  return { decode };
}

function toChunk(delta: Loose | null): StreamPart[] {
  return delta === null ? [] : [chunkOf(delta)];
}

function chunkOf(delta: Loose, more: Loose = {}): StreamPart {
  return chunk([{ index: 0, delta, finish_reason: null }], more);
}

function chunk(choices: readonly object[], more: Loose): StreamPart {
  return {
    kind: 'chunk',
    chunk: { id: '', object: 'chat.completion.chunk', created: 0, model: '', choices, ...more } as unknown as ChatChunk,
  };
}
