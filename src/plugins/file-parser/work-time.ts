import { withSignal } from '../../base/async/within.ts';
import type { Clock } from '../../base/clock.ts';

/** The time of work that may be stopped and go on: who waits for others does not work. */
export interface WorkTime {
  /** Aborted when the time is up, and when nobody wants the result any more. */
  readonly signal: AbortSignal;
  pause(): void;
  /** The time goes on. Nothing happens where it does already. */
  resume(): void;
}

export interface WorkLimits {
  timeoutMs: number;
  /** Whether anybody still wants the result. */
  signal: AbortSignal;
  /** What is thrown where the work takes longer. */
  late: (timeoutMs: number) => Error;
}

/**
 * The result of work that takes so long at most, without its pauses.
 * @throws what `late` makes; the reason of the signal; what the work throws
 */
export async function withWorkTime<T>(
  clock: Clock,
  { timeoutMs, signal: wanted, late }: WorkLimits,
  work: (time: WorkTime) => Promise<T>,
): Promise<T> {
  const tooLate = new AbortController();
  let leftMs = timeoutMs;
  let running: { sinceMs: number; cancel: () => void } | null = null;
  const resume = () => {
    running ??= { sinceMs: clock.monotonic(), cancel: clock.after(leftMs, () => tooLate.abort(late(timeoutMs))) };
  };
  const pause = () => {
    if (running === null) return;
    running.cancel();
    leftMs = Math.max(leftMs - (clock.monotonic() - running.sinceMs), 0);
    running = null;
  };
  resume();
  try {
    return await withSignal(clock, { signals: [wanted, tooLate.signal] }, (signal) => work({ signal, pause, resume }));
  } finally {
    pause();
  }
}
