import type { StopSignal } from './async/stop.ts';

/** The time. Callers pass a clock in, so that tests are exact. */
export interface Clock {
  /** Milliseconds since the Unix epoch: for moments that are shown, kept or compared with others. It may be set back. */
  now(): number;
  /** Whole milliseconds since an arbitrary moment. Nobody sets this time, so it measures how long something takes. */
  monotonic(): number;
  /**
   * Runs `callback` once, after `ms` milliseconds, unless the returned function is called first. Negative: at once.
   * @param options  `isIdle`: the timer alone does not keep the process alive
   */
  after(ms: number, callback: () => void, options?: { isIdle?: boolean }): () => void;
}

/** The longest delay that `setTimeout` supports; it would run a longer one at once. */
const longestMs = 2 ** 31 - 1;

/** The runtime's stopwatch. It is kept: the global variable is a getter in Node, which costs half of what reading the time does. */
const { performance: stopwatch } = globalThis;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => Math.floor(stopwatch.now()),
  after(ms, callback, { isIdle = false } = {}) {
    const timer: unknown = setTimeout(callback, Math.min(Math.max(ms, 0), longestMs));
    // In browsers and similar runtimes the timer is a number: there is no process to keep alive.
    if (isIdle && typeof timer === 'object') (timer as { unref?: () => void }).unref?.();
    return () => clearTimeout(timer as number);
  },
};

/** A host app's clock. It may know only the time of day: then a step back counts as no time. */
export type GivenClock = Pick<Clock, 'now' | 'after'> & Partial<Pick<Clock, 'monotonic'>>;

export function clockOf(given: GivenClock): Clock {
  if (given.monotonic !== undefined) return given as Clock;
  let lastMs = given.now();
  let passedMs = 1;
  return {
    now: () => given.now(),
    after: (...more) => given.after(...more),
    monotonic() {
      const nowMs = given.now();
      passedMs += Math.max(0, nowMs - lastMs);
      lastMs = nowMs;
      return passedMs;
    },
  };
}

/**
 * A clock whose time of day goes on steadily from its present value, whatever the other clock is set to. The difference
 * of two of its times is a duration.
 */
export class SteadyClock implements Clock {
  readonly #clock: Clock;
  readonly #startMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startMs = clock.now() - clock.monotonic();
  }

  now(): number {
    return this.#startMs + this.#clock.monotonic();
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  after(...more: Parameters<Clock['after']>): () => void {
    return this.#clock.after(...more);
  }
}

/** Writes a time as ISO 8601, UTC. */
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
