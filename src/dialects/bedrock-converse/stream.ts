import { isObject, type Loose } from '../../base/values.ts';
import type { Reading, StreamDecoder, StreamPart } from '../dialect.ts';
import { chunkOf, deltaPart, deltaParts, finishPart } from '../shared/response/chunks.ts';
import { eventObject } from '../shared/response/event-object.ts';
import { noteTransformations } from '../shared/thought-bindings.ts';
import { badResponse, brokenOff, toolCallIds } from '../shared/values.ts';
import { blockReader } from './blocks.ts';
import { errorOfException } from './errors.ts';
import { finishReasonOf } from './finish-reason.ts';
import { invokeDecoder } from './native/invoke.ts';
import type { ConverseQuirks } from './quirks.ts';
import { readUsage } from './usage.ts';

/** The names of the events of a stream. */
const eventNames = [
  'messageStart',
  'contentBlockStart',
  'contentBlockDelta',
  'contentBlockStop',
  'messageStop',
  'metadata',
] as const;
type EventName = (typeof eventNames)[number];

/**
 * Reads a stream of `ConverseStream`. It is complete once both its end and its usage are there, in whichever order.
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStreamOutput.html
 */
export function streamDecoder(_quirks: ConverseQuirks, reading: Reading = {}): StreamDecoder {
  if (reading.nativeEvents === true) return invokeDecoder(reading);
  const reader = blockReader(toolCallIds(), reading);
  let hasStopped = false;
  let hasUsage = false;

  function decode(data: string, event: string): StreamPart[] {
    const fields = eventObject(data);
    if (event === '') return decodeWrapped(fields);
    return decodeNamed(event, fields);
  }

  /** Decodes an event of a stream whose frames have no names: an object with the name of the event as its only key. */
  function decodeWrapped(wrapped: Loose): StreamPart[] {
    for (const name in wrapped) {
      const fields = wrapped[name];
      if (isObject(fields)) return decodeNamed(name, fields);
    }
    throw badResponse('The provider sent a stream event that is none of this dialect.');
  }

  function decodeNamed(name: string, fields: Loose): StreamPart[] {
    switch (name as EventName) {
      case 'contentBlockDelta':
        return isObject(fields.delta) ? deltaParts(reader.more(fields.contentBlockIndex, fields.delta)) : [];
      case 'contentBlockStart':
        return isObject(fields.start) ? deltaParts(reader.begin(fields.contentBlockIndex, fields.start)) : [];
      case 'contentBlockStop':
        return deltaParts(reader.end(fields.contentBlockIndex));
      case 'messageStart':
        return [deltaPart({ role: 'assistant', content: '' })];
      case 'messageStop':
        return onStop(fields);
      case 'metadata':
        return onMetadata(fields);
      default:
        // Events of a later version are not for us; errors have names of their own.
        return /exception|error|failure|unavailable/i.test(name)
          ? [{ kind: 'error', error: errorOfException(name, fields) }]
          : [];
    }
  }

  function onStop({ stopReason: native, additionalModelResponseFields: added }: Loose): StreamPart[] {
    if (isObject(added)) noteTransformations(added.input_transformations, reading.transformations);
    if (typeof native !== 'string' || native === '')
      throw badResponse('The provider sent a response without a stopReason.');
    const parts = deltaParts(reader.finish());
    const reason = finishReasonOf(native, reader.hasCalls());
    if (reason === 'error') return [...parts, { kind: 'error', error: brokenOff(native), isReported: true }];
    hasStopped = true;
    const end = finishPart({ finish_reason: reason, native_finish_reason: native });
    return [...parts, end, ...(hasUsage ? [{ kind: 'done' } as const] : [])];
  }

  function onMetadata({ usage: raw, serviceTier }: Loose): StreamPart[] {
    const parts: StreamPart[] = [];
    const tier = isObject(serviceTier) ? serviceTier.type : null;
    if (typeof tier === 'string') parts.push({ kind: 'chunk', chunk: chunkOf([], { service_tier: tier }) });
    const usage = readUsage(raw);
    if (usage !== null) parts.push({ kind: 'usage', usage });
    hasUsage = true;
    if (hasStopped) parts.push({ kind: 'done' });
    return parts;
  }

  return { decode };
}
