import { utf8Length } from '../base/bytes.ts';
import type { Redactor } from '../base/secrets.ts';
import { UpstreamError } from '../base/upstream-error.ts';
import type { StreamPart } from '../dialects/dialect.ts';
import type { FinishReason, Usage } from '../schema/chat.ts';
import type { ChatChunk, ChunkDelta } from '../schema/chunk.ts';
import { withoutSecrets } from './attempt/redaction.ts';
import type { ChunkOutput } from './chunk-output.ts';
import { decodeFrame, type EventReader, nextFrame } from './events.ts';
import type { OpenSecrets } from './open-secrets.ts';
import type { StreamProgress } from './stream-progress.ts';

/** What was counted of a stream so far. */
export interface StreamMeter {
  readonly kind: 'stream';
  /** As the provider reported it last; null: it has not. */
  usage: Usage | null;
  /** Bytes of output text. A script of three bytes a character has more tokens in it. */
  textBytes: number;
  /** How many of them came before the usage was reported. */
  usageAtBytes: number;
  /** Nothing but the end came after the usage. */
  isUsageLast: boolean;
  /** Reasoning was among the text. */
  hasReasoning: boolean;
  /** Audio or images came, which are no text. */
  hasMedia: boolean;
  /** The response came to its end. */
  isComplete: boolean;
  /** The provider may have made more than was received: nobody read on. */
  mayBeLonger: boolean;
  /** Of the first choice. */
  finishReason: FinishReason | null;
  nativeFinishReason: string | null;
  /** As the provider named it; null: it has not. */
  serviceTier: string | null;
}

/** Cuts the buffers of an upstream's stream into events, counts what is in them, and hands the chunks to an output. */
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

  /** @param secrets  those that one event begins and the next goes on with */
  constructor(events: EventReader | null, redactor: Redactor, secrets: OpenSecrets, progress: StreamProgress) {
    this.#events = events;
    this.#redactor = redactor;
    this.#secrets = secrets;
    this.#progress = progress;
  }

  /** Takes parts that were decoded before, and the complete events that came in the same buffer. */
  first(parts: readonly StreamPart[], out: ChunkOutput): void {
    this.#takeAll(parts, out);
    if (this.#events !== null) this.#forwardAll(this.#events, out);
  }

  push(buffer: Uint8Array, out: ChunkOutput): void {
    const events = this.#events as EventReader;
    events.framer.push(buffer);
    this.#forwardAll(events, out);
    events.framer.release();
  }

  /** At the end of the upstream's stream: takes its last event, where the blank line behind it is missing. */
  flush(out: ChunkOutput): void {
    const events = this.#events;
    if (this.#progress.end === null && events?.framer.last()) this.#takeAll(decodeFrame(events, this.#redactor), out);
  }

  #forwardAll(events: EventReader, out: ChunkOutput): void {
    while (this.#progress.end === null) {
      const textBytes = out.forward(events.framer);
      if (textBytes >= 0) {
        this.meter.textBytes += textBytes;
        continue;
      }
      try {
        if (!nextFrame(events.framer)) break;
        this.#decode(events, out);
      } catch (error) {
        // What came before it in the same buffer still counts.
        if (!(error instanceof UpstreamError)) throw error;
        this.#progress.sourceFailed(withoutSecrets(error, this.#redactor));
      }
    }
  }

  #decode(events: EventReader, out: ChunkOutput): void {
    const parts = decodeFrame(events, this.#redactor);
    this.#takeAll(parts, out);
    // Usage within an event is of all of it, also of the text that comes after it there.
    if (parts.length > 1 && parts.some(({ kind }) => kind === 'usage')) this.#usageIsOfAll();
    const [first] = parts;
    if (parts.length === 1 && first?.kind === 'chunk') out.learn(events, first.chunk);
  }

  #takeAll(parts: readonly StreamPart[], out: ChunkOutput): void {
    for (const part of parts) {
      if (this.#progress.end !== null) return;
      if (part.kind === 'chunk') {
        this.#count(part.chunk);
        this.meter.isUsageLast = false;
        this.#progress.sawChunk(part.chunk);
        out.chunk(this.#secrets.clean(part.chunk));
      } else if (part.kind === 'usage') {
        this.meter.usage = part.usage;
        this.#usageIsOfAll();
      } else if (part.kind === 'error')
        this.#sawError(withoutSecrets(part.error, this.#redactor), part.isReported === true);
      else this.#progress.sawSentinel();
    }
  }

  #usageIsOfAll(): void {
    this.meter.usageAtBytes = this.meter.textBytes;
    this.meter.isUsageLast = true;
  }

  #sawError(error: UpstreamError, isReported: boolean): void {
    if (isReported) this.#progress.sawError(error);
    else this.#progress.sourceFailed(error);
  }

  #count({ choices, service_tier }: ChatChunk): void {
    if (service_tier) this.meter.serviceTier = service_tier;
    for (const { index, delta, finish_reason, native_finish_reason } of choices) {
      this.meter.textBytes += sizeOf(delta);
      if (delta.reasoning) this.meter.hasReasoning = true;
      if (delta.audio || delta.images) this.meter.hasMedia = true;
      if (index !== 0 || finish_reason === null) continue;
      this.meter.finishReason = finish_reason;
      this.meter.nativeFinishReason = native_finish_reason ?? null;
    }
  }
}

/** Fields of a delta that are output: the others say how to read it. */
const outputFields = ['content', 'reasoning', 'refusal'] as const;

/** How much output is in a delta, in bytes, as passthrough counts it. */
function sizeOf(delta: ChunkDelta): number {
  let size = 0;
  for (const field of outputFields) size += utf8Length(delta[field] ?? '');
  for (const call of delta.tool_calls ?? [])
    size += utf8Length(call.function?.name ?? '') + utf8Length(call.function?.arguments ?? '');
  return size;
}
