import { isObject, type Loose } from '../../base/values.ts';
import { type NativeEvent, type UnseenText, withNativeEvents } from '../../call/native-events.ts';
import type { ChunkDelta } from '../../schema/chat/chunk.ts';
import type { Reading, StreamDecoder, StreamPart } from '../dialect.ts';
import { deltaPart, deltaParts, finishPart } from '../shared/response/chunks.ts';
import { eventObject } from '../shared/response/event-object.ts';
import { noteTransformations } from '../shared/thought-bindings.ts';
import { badResponse, brokenOff, toolCallIds } from '../shared/values.ts';
import { type BlockReading, blockReader } from './blocks.ts';
import { errorIn } from './errors.ts';
import { finishReasonOf } from './finish-reason.ts';
import type { MessagesQuirks } from './quirks.ts';
import { mergeUsage, readUsage, serviceTierOf } from './usage.ts';

/**
 * Reads the events of a message. One decoder for one stream.
 * @see https://platform.claude.com/docs/en/build-with-claude/streaming
 */
export function streamDecoder(
  _quirks: MessagesQuirks = {},
  { outputTool, transformations, nativeEvents = false }: Reading = {},
): StreamDecoder {
  const message: BlockReading = { ids: toolCallIds(), model: undefined, outputTool };
  const reader = blockReader(message);
  const usage: Loose = {};
  let isFinished = false;
  /** The text that the event ends. */
  let ends: NativeEvent['ends'];
  /** The text of the event that the caller of a chat request does not see. */
  let unseen: UnseenText | undefined;

  function decode(data: string, name: string): StreamPart[] {
    const event = eventObject(data);
    const type = event.type ?? name;
    const error = errorIn(event);
    if (error) return [{ kind: 'error', error }];
    if (typeof type !== 'string' || type === '') throw badResponse('The provider sent a stream event of no type.');
    if (type === 'content_block_delta') {
      const piece = isObject(event.delta) ? event.delta.partial_json : null;
      if (nativeEvents && typeof piece === 'string') unseen = unseenOf(event.index, piece, false);
      return deltaParts(reader.more(event.index, event.delta));
    }
    if (type === 'content_block_start') return deltaParts(reader.begin(event.index, event.content_block));
    if (type === 'content_block_stop') {
      ends = reader.textOf(event.index);
      unseen = unseenOf(event.index, '', true);
      return deltaParts(reader.end(event.index));
    }
    if (type === 'message_start') return readStart(event);
    if (type === 'message_delta') return readEnd(event);
    return type === 'message_stop' ? [{ kind: 'done' }] : [];
  }

  function unseenOf(index: unknown, piece: string, isLast: boolean): UnseenText | undefined {
    return reader.isUnseen(index) ? { name: `unseen ${index}`, piece, isLast } : undefined;
  }

  function readStart({ message: raw }: Loose): StreamPart[] {
    const head = isObject(raw) ? raw : {};
    const tier = serviceTierOf(head.usage);
    message.model = head.model;
    noteTransformations(head.input_transformations, transformations);
    const start: ChunkDelta = { role: 'assistant', content: '' };
    // A response that continues one that paused may begin with its blocks.
    const content = Array.isArray(head.content) ? head.content : [];
    return [
      deltaPart(start, null, tier === null ? {} : { service_tier: tier }),
      ...readCounts(head.usage),
      ...deltaParts(content.flatMap((block, index) => [...reader.begin(index, block), ...reader.end(index)])),
    ];
  }

  function readEnd({ delta, usage: counts }: Loose): StreamPart[] {
    const last = isObject(delta) ? delta : {};
    const native = last.stop_reason;
    if (typeof native !== 'string' || native === '' || isFinished) return readCounts(counts);
    isFinished = true;
    const deltas = reader.finish(last);
    const reason = finishReasonOf(native, reader.hasCalls());
    if (reason === 'error')
      return [
        ...deltaParts(deltas),
        ...readCounts(counts),
        { kind: 'error', error: brokenOff(native), isReported: true },
      ];
    const end = finishPart({ finish_reason: reason, native_finish_reason: native });
    return [...deltaParts(deltas), end, ...readCounts(counts)];
  }

  /** Reads counts. Each report is cumulative. One before the end lets a broken stream be paid for. */
  function readCounts(counts: unknown): StreamPart[] {
    mergeUsage(usage, counts);
    const read = isObject(counts) ? readUsage(usage) : null;
    return read ? [{ kind: 'usage', usage: read }] : [];
  }

  /**
   * Decodes an event, and keeps it with the first chunk that it makes. One that makes none has a chunk of its own, so that
   * the client gets it in its place; the end of the message is told by `done`.
   */
  function decodeNative(data: string, name: string): StreamPart[] {
    const wasFinished = isFinished;
    ends = undefined;
    unseen = undefined;
    const parts = decode(data, name);
    if (parts.some(({ kind }) => kind === 'error' || kind === 'done')) return parts;
    const more = { ...(ends === undefined ? {} : { ends }), ...(unseen === undefined ? {} : { unseen }) };
    const event: NativeEvent = { name: name || typeIn(data), data, ...more };
    const first = parts.find((part) => part.kind === 'chunk');
    if (first !== undefined) withNativeEvents(first.chunk, [event]);
    else if (!wasFinished) {
      const own = deltaPart({});
      if (own.kind === 'chunk') withNativeEvents(own.chunk, [event]);
      parts.unshift(own);
    }
    return parts;
  }

  return { decode: nativeEvents ? decodeNative : decode };
}

/** Returns the type that stands in the data of an event without a name. */
function typeIn(data: string): string {
  const { type } = eventObject(data);
  return typeof type === 'string' ? type : '';
}
