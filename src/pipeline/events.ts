import type { ByteSource } from '../base/bytes.ts';
import type { Redactor } from '../base/secrets.ts';
import { EventFramer, EventTooLarge, readEvent } from '../base/sse.ts';
import { UpstreamError } from '../base/upstream-error.ts';
import { chunkFolder } from '../convert/chunks.ts';
import type { StreamDecoder, StreamPart } from '../dialects/dialect.ts';
import type { Provider } from '../providers/provider.ts';
import type { ChatResult, Usage } from '../schema/chat.ts';
import type { ChatChunk } from '../schema/chunk.ts';
import type { UpstreamLimitSettings } from '../schema/settings.ts';

/** An upstream's stream while it is read: bytes, cut into events, and what they mean. */
export interface EventReader {
  source: ByteSource;
  framer: EventFramer;
  decoder: StreamDecoder;
  provider: Provider;
}

export function eventReader(source: ByteSource, provider: Provider, limits: UpstreamLimitSettings): EventReader {
  return {
    source,
    framer: new EventFramer(limits.eventBytes),
    decoder: provider.dialect.streamDecoder(provider.quirks),
    provider,
  };
}

/**
 * What the event the framer stands at means; nothing for comments.
 * @throws UpstreamError bad_response
 */
export function decodeFrame({ framer, decoder }: EventReader, redactor: Redactor | null): StreamPart[] {
  const event = readEvent(framer.buffer.subarray(framer.start, framer.end));
  if (!event) return [];
  return decoder.decode(redactor === null ? event.data : redactor.redact(event.data), event.name);
}

/** `framer.next`, in the words of the pipeline. @throws UpstreamError bad_response for an event beyond the limit */
export function nextFrame(framer: EventFramer): boolean {
  try {
    return framer.next();
  } catch (error) {
    if (error instanceof EventTooLarge) throw badStream(`The provider's stream broke: ${error.message}.`);
    throw error;
  }
}

/** How many parts may come before the first token. */
const maxPreamble = 1000;

/**
 * Reads up to the first token, so that whatever fails before it can still be tried elsewhere.
 * @throws UpstreamError when the stream fails, or ends, before it
 */
export async function readToFirstToken(events: EventReader, redactor: Redactor): Promise<StreamPart[]> {
  const parts: StreamPart[] = [];
  try {
    await readParts(events, redactor, parts);
    return parts;
  } catch (error) {
    throw withUsage(error, usageIn(parts));
  }
}

/** The latest that a stream said of its usage. */
function usageIn(parts: readonly StreamPart[]): Usage | null {
  const last = parts.findLast((part) => part.kind === 'usage');
  return last?.kind === 'usage' ? last.usage : null;
}

/** A stream that failed may have been paid for. */
function withUsage(error: unknown, usage: Usage | null): unknown {
  return usage && error instanceof UpstreamError ? error.with({ usage }) : error;
}

async function readParts(events: EventReader, redactor: Redactor, parts: StreamPart[]): Promise<void> {
  const { source, framer } = events;
  for (;;) {
    const piece = await source.read();
    if (piece === null && !framer.last()) throw badStream('The provider sent a stream without an answer.');
    if (piece !== null) framer.push(piece);
    while (piece === null || nextFrame(framer)) {
      const decoded = decodeFrame(events, redactor);
      parts.push(...decoded);
      for (const part of decoded) {
        if (part.kind === 'error') throw part.error;
        // Some whole streams hold no token at all, only a finish_reason; a sentinel after less is an empty answer.
        if (part.kind === 'done' && !parts.some(saysSomething))
          throw badStream('The provider sent a stream without an answer.');
      }
      if (parts.some(saysSomething)) return;
      if (parts.length > maxPreamble) throw badStream('The provider sent a stream that does not begin.');
      if (piece === null) throw badStream('The provider sent a stream without an answer.');
    }
  }
}

function saysSomething(part: StreamPart): boolean {
  if (part.kind !== 'chunk') return false;
  return part.chunk.choices.some(({ delta, finish_reason }) => {
    if (finish_reason !== null) return true;
    for (const key in delta) {
      const value = delta[key];
      if (key !== 'role' && value !== '' && value !== null && value !== undefined) return true;
    }
    return false;
  });
}

export function badStream(message: string): UpstreamError {
  return new UpstreamError(message, { reason: 'bad_response', status: 502 });
}

/** Follows which choices have been opened and closed: only a stream whose choices are all closed is whole. */
export interface ChoiceWatch {
  see(chunk: ChatChunk): void;
  /** Everything that was begun is finished. */
  isClosed(): boolean;
  /** So is everything that was asked for: nothing is missing even if the provider does not say that it is done. */
  isWhole(): boolean;
}

/** @param expected  how many choices were asked for; some providers give fewer */
export function choiceWatch(expected: number): ChoiceWatch {
  const open = new Set<number>();
  const closed = new Set<number>();
  const isClosed = () => closed.size > 0 && open.size === 0;
  return {
    see(chunk) {
      for (const { index, finish_reason } of chunk.choices) {
        // What some send after the end of a choice, such as usage with an empty delta, does not open it again.
        if (finish_reason === null && !closed.has(index)) open.add(index);
        if (finish_reason === null) continue;
        open.delete(index);
        closed.add(index);
      }
    },
    isClosed,
    isWhole: () => closed.size >= expected && isClosed(),
  };
}

/** A whole stream of events as the answer it adds up to. @throws UpstreamError when it failed or was cut */
export function foldEvents(
  text: string,
  expected: number,
  provider: Provider,
  limits: UpstreamLimitSettings,
): { kind: 'result'; result: ChatResult; usage: Usage | null } {
  const bytes = new TextEncoder().encode(text);
  const events = eventReader({ read: async () => null, cancel: () => undefined }, provider, {
    ...limits,
    eventBytes: bytes.length,
  });
  const { framer } = events;
  const folder = chunkFolder();
  const watch = choiceWatch(expected);
  let usage: Usage | null = null;
  let isDone = false;
  framer.push(bytes);
  while (!isDone && (framer.next() || framer.last())) {
    for (const part of decodeFrame(events, null)) {
      if (part.kind === 'error') throw withUsage(part.error, usage);
      if (part.kind === 'done') isDone = true;
      if (part.kind === 'usage') usage = part.usage;
      if (part.kind === 'chunk') {
        watch.see(part.chunk);
        folder.add(part.chunk);
      }
    }
  }
  const result = folder.result();
  if (!result || !(isDone ? watch.isClosed() : watch.isWhole()))
    throw withUsage(badStream('The provider broke off its answer.'), usage);
  return { kind: 'result', result, usage };
}
