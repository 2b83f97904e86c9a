import type { Clock } from './clock.ts';
import { type StopSignal, StopSwitch } from './stop.ts';

/** Others' code may throw at once instead of rejecting, and its promises may be of another kind. */
function started<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return Promise.resolve(work());
  } catch (error) {
    return Promise.reject(error);
  }
}

/**
 * The work's result, unless the work takes longer. Nobody hears of a result, or a failure, that comes after that.
 * @param late  what is thrown then
 * @throws what `late` makes, or what the work throws
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

export interface SignalLimits {
  timeoutMs: number;
  /** Those who may want no result any more. */
  signals: readonly StopSignal[];
  /** The reason of the signal where the work takes longer. */
  late: (timeoutMs: number) => Error;
}

/**
 * The result of work that gets a signal, which is aborted when one of the signals is, when the work takes too long, and
 * when it is over. Work that does not listen is left behind.
 * @throws the reason of the signal, at once; what the work throws
 */
export async function withSignal<T>(
  clock: Clock,
  { timeoutMs, signals, late }: SignalLimits,
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
  const cancel = clock.after(timeoutMs, () => own.abort(late(timeoutMs)));
  try {
    own.throwIfAborted();
    return await Promise.race([started(() => work(own.signal)), stopped]);
  } finally {
    cancel();
    for (const unlink of unlinks) unlink();
    own.abort(new Error('The work is over'));
  }
}
