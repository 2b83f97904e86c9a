import { type ByteSource, joinBytes } from '../base/bytes.ts';
import type { StopSignal } from '../base/stop.ts';

/** As much as may wait for the reader before the socket is paused, in bytes. */
const highWaterBytes = 64 * 1024;

export interface PieceBuffer {
  source: ByteSource;
  /** @returns false when the sender should pause; `resume` is called once the reader has taken what is here */
  push(piece: Uint8Array): boolean;
  end(): void;
  /** Rejects the reads that follow what is buffered. */
  fail(error: unknown): void;
  /** Rejects at once and drops what is buffered. */
  abort(error: unknown): void;
}

/**
 * Joins a pushing socket and a pulling reader. A read takes everything that has arrived as one piece, so a reader that
 * falls behind catches up in one step; a pending read is resolved by the very call that brings the bytes.
 * @param signal  checked on each read, so that an abort also reaches bytes that had already arrived
 */
export function pieceBuffer(signal: StopSignal, resume: () => void, cancel: () => void): PieceBuffer {
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  let ended = false;
  let cancelled = false;
  let paused = false;
  let failure: { error: unknown } | null = null;
  let resolvePending: ((piece: Uint8Array | null) => void) | null = null;
  let rejectPending: ((error: unknown) => void) | null = null;

  const take = (): Uint8Array => {
    const taken = joinBytes(pieces);
    pieces = [];
    bytes = 0;
    if (paused) {
      paused = false;
      // May push again before it returns: what was taken is already ours.
      resume();
    }
    return taken;
  };

  const settle = (piece: Uint8Array | null) => {
    const resolve = resolvePending;
    resolvePending = rejectPending = null;
    resolve?.(piece);
  };

  const fail = (error: unknown) => {
    if (ended || cancelled || failure !== null) return;
    failure = { error };
    const reject = rejectPending;
    resolvePending = rejectPending = null;
    reject?.(error);
  };

  return {
    source: {
      read() {
        if (cancelled) return Promise.resolve(null);
        if (signal.aborted && (bytes > 0 || !ended)) return Promise.reject(signal.reason);
        if (bytes > 0) return Promise.resolve(take());
        if (failure !== null) return Promise.reject(failure.error);
        if (ended) return Promise.resolve(null);
        if (resolvePending !== null) return Promise.reject(new Error('read() while another read is pending'));
        return new Promise((resolve, reject) => {
          resolvePending = resolve;
          rejectPending = reject;
        });
      },
      cancel() {
        if (failure === null && !ended && !cancelled) cancel();
        cancelled = true;
        pieces = [];
        bytes = 0;
        settle(null);
      },
    },
    push(piece) {
      if (ended || cancelled || failure !== null || piece.length === 0) return true;
      if (resolvePending !== null) {
        settle(piece);
        return true;
      }
      pieces.push(piece);
      bytes += piece.length;
      paused = bytes >= highWaterBytes;
      return !paused;
    },
    end() {
      ended = true;
      if (bytes === 0) settle(null);
    },
    fail,
    abort(error) {
      pieces = [];
      bytes = 0;
      fail(error);
    },
  };
}
