import { UpstreamError } from '../../base/http/upstream-error.ts';
import type { Redactor } from '../../base/secrets.ts';
import type { StreamPart } from '../../dialects/dialect.ts';
import { largestUsage } from '../../dialects/shared/largest-usage.ts';
import type { FinishReason, Usage } from '../../schema/chat/chat.ts';
import type { ChatChunk } from '../../schema/chat/chunk.ts';
import type { OpenSecrets } from '../secrets/open-secrets.ts';
import { withoutSecrets } from '../secrets/redaction.ts';
import type { ChunkOutput } from './chunk-output.ts';
import { decodeFrame, type EventReader, nextFrame } from './events.ts';
import { outputBytes } from './output-bytes.ts';
import type { StreamProgress } from './progress.ts';

/** The counts of a stream so far. */
export interface StreamMeter {
  readonly kind: 'stream';
  /** The largest usage that the provider has reported; null: it has reported none. */
  usage: Usage | null;
  /** Bytes of output text. A script of three bytes a character has more tokens in it. */
  textBytes: number;
  /** The bytes of them that came before the usage was reported. */
  usageAtBytes: number;
  /** true: after the usage, only the end came. */
  isUsageLast: boolean;
  /** true: reasoning was among the text. */
  hasReasoning: boolean;
  /** true: audio or images came, which are no text. */
  hasMedia: boolean;
  /** true: the response came to its end. */
  isComplete: boolean;
  /** true: the provider may have made more than was received, because nobody read on. */
  mayBeLonger: boolean;
  /** The finish reason of the first choice. */
  finishReason: FinishReason | null;
  nativeFinishReason: string | null;
  /** The service tier that the provider named; null: it has named none. */
  serviceTier: string | null;
}

/** Cuts the buffers of an upstream's stream into events, counts their contents, and hands the chunks to an output. */
export class StreamReader {
  readonly meter: StreamMeter = {
    kind: 'stream',
    usage: null,
    textBytes: 0,
    usageAtBytes: 0,
    isUsageLast: false,
    hasReasoning: false,
    hasMedia: false,
    isComplete: false,
    mayBeLonger: false,
    finishReason: null,
    nativeFinishReason: null,
    serviceTier: null,
  };
  readonly #events: EventReader | null;
  readonly #redactor: Redactor;
  readonly #secrets: OpenSecrets;
  readonly #progress: StreamProgress;
  /** A choice has come to its end. */
  #hasFinished = false;

  /** @param secrets  the secrets that one event begins and the next one continues */
  constructor(events: EventReader | null, redactor: Redactor, secrets: OpenSecrets, progress: StreamProgress) {
    this.#events = events;
    this.#redactor = redactor;
    this.#secrets = secrets;
    this.#progress = progress;
  }

  /** Takes parts that were decoded before, and the complete events that came in the same buffer. */
  first(parts: readonly StreamPart[], out: ChunkOutput): void {
    this.#takeAll(parts, out);
    if (this.#events === null) return;
    this.#forwardAll(this.#events, out);
    this.#events.framer.release();
  }

  push(buffer: Uint8Array, out: ChunkOutput): void {
    const events = this.#events as EventReader;
    events.framer.push(buffer);
    this.#forwardAll(events, out);
    events.framer.release();
  }

  /** Takes the last event at the end of the upstream's stream, where the blank line behind it is missing. */
  flush(out: ChunkOutput): void {
    const events = this.#events;
    if (this.#progress.end === null && events?.framer.last()) this.#takeAll(decodeFrame(events, this.#redactor), out);
    this.finish(out);
  }

  /** Nothing more is read: where the response is whole, takes what its decoder has kept for the end. */
  finish(out: ChunkOutput): void {
    if (this.#progress.phase === 'trailing') this.#takeAll(this.#events?.decoder.end?.() ?? [], out);
  }

  #forwardAll(events: EventReader, out: ChunkOutput): void {
    while (this.#progress.end === null) {
      const textBytes = out.forward(events.framer);
      if (textBytes >= 0) {
        this.meter.textBytes += textBytes;
        if (textBytes > 0) this.meter.isUsageLast = false;
        if (this.#hasFinished && textBytes > 0) this.#progress.goesOn();
        continue;
      }
      try {
        if (!nextFrame(events.framer)) break;
        this.#decode(events, out);
      } catch (error) {
        // The events before it in the same buffer still count.
        if (!(error instanceof UpstreamError)) throw error;
        this.#sourceFailed(error, out);
      }
    }
  }

  #decode(events: EventReader, out: ChunkOutput): void {
    const parts = decodeFrame(events, this.#redactor);
    this.#takeAll(parts, out);
    // Usage within an event is of all of the event, also of the text that comes after it there.
    if (parts.length > 1 && parts.some((part) => part.kind === 'usage' && this.#isOfAll(part.usage)))
      this.#usageIsOfAll();
    const [first] = parts;
    if (parts.length === 1 && first?.kind === 'chunk') out.learn(events, first.chunk);
  }

  #takeAll(parts: readonly StreamPart[], out: ChunkOutput): void {
    for (const part of parts) {
      if (this.#progress.end !== null) return;
      if (part.kind === 'chunk') {
        this.#count(part.chunk);
        // The last chunk of a choice was kept back: usage that came before it is of it too.
        if (!this.meter.isUsageLast || (part.chunk.choices[0]?.finish_reason ?? null) === null)
          this.meter.isUsageLast = false;
        else this.#usageIsOfAll();
        this.#progress.sawChunk(part.chunk);
        out.chunk(this.#secrets.clean(part.chunk));
      } else if (part.kind === 'usage') {
        this.#sawUsage(part.usage);
      } else if (part.kind === 'error') this.#sawError(part.error, part.isReported === true, out);
      else if (part.kind === 'finished') {
        this.#hasFinished = true;
        this.#progress.finished(part.index);
      } else this.#progress.sawSentinel();
    }
  }

  #sawUsage(usage: Usage): void {
    const isOfAll = this.#isOfAll(usage);
    this.meter.usage = largestUsage(this.meter.usage, usage);
    if (isOfAll) this.#usageIsOfAll();
  }

  /**
   * true: a report counts for the whole stream. A report of less output than an earlier one says nothing of the output
   * since.
   */
  #isOfAll({ completion_tokens }: Usage): boolean {
    return completion_tokens >= (this.meter.usage?.completion_tokens ?? 0);
  }

  #usageIsOfAll(): void {
    this.meter.usageAtBytes = this.meter.textBytes;
    this.meter.isUsageLast = true;
  }

  #sawError(error: UpstreamError, isReported: boolean, out: ChunkOutput): void {
    if (isReported) this.#progress.sawError(withoutSecrets(error, this.#redactor));
    else this.#sourceFailed(error, out);
  }

  #sourceFailed(error: UpstreamError, out: ChunkOutput): void {
    this.finish(out);
    this.#progress.sourceFailed(withoutSecrets(error, this.#redactor));
  }

  #count({ choices, service_tier }: ChatChunk): void {
    if (service_tier) this.meter.serviceTier = service_tier;
    for (const { index, delta, finish_reason, native_finish_reason } of choices) {
      this.meter.textBytes += outputBytes(delta);
      if (delta.reasoning) this.meter.hasReasoning = true;
      if (delta.audio || delta.images) this.meter.hasMedia = true;
      if (index !== 0 || finish_reason === null) continue;
      this.meter.finishReason = finish_reason;
      this.meter.nativeFinishReason = native_finish_reason ?? null;
    }
  }
}
