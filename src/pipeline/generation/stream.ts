import type { Clock } from '../../base/clock.ts';
import { UpstreamError } from '../../base/http/upstream-error.ts';
import type { ResponseEnd, StreamedResponse } from '../../call/generation.ts';
import type { ResponseEncoder, ResponseHead } from '../../call/response-encoder.ts';
import type { ChatChunk } from '../../schema/chat/chunk.ts';
import type { OpenStream } from '../attempt/attempt.ts';
import { OpenSecrets } from '../secrets/open-secrets.ts';
import { ChunkCollector, type ChunkOutput, type Forwarding, Passthrough } from '../stream/chunk-output.ts';
import { drain } from '../stream/drain.ts';
import { badStream, ChoiceWatch } from '../stream/events.ts';
import { NativePassthrough } from '../stream/native-passthrough.ts';
import { StreamProgress } from '../stream/progress.ts';
import { type StreamMeter, StreamReader } from '../stream/reader.ts';

/** The time that a complete stream may keep its upstream waiting for usage or the sentinel. */
const trailingUsageTimeoutMs = 5000;
/**
 * The time without reads after which the provider may have gone on: fast ones make thousands of tokens a second. A
 * reader that waits for the next event reads all the time.
 */
const stalledMs = 20;

export interface GenerationStreamInput {
  head: ResponseHead;
  open: OpenStream;
  clock: Clock;
  /** The most time between two events. */
  idleMs: number;
  /** true: the upstream's bytes may be forwarded, since its events are our chunks. */
  mayForward: boolean;
  /** true: the provider goes on generating when the stream is closed. */
  generatesOn: boolean;
  /** Called once, when the stream has ended in any way. */
  onEnd: (end: ResponseEnd, meter: StreamMeter) => void;
}

/** Collects what the client gets. */
interface Output<Taken> extends ChunkOutput, Partial<Pick<Forwarding, 'begin'>> {
  take(): Taken;
}

/** The opened stream of the target that serves: pulled, counted, ended honestly. */
export class GenerationStream implements StreamedResponse {
  readonly kind = 'stream';
  readonly head: ResponseHead;
  readonly pullBytes?: (encoder: ResponseEncoder) => Promise<Uint8Array<ArrayBuffer>>;
  readonly #input: GenerationStreamInput;
  readonly #progress: StreamProgress;
  readonly #reader: StreamReader;
  readonly #secrets: OpenSecrets;
  #collector: ChunkCollector | null = null;
  #passthrough: Forwarding | null = null;
  #hasStarted = false;
  /** The time at which the last choice was finished. */
  #trailingSinceMs: number | null = null;
  #isReported = false;
  #isReading = false;
  #readAtMs: number;

  constructor(input: GenerationStreamInput) {
    const { head, open, mayForward } = input;
    this.head = head;
    this.#input = input;
    this.#readAtMs = input.clock.monotonic();
    this.#progress = new StreamProgress(new ChoiceWatch(open.expectedChoices));
    this.#secrets = new OpenSecrets(open.redactor);
    this.#reader = new StreamReader(open.events, open.redactor, this.#secrets, this.#progress);
    if (mayForward) this.pullBytes = this.#pullBytes;
  }

  get end(): ResponseEnd | null {
    return this.#progress.end;
  }

  pull(): Promise<readonly ChatChunk[]> {
    this.#collector ??= new ChunkCollector(this.head);
    return this.#advance(this.#collector);
  }

  cancel(): void {
    this.#progress.cancel();
    this.#report();
  }

  #pullBytes(encoder: ResponseEncoder): Promise<Uint8Array<ArrayBuffer>> {
    const Lane = encoder.format === 'chat' ? Passthrough : NativePassthrough;
    this.#passthrough ??= new Lane(this.head, encoder, this.#input.open.redactor, this.#secrets);
    return this.#advance(this.#passthrough);
  }

  /**
   * Takes the events up to the first token, then buffer by buffer. Without an `async` function: an open stream waits here,
   * and each one that waits costs it 300 bytes, and each chunk a tenth of its time.
   * @returns what the output holds then
   */
  #advance<Taken>(out: Output<Taken>): Promise<Taken> {
    const { open, idleMs } = this.#input;
    if (!this.#hasStarted || open.events === null) return this.#takeWithoutRead(out);
    let reading: Promise<Uint8Array | null>;
    try {
      open.watchdog.arm(Math.min(this.#trailingLeftMs(), idleMs), 'the next event');
      this.#isReading = true;
      reading = open.events.source.read();
    } catch (error) {
      reading = Promise.reject(error);
    }
    return reading.then(
      (buffer) => this.#read(buffer, out),
      (error) => this.#failed(error, out),
    );
  }

  async #takeWithoutRead<Taken>(out: Output<Taken>): Promise<Taken> {
    const { open } = this.#input;
    const isFirst = !this.#hasStarted;
    this.#hasStarted = true;
    try {
      if (isFirst) this.#reader.first(open.first, out);
      else this.#takeIn(null, out);
      // The parts are let go, so that they are not kept for as long as the stream is open.
      open.first = [];
    } catch (error) {
      return this.#failed(error, out);
    }
    return this.#taken(out);
  }

  #read<Taken>(buffer: Uint8Array | null, out: Output<Taken>): Taken {
    const { open, clock } = this.#input;
    this.#isReading = false;
    this.#readAtMs = clock.monotonic();
    open.watchdog.disarm();
    try {
      this.#takeIn(buffer, out);
    } catch (error) {
      return this.#failed(error, out);
    }
    return this.#taken(out);
  }

  /** @param buffer  null: the upstream has ended its stream */
  #takeIn(buffer: Uint8Array | null, out: Output<unknown>): void {
    out.begin?.(buffer?.length ?? 0);
    if (this.end !== null) return;
    if (buffer !== null) this.#reader.push(buffer, out);
    else {
      this.#reader.flush(out);
      this.#progress.sourceEnded();
    }
  }

  #failed<Taken>(error: unknown, out: Output<Taken>): Taken {
    out.begin?.(0);
    if (error instanceof UpstreamError) this.#reader.finish(out);
    this.#progress.sourceFailed(error);
    return this.#taken(out);
  }

  #taken<Taken>(out: Output<Taken>): Taken {
    if (this.end !== null) this.#report();
    return out.take();
  }

  /**
   * Returns the rest of the time. It counts from the end of the last choice, not from the latest buffer: the events
   * after that end may go on for ever.
   */
  #trailingLeftMs(): number {
    if (this.#progress.phase !== 'trailing') {
      this.#trailingSinceMs = null;
      return Number.POSITIVE_INFINITY;
    }
    const nowMs = this.#input.clock.monotonic();
    this.#trailingSinceMs ??= nowMs;
    const leftMs = this.#trailingSinceMs + trailingUsageTimeoutMs - nowMs;
    if (leftMs <= 0) throw badStream('The provider did not end its response.');
    return leftMs;
  }

  /** Reports the end, once, and lets go of the upstream. */
  #report(): void {
    if (this.#isReported) return;
    this.#isReported = true;
    const end = this.end as ResponseEnd;
    const { open, clock, generatesOn, onEnd } = this.#input;
    const { meter } = this.#reader;
    meter.isComplete = end.kind === 'complete';
    if (!meter.isComplete) {
      meter.mayBeLonger = generatesOn || (!this.#isReading && clock.monotonic() - this.#readAtMs >= stalledMs);
      open.close();
    }
    onEnd(end, meter);
    if (end.kind !== 'complete') return;
    if (open.events === null) open.close();
    else drain(open.events.source, clock, () => open.close());
  }
}
