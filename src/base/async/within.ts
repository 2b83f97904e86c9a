import type { Clock } from '../clock.ts';
import { type StopSignal, StopSwitch } from './stop.ts';

/** Starts work whose code may throw at once instead of rejecting, and whose promise may be of another kind. */
function started<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return Promise.resolve(work());
  } catch (error) {
    return Promise.reject(error);
  }
}

/**
 * Returns the result of the work, unless the work takes longer. A later result, or failure, is dropped.
 * @param late  makes the error of the time-out
 * @throws the error of `late`, or the error of the work
 */
export function within<T>(
  clock: Clock,
  timeoutMs: number,
  work: () => T | Promise<T>,
  late: (timeoutMs: number) => Error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(timeoutMs, () => reject(late(timeoutMs)));
    started(work).then(
      (result) => {
        cancel();
        resolve(result);
      },
      (error: unknown) => {
        cancel();
        reject(error);
      },
    );
  });
}

/**
 * Returns the result of the work, unless the signal is aborted before. A later result, or failure, is dropped.
 * @throws the reason of the signal, or the error of the work
 */
export function unlessStopped<T>(signal: StopSignal, work: () => T | Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    started(work)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', onAbort));
  });
}

export interface SignalLimits {
  /** Signals that end the work. */
  signals: readonly StopSignal[];
  /** Absent: only the signals end the work. */
  timeoutMs?: number;
  /** Makes the reason of the signal when the work takes too long. */
  late?: (timeoutMs: number) => Error;
  /** true: the timer alone does not keep the process alive. */
  isIdle?: boolean;
}

/**
 * Returns the result of work that gets a signal. The signal is aborted when one of the given signals is, when the work
 * takes too long, and when the work is over. Work that ignores the signal is left running.
 * @throws the reason of the signal, at once; the error of the work
 */
export async function withSignal<T>(
  clock: Clock,
  { timeoutMs, signals, late, isIdle = false }: SignalLimits,
  work: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  const own = new StopSwitch();
  const stopped = new Promise<never>((_, reject) => own.addEventListener('abort', () => reject(own.reason)));
  stopped.catch(() => undefined);
  const unlinks = signals.map((signal) => {
    const onAbort = () => own.abort(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    return () => signal.removeEventListener('abort', onAbort);
  });
  const cancel =
    timeoutMs === undefined ? null : clock.after(timeoutMs, () => own.abort(late?.(timeoutMs)), { isIdle });
  try {
    own.throwIfAborted();
    return await Promise.race([started(() => work(own.signal)), stopped]);
  } finally {
    cancel?.();
    for (const unlink of unlinks) unlink();
    own.abort(new Error('The work is over'));
  }
}
