import type { StopSignal } from './stop.ts';

/** Time, passed in so that tests are exact. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Runs `callback` once, after `ms` milliseconds, unless the returned function is called first. */
  after(ms: number, callback: () => void): () => void;
}

/** The longest delay `setTimeout` can hold; a longer one would fire at once. */
const longestMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, Math.min(ms, longestMs));
    return () => clearTimeout(timer);
  },
};

/** Waits `ms` milliseconds; rejects with the signal's reason as soon as it aborts. */
export function wait(clock: Clock, ms: number, signal: StopSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = () => {
      cancel();
      reject(signal.reason);
    };
    const cancel = clock.after(ms, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
