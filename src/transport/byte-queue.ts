import type { StopSignal } from '../base/async/stop.ts';
import { type ByteSource, joinBytes } from '../base/bytes.ts';

/** The number of bytes that may wait for the reader before the socket is paused. */
const highWaterBytes = 64 * 1024;

/** The pushing side, such as a socket. */
export interface Sender {
  /** The reader has taken all buffered bytes. */
  resume(): void;
  /** The reader wants no more bytes. */
  stop(): void;
}

/**
 * Joins a pushing socket and a pulling reader. A read takes all bytes that have arrived as one buffer, so a slow reader
 * catches up with one read. A pending read is resolved by the very call that brings the bytes.
 */
export class ByteQueue implements ByteSource {
  readonly #signal: StopSignal;
  readonly #sender: Sender;
  /** Made at the first use: docs/performance.md, "Classes instead of literals". */
  #buffers: Uint8Array[] | null = null;
  #bytes = 0;
  #isEnded = false;
  #isCancelled = false;
  #isPaused = false;
  #failure: { error: unknown } | null = null;
  #resolvePending: ((bytes: Uint8Array | null) => void) | null = null;
  #rejectPending: ((error: unknown) => void) | null = null;

  /**
   * @param signal  checked in each read, so that after an abort the reader also gets no bytes that had arrived before
   */
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

  /** @returns false when the sender should pause; `resume` is called once the reader has taken the buffered bytes */
  push(bytes: Uint8Array): boolean {
    if (this.#isEnded || this.#isCancelled || this.#failure !== null || bytes.length === 0) return true;
    if (this.#resolvePending !== null) {
      this.#settle(bytes);
      return true;
    }
    if (this.#buffers === null) this.#buffers = [bytes];
    else this.#buffers.push(bytes);
    this.#bytes += bytes.length;
    this.#isPaused = this.#bytes >= highWaterBytes;
    return !this.#isPaused;
  }

  end(): void {
    this.#isEnded = true;
    if (this.#bytes === 0) this.#settle(null);
  }

  /** Rejects the reads that come after the buffered bytes. */
  fail(error: unknown): void {
    if (this.#isEnded || this.#isCancelled || this.#failure !== null) return;
    this.#failure = { error };
    const reject = this.#rejectPending;
    this.#resolvePending = this.#rejectPending = null;
    reject?.(error);
  }

  /** Rejects reads at once and drops the buffered bytes. */
  abort(error: unknown): void {
    this.#drop();
    this.fail(error);
  }

  #take(): Uint8Array {
    const taken = joinBytes(this.#buffers ?? []);
    this.#drop();
    if (this.#isPaused) {
      this.#isPaused = false;
      // `resume` may push again before it returns: `taken` is already complete.
      this.#sender.resume();
    }
    return taken;
  }

  #drop(): void {
    this.#buffers = null;
    this.#bytes = 0;
  }

  #settle(bytes: Uint8Array | null): void {
    const resolve = this.#resolvePending;
    this.#resolvePending = this.#rejectPending = null;
    resolve?.(bytes);
  }
}
