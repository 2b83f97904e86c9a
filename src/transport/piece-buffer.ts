import { type ByteSource, joinBytes } from '../base/bytes.ts';
import type { StopSignal } from '../base/stop.ts';

/** As much as may wait for the reader before the socket is paused, in bytes. */
const highWaterBytes = 64 * 1024;

/** Who pushes. */
export interface Sender {
  /** The reader has taken what was here. */
  resume(): void;
  /** The reader wants no more. */
  stop(): void;
}

/**
 * Joins a pushing socket and a pulling reader. A read takes everything that has arrived as one piece, so a reader that
 * falls behind catches up in one step; a pending read is resolved by the very call that brings the bytes.
 */
export class ByteQueue implements ByteSource {
  readonly #signal: StopSignal;
  readonly #sender: Sender;
  /** Made when it is needed: V8 puts what waits from the beginning among its old objects, and with it what it holds. */
  #pieces: Uint8Array[] | null = null;
  #bytes = 0;
  #isEnded = false;
  #isCancelled = false;
  #isPaused = false;
  #failure: { error: unknown } | null = null;
  #resolvePending: ((piece: Uint8Array | null) => void) | null = null;
  #rejectPending: ((error: unknown) => void) | null = null;

  /** @param signal  checked on each read, so that an abort also reaches bytes that had already arrived */
  constructor(signal: StopSignal, sender: Sender) {
    this.#signal = signal;
    this.#sender = sender;
  }

  get isOver(): boolean {
    return this.#isEnded && this.#bytes === 0 && this.#failure === null;
  }

  read(): Promise<Uint8Array | null> {
    if (this.#isCancelled) return Promise.resolve(null);
    if (this.#signal.aborted && (this.#bytes > 0 || !this.#isEnded)) return Promise.reject(this.#signal.reason);
    if (this.#bytes > 0) return Promise.resolve(this.#take());
    if (this.#failure !== null) return Promise.reject(this.#failure.error);
    if (this.#isEnded) return Promise.resolve(null);
    if (this.#resolvePending !== null) return Promise.reject(new Error('read() while another read is pending'));
    return new Promise((resolve, reject) => {
      this.#resolvePending = resolve;
      this.#rejectPending = reject;
    });
  }

  rest(): Uint8Array | null {
    if (!this.#isEnded || this.#isCancelled || this.#failure !== null) return null;
    return this.#signal.aborted && this.#bytes > 0 ? null : this.#take();
  }

  cancel(): void {
    if (this.#failure === null && !this.#isEnded && !this.#isCancelled) this.#sender.stop();
    this.#isCancelled = true;
    this.#drop();
    this.#settle(null);
  }

  /** @returns false when the sender should pause; it is told to resume once the reader has taken what is here */
  push(piece: Uint8Array): boolean {
    if (this.#isEnded || this.#isCancelled || this.#failure !== null || piece.length === 0) return true;
    if (this.#resolvePending !== null) {
      this.#settle(piece);
      return true;
    }
    if (this.#pieces === null) this.#pieces = [piece];
    else this.#pieces.push(piece);
    this.#bytes += piece.length;
    this.#isPaused = this.#bytes >= highWaterBytes;
    return !this.#isPaused;
  }

  end(): void {
    this.#isEnded = true;
    if (this.#bytes === 0) this.#settle(null);
  }

  /** Rejects the reads that follow what is buffered. */
  fail(error: unknown): void {
    if (this.#isEnded || this.#isCancelled || this.#failure !== null) return;
    this.#failure = { error };
    const reject = this.#rejectPending;
    this.#resolvePending = this.#rejectPending = null;
    reject?.(error);
  }

  /** Rejects at once and drops what is buffered. */
  abort(error: unknown): void {
    this.#drop();
    this.fail(error);
  }

  #take(): Uint8Array {
    const taken = joinBytes(this.#pieces ?? []);
    this.#drop();
    if (this.#isPaused) {
      this.#isPaused = false;
      // May push again before it returns: what was taken is already ours.
      this.#sender.resume();
    }
    return taken;
  }

  #drop(): void {
    this.#pieces = null;
    this.#bytes = 0;
  }

  #settle(piece: Uint8Array | null): void {
    const resolve = this.#resolvePending;
    this.#resolvePending = this.#rejectPending = null;
    resolve?.(piece);
  }
}
