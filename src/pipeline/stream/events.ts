import type { ByteSource } from '../../base/bytes.ts';
import { type FrameEvent, type Framer, FramingError } from '../../base/framing/framing.ts';
import { UpstreamError } from '../../base/http/upstream-error.ts';
import type { Redactor } from '../../base/secrets.ts';
import type { Reading, StreamDecoder, StreamPart } from '../../dialects/dialect.ts';
import { withOwnNames } from '../../dialects/fit/index.ts';
import { largestUsage } from '../../dialects/shared/largest-usage.ts';
import { chunkFolder } from '../../formats/chunks.ts';
import type { Provider } from '../../providers/provider.ts';
import type { ChatResult, Usage } from '../../schema/chat/chat.ts';
import type { ChatChunk, ChunkDelta } from '../../schema/chat/chunk.ts';
import type { UpstreamLimitSettings } from '../../schema/settings/settings.ts';
import { OpenSecrets } from '../secrets/open-secrets.ts';

/** An upstream's stream while it is read: bytes, cut into events, and the parts that they stand for. */
export interface EventReader {
  source: ByteSource;
  framer: Framer;
  decoder: StreamDecoder;
  provider: Provider;
}

export function eventReader(
  source: ByteSource,
  provider: Provider,
  limits: UpstreamLimitSettings,
  reading?: Reading,
): EventReader {
  return {
    source,
    framer: provider.dialect.framing.framer(limits.eventBytes),
    decoder: withOwnNames(provider.dialect.streamDecoder(provider.quirks, reading), reading?.ownNames),
    provider,
  };
}

/**
 * Decodes the event that the framer stands at; a comment has no parts.
 * @throws UpstreamError bad_response
 */
export function decodeFrame({ framer, decoder }: EventReader, redactor: Redactor | null): StreamPart[] {
  let event: FrameEvent | null;
  try {
    event = framer.read();
  } catch (error) {
    throw asBadStream(error);
  }
  if (!event) return [];
  return decoder.decode(redactor === null ? event.data : redactor.redact(event.data), event.name);
}

/**
 * `framer.next`, in the words of the pipeline.
 * @throws UpstreamError bad_response for bytes that are no event, or too large a one
 */
export function nextFrame(framer: Framer): boolean {
  try {
    return framer.next();
  } catch (error) {
    throw asBadStream(error);
  }
}

function asBadStream(error: unknown): unknown {
  return error instanceof FramingError ? badStream(`The provider's stream broke: ${error.message}.`) : error;
}

/** The most parts that may come before the first token. */
const maxPreamble = 1000;

/**
 * Reads up to the first token, so that another target may take over after any failure before it.
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

/** Returns the latest usage that a stream reported. */
function usageIn(parts: readonly StreamPart[]): Usage | null {
  const last = parts.findLast((part) => part.kind === 'usage');
  return last?.kind === 'usage' ? last.usage : null;
}

/** Adds usage to an error: a stream that failed may have been paid for. */
function withUsage(error: unknown, usage: Usage | null): unknown {
  return usage && error instanceof UpstreamError ? error.with({ usage }) : error;
}

async function readParts(events: EventReader, redactor: Redactor, parts: StreamPart[]): Promise<void> {
  const { source, framer } = events;
  for (;;) {
    const bytes = await source.read();
    if (bytes === null && !framer.last()) throw badStream('The provider sent a stream without content.');
    if (bytes !== null) framer.push(bytes);
    while (bytes === null || nextFrame(framer)) {
      const decoded = decodeFrame(events, redactor);
      parts.push(...decoded);
      for (const part of decoded) {
        if (part.kind === 'error') throw part.error;
        // Some complete streams hold no token at all, only a finish_reason. A sentinel after less than that is an empty
        // response.
        if (part.kind === 'done' && !parts.some(saysSomething))
          throw badStream('The provider sent a stream without content.');
      }
      if (parts.some(saysSomething)) return;
      if (parts.length > maxPreamble) throw badStream('The provider sent a stream that does not begin.');
      if (bytes === null) throw badStream('The provider sent a stream without content.');
    }
  }
}

function saysSomething(part: StreamPart): boolean {
  if (part.kind === 'finished') return true;
  if (part.kind !== 'chunk') return false;
  return part.chunk.choices.some(({ delta, finish_reason }) => finish_reason !== null || saysMore(delta));
}

/** Tells whether a delta adds to its message: an empty text or a role does not. */
function saysMore(delta: ChunkDelta): boolean {
  for (const key in delta) {
    const value = delta[key];
    if (key !== 'role' && value !== '' && value !== null && value !== undefined) return true;
  }
  return false;
}

export function badStream(message: string): UpstreamError {
  return new UpstreamError(message, { reason: 'bad_response', status: 502 });
}

/** Follows the choices that are opened and closed: only a stream whose choices are all closed is complete. */
export class ChoiceWatch {
  /** The number of choices that the request asks for; some providers give fewer. */
  readonly #expected: number;
  readonly #open = new Set<number>();
  /** null: none has ended, as in most open streams. */
  #closed: Set<number> | null = null;
  /** More has come behind the end of a choice: that was not the end, and unless another comes, something is missing. */
  #isBehindEnd = false;

  constructor(expected: number) {
    this.#expected = expected;
  }

  see(chunk: ChatChunk): void {
    for (const { index, delta, finish_reason } of chunk.choices) {
      if (finish_reason !== null) this.closes(index);
      else if (this.#closed?.has(index) !== true) this.#open.add(index);
      // What some send after the end of a choice, such as usage with an empty delta, does not open it again.
      else if (!this.#isBehindEnd && saysMore(delta)) this.#isBehindEnd = true;
    }
  }

  /** The choice has ended; its last chunk comes at the end of the stream. */
  closes(index: number): void {
    this.#open.delete(index);
    this.#closed ??= new Set();
    this.#closed.add(index);
    this.#isBehindEnd = false;
  }

  /** More of a choice has come, which `see` was not shown. */
  goesOn(): void {
    this.#isBehindEnd = this.#closed !== null;
  }

  /** true: everything that was begun is finished. */
  get isClosed(): boolean {
    return this.#closed !== null && this.#open.size === 0;
  }

  /**
   * true: everything that was asked for is finished as well. Nothing is missing, even if the provider does not say that
   * it is done.
   */
  get isWhole(): boolean {
    return this.isClosed && (this.#closed?.size ?? 0) >= this.#expected && !this.#isBehindEnd;
  }
}

/** Folds a complete stream of events into the response. @throws UpstreamError when it failed or was cut */
export function foldEvents(
  text: string,
  expected: number,
  provider: Provider,
  limits: UpstreamLimitSettings,
  redactor: Redactor,
  reading?: Reading,
): { kind: 'result'; result: ChatResult; usage: Usage | null } {
  const bytes = new TextEncoder().encode(text);
  const source = { read: async () => null, cancel: () => undefined };
  const events = eventReader(source, provider, { ...limits, eventBytes: bytes.length }, reading);
  const { framer } = events;
  const secrets = new OpenSecrets(redactor);
  const folder = chunkFolder();
  const watch = new ChoiceWatch(expected);
  let usage: Usage | null = null;
  let isDone = false;
  const take = (parts: readonly StreamPart[]) => {
    for (const part of parts) {
      if (part.kind === 'error') throw withUsage(part.error, usage);
      if (part.kind === 'done') isDone = true;
      if (part.kind === 'usage') usage = largestUsage(usage, part.usage);
      if (part.kind === 'finished') watch.closes(part.index);
      if (part.kind === 'chunk') {
        watch.see(part.chunk);
        folder.add(secrets.clean(part.chunk));
      }
    }
  };
  framer.push(bytes);
  while (!isDone && (nextFrame(framer) || framer.last())) take(decodeFrame(events, null));
  if (!isDone && watch.isWhole) take(events.decoder.end?.() ?? []);
  const result = folder.result();
  if (!result || !(isDone ? watch.isClosed : watch.isWhole))
    throw withUsage(badStream('The provider broke off its response.'), usage);
  return { kind: 'result', result, usage };
}
