import type { Loose } from '../../base/values.ts';
import type { ChunkDelta } from '../../schema/chat/chunk.ts';
import type { StreamDecoder, StreamPart } from '../dialect.ts';
import { deltaPart, deltaParts, finishPart, type Head } from '../shared/response/chunks.ts';
import { eventObject } from '../shared/response/event-object.ts';
import { errorIn } from './errors.ts';
import { readFinish } from './finish-reason.ts';
import { metadataIn } from './metadata.ts';
import { partReader } from './part-reader.ts';
import { brokenOff } from './result.ts';
import { readUsage } from './usage.ts';
import { readWarnings } from './warnings.ts';

/**
 * Reads the parts of `doStream` of an AI SDK language model, each as JSON.
 * @see https://github.com/vercel/ai/blob/main/packages/provider/src/language-model/v4/language-model-v4-stream-part.ts
 */
export function streamDecoder(): StreamDecoder {
  const reader = partReader();
  let hasFinished = false;

  function decode(data: string): StreamPart[] {
    const event = eventObject(data);
    // An event behind the end does not belong to the response, unless it is an error.
    if (hasFinished && event.type !== 'error') return [];
    const notes = metadataIn(event.providerMetadata);
    switch (event.type) {
      case 'stream-start':
        return [deltaPart({ role: 'assistant' }, null, headOf(readWarnings(event.warnings)))];
      case 'text-start':
      case 'text-delta':
        return said(reader.text({ id: event.id, text: event.delta, notes }));
      case 'text-end':
        return said(reader.text({ id: event.id, citations: event.citations, notes }));
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return said(reader.thought({ id: event.id, text: event.delta, notes }));
      case 'tool-input-start':
        return said(reader.calls.start(event));
      case 'tool-input-delta':
        return said(reader.calls.add(event));
      case 'tool-call':
        return said(reader.calls.complete(event, notes));
      case 'source':
        reader.source(event);
        return [];
      case 'file':
        return said(reader.file(event));
      case 'error':
        return [{ kind: 'error', error: errorIn(event), isReported: true }];
      case 'finish':
        return finish(event);
      default:
        // Kinds that nobody knows yet are no errors.
        return [];
    }
  }

  function finish({ usage: counted, finishReason }: Loose): StreamPart[] {
    hasFinished = true;
    const parts = said(reader.finish());
    const usage = readUsage(counted);
    if (usage) parts.push({ kind: 'usage', usage });
    const end = readFinish(finishReason, reader.hasCalls());
    // A response without a finish reason may have been broken off.
    if (end === null) return parts;
    if (end.finish_reason === 'error')
      return [...parts, { kind: 'error', error: brokenOff(end.native_finish_reason), isReported: true }];
    return [...parts, finishPart(end), { kind: 'done' }];
  }

  return { decode };
}

function headOf(warnings: string[]): Head {
  return warnings.length > 0 ? { warnings } : {};
}

/** Returns the parts that say something: a text may begin with an empty piece. */
function said(deltas: readonly ChunkDelta[]): StreamPart[] {
  return deltaParts(deltas.filter(({ content }) => content !== ''));
}
