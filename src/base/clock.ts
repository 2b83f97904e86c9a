import type { StopSignal } from './stop.ts';

/** The time. Callers pass a clock in, so that tests are exact. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /**
   * Runs `callback` once, after `ms` milliseconds, unless the returned function is called first. Negative: at once.
   * @param options  `isIdle`: the timer alone does not keep the process alive
   */
  after(ms: number, callback: () => void, options?: { isIdle?: boolean }): () => void;
}

/** The longest delay that `setTimeout` supports; it would run a longer one at once. */
const longestMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, callback, { isIdle = false } = {}) {
    const timer: unknown = setTimeout(callback, Math.min(Math.max(ms, 0), longestMs));
    // In browsers and similar runtimes the timer is a number: there is no process to keep alive.
    if (isIdle && typeof timer === 'object') (timer as { unref?: () => void }).unref?.();
    return () => clearTimeout(timer as number);
  },
};

/** ISO 8601, UTC. */
export function isoTime(atMs: number): string {
  return new Date(atMs).toISOString();
}

/**
 * Waits `ms` milliseconds; rejects with the signal's reason as soon as it aborts.
 * @param options  as of `Clock.after`
 */
export function wait(clock: Clock, ms: number, signal: StopSignal, options?: { isIdle?: boolean }): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = () => {
      cancel();
      reject(signal.reason);
    };
    const done = () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    };
    const cancel = clock.after(ms, done, options);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
