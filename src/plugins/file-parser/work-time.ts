import { withSignal } from '../../base/async/within.ts';
import type { Clock } from '../../base/clock.ts';

/** The time of work that may be stopped and go on: work that waits for other work takes no time. */
export interface WorkTime {
  /** Aborted when the time is up, and when nobody wants the result any more. */
  readonly signal: AbortSignal;
  pause(): void;
  /** Lets the time go on. Has no effect where it goes on already. */
  resume(): void;
}

export interface WorkLimits {
  timeoutMs: number;
  /** Aborted when nobody wants the result any more. */
  signal: AbortSignal;
  /** Makes the error that is thrown where the work takes longer. */
  late: (timeoutMs: number) => Error;
}

/**
 * Returns the result of work that may take so long, without its pauses.
 * @throws the error of `late`; the reason of the signal; the error of the work
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
