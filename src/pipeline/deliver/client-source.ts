import type { StopSignal } from '../../base/async/stop.ts';
import { joinBytes } from '../../base/bytes.ts';
import type { Clock } from '../../base/clock.ts';
import { abortError, CallAborted } from '../../call/abort.ts';
import type { ReplyEnd, ReplyStream } from '../../call/reply.ts';
import type { KeepAliveSettings } from '../../schema/settings/settings.ts';

const encoder = new TextEncoder();

/** The bytes of one response, which are delivered. */
export interface Delivered {
  /** The next bytes, possibly none; null after the last. */
  next(): Promise<Uint8Array | null>;
  /** Ends the delivery: nobody reads on. */
  stop(): void;
  /** Called when the call was stopped while nobody read. @returns the last bytes, which name the reason. May throw */
  cut(reason: unknown): Uint8Array<ArrayBuffer> | null;
}

export interface ClientSourceInput {
  clock: Clock;
  keepAlive: KeepAliveSettings;
  /** A comment that keeps the connection alive; null: the body has no place for one, and `opening` is there. */
  comment: string | null;
  /** The signal of the call. */
  signal: StopSignal;
  /** The delivery, or a promise of it. */
  opening: Delivered | Promise<Delivered>;
  /** Frames for a client that waits while opening has failed; null: nobody reads them. May throw. */
  failed: (error: unknown) => string | null;
}

/** The reader of one read. A stream makes one read at a time. */
interface Reader {
  resolve: (bytes: Uint8Array | null) => void;
  reject: (error: unknown) => void;
}

/**
 * - `idle`: nobody reads
 * - `fetching`: bytes are on their way; `reader` waits for them, or was given a comment meanwhile (null)
 * - `ready`: bytes came when nobody read, or the end (null)
 * - `ended`: nothing more comes
 * - `broken`: the next read fails
 */
type State =
  | { kind: 'idle' }
  | { kind: 'fetching'; reader: Reader | null }
  | { kind: 'ready'; bytes: Uint8Array | null }
  | { kind: 'ended' }
  | { kind: 'broken'; error: unknown };

const idle: State = { kind: 'idle' };
const ended: State = { kind: 'ended' };

/**
 * The body of a streamed reply: pulled, nothing buffered ahead. While the upstream is silent, comments keep the
 * connection alive.
 */
export class ClientSource implements ReplyStream {
  readonly #input: ClientSourceInput;
  #delivered: Delivered | null;
  #state: State;
  /** The end of the body; null: it has not ended. */
  #end: ReplyEnd | null = null;
  #listener: ((end: ReplyEnd) => void) | null = null;
  #cutListener: ((error: unknown) => void) | null = null;
  #lastSentMs: number;
  #stopTicking: () => void;
  readonly #onAbort = () => this.#aborted();
  readonly #onBytes = (bytes: Uint8Array | null) => this.#take(bytes);
  readonly #onFailure = (error: unknown) => {
    if (this.#end === null) this.#fail(error);
  };

  constructor(input: ClientSourceInput) {
    const { clock, keepAlive, comment, signal, opening } = input;
    this.#input = input;
    this.#lastSentMs = clock.monotonic();
    this.#stopTicking = comment === null ? () => undefined : clock.after(keepAlive.everyMs, () => this.#tick(comment));
    signal.addEventListener('abort', this.#onAbort);
    if (opening instanceof Promise) {
      this.#delivered = null;
      this.#state = { kind: 'ready', bytes: encoder.encode(comment ?? '') };
      // The client may leave before it reads on, so there must be something to stop.
      opening.then(
        (late) => this.#opened(late),
        () => {
          // The read that waits for the opening reports why it has failed.
        },
      );
    } else {
      this.#delivered = opening;
      this.#state = idle;
    }
  }

  onEnd(listener: (end: ReplyEnd) => void): void {
    if (this.#end !== null) listener(this.#end);
    else this.#listener = listener;
  }

  onCut(listener: (error: unknown) => void): void {
    this.#cutListener = listener;
  }

  read(): Promise<Uint8Array | null> {
    const state = this.#state;
    switch (state.kind) {
      case 'broken':
        return Promise.reject(state.error);
      case 'ended':
        return Promise.resolve(null);
      case 'ready':
        this.#state = state.bytes === null || this.#end !== null ? ended : idle;
        return Promise.resolve(state.bytes);
      default:
        return new Promise((resolve, reject) => {
          this.#state = { kind: 'fetching', reader: { resolve, reject } };
          if (state.kind === 'idle') this.#fetch();
        });
    }
  }

  cancel(): void {
    if (this.#end !== null) return;
    const { reader } = this.#state.kind === 'fetching' ? this.#state : { reader: null };
    this.#state = ended;
    this.#finish('cancelled');
    this.#delivered?.stop();
    reader?.resolve(null);
  }

  /** Without an `async` function: an open stream waits here. */
  #fetch(): void {
    let next: Promise<Uint8Array | null>;
    try {
      next = this.#delivered === null ? this.#nextOfOpening() : this.#delivered.next();
    } catch (error) {
      this.#onFailure(error);
      return;
    }
    next.then(this.#onBytes, this.#onFailure);
  }

  async #nextOfOpening(): Promise<Uint8Array | null> {
    this.#delivered ??= await this.#input.opening;
    return this.#delivered.next();
  }

  #take(bytes: Uint8Array | null): void {
    if (this.#end !== null) return;
    if (bytes?.length === 0) {
      this.#fetch();
      return;
    }
    try {
      if (bytes === null) this.#finish('sent');
      this.#lastSentMs = this.#input.clock.monotonic();
      this.#hand(bytes);
    } catch (error) {
      this.#onFailure(error);
    }
  }

  #fail(error: unknown): void {
    let frames: string | null;
    try {
      frames = this.#delivered === null ? this.#input.failed(error) : null;
    } catch (instead) {
      this.#break(instead);
      return;
    }
    if (frames === null) {
      this.#break(error);
      return;
    }
    this.#finish('sent');
    this.#hand(encoder.encode(frames));
  }

  /** Gives bytes to the reader that waits for them, else keeps them for the next read. */
  #hand(bytes: Uint8Array | null): void {
    const state = this.#state;
    const reader = state.kind === 'fetching' ? state.reader : null;
    if (reader === null) {
      this.#state = { kind: 'ready', bytes };
      return;
    }
    this.#state = this.#end === null ? idle : ended;
    reader.resolve(bytes);
  }

  #tick(comment: string): void {
    const { clock, keepAlive } = this.#input;
    const state = this.#state;
    if (clock.monotonic() - this.#lastSentMs >= keepAlive.everyMs) {
      // A comment goes only to a client that waits: one that is slow has enough to read.
      if (state.kind === 'fetching' && state.reader !== null) {
        this.#state = { kind: 'fetching', reader: null };
        state.reader.resolve(encoder.encode(comment));
      }
      this.#lastSentMs = clock.monotonic();
    }
    const leftMs = keepAlive.everyMs - (clock.monotonic() - this.#lastSentMs);
    this.#stopTicking = clock.after(Math.max(leftMs, 1), () => this.#tick(comment));
  }

  #opened(late: Delivered): void {
    this.#delivered ??= late;
    if (this.#end !== null) late.stop();
  }

  #aborted(): void {
    const { reason } = this.#input.signal;
    if (!(reason instanceof CallAborted)) return;
    // A client that left reads no more, so nobody would notice: the response is settled here. A client in this process
    // may read on. An orderly end would make its part of the response look complete.
    if (reason.why === 'client_left') {
      this.#break(reason.cause ?? reason);
      this.#delivered?.stop();
    } else if (this.#state.kind !== 'fetching' || this.#state.reader === null) this.#cut(reason);
    // A client that waits learns of it by its read.
  }

  /**
   * Stops a body that nobody reads. At the deadline the client is cut off: it may never read again. When the gateway is
   * closed, the client may only be slow, and is told the reason.
   */
  #cut(reason: CallAborted): void {
    const delivered = this.#delivered;
    // A delivery that is not open yet settles itself.
    if (reason.why === 'closing' && delivered === null) return;
    const error = abortError(reason);
    let last: Uint8Array<ArrayBuffer> | null = null;
    try {
      last = delivered?.cut(reason) ?? null;
    } catch {
      // The body is broken with the error above.
    }
    if (reason.why === 'closing' && last !== null) {
      const unread = this.#state.kind === 'ready' ? this.#state.bytes : null;
      this.#state = { kind: 'ready', bytes: unread === null ? last : joinBytes([unread, last]) };
      this.#finish('sent');
      return;
    }
    this.#break(error);
    this.#cutListener?.(error);
  }

  #break(error: unknown): void {
    const state = this.#state;
    this.#state = { kind: 'broken', error };
    this.#finish('sent');
    if (state.kind === 'fetching') state.reader?.reject(error);
  }

  #finish(end: ReplyEnd): void {
    if (this.#end !== null) return;
    this.#end = end;
    this.#stopTicking();
    this.#input.signal.removeEventListener('abort', this.#onAbort);
    this.#listener?.(end);
  }
}
