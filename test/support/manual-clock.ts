import type { Clock } from '../../src/base/clock.ts';

export interface ManualClock extends Clock {
  /** Sets the time of day on, or back; no time passes, and no timer is due for it. */
  setBy(ms: number): void;
  /**
   * Moves time on by `ms`, running every timer that falls due on the way, in order, each at its own moment. Promises
   * settle before the first timer, after each and at the end, so that a timer started by one that just ran counts too.
   */
  advance(ms: number): Promise<void>;
  /**
   * Moves time on, from timer to timer, until the promise settles; gives its value or its error. For work within the
   * process: real I/O may not be ready when the next timer is.
   * @throws Error when nothing is left that time could bring about
   */
  until<T>(promise: Promise<T>): Promise<T>;
  /** Timers that have neither run nor been stopped. */
  readonly pending: number;
  /** When the next timer is due; null without one. */
  readonly nextMs: number | null;
}

/** So many turns in which no timer of the clock runs, some milliseconds of them, and a promise is given up. */
const maxIdleTurns = 5_000;

/** A clock that moves when told to. `startMs` is milliseconds since the Unix epoch. */
export function manualClock(startMs = Date.UTC(2026, 0, 1)): ManualClock {
  let nowMs = startMs;
  let setMs = 0;
  // In order of time, then of starting.
  const timers: { atMs: number; callback: () => void }[] = [];

  const runNext = () => {
    const timer = timers.shift();
    if (!timer) return;
    nowMs = Math.max(nowMs, timer.atMs);
    timer.callback();
  };

  return {
    now: () => nowMs + setMs,
    // Not 0: libraries take that for no time.
    monotonic: () => nowMs - startMs + 1_000,
    setBy(ms) {
      setMs += ms;
    },
    after(ms, callback) {
      const timer = { atMs: nowMs + Math.max(ms, 0), callback };
      const later = timers.findIndex(({ atMs }) => atMs > timer.atMs);
      timers.splice(later < 0 ? timers.length : later, 0, timer);
      return () => {
        const index = timers.indexOf(timer);
        if (index >= 0) timers.splice(index, 1);
      };
    },
    async advance(ms) {
      const endMs = nowMs + ms;
      await settle();
      while (timers[0] && timers[0].atMs <= endMs) {
        runNext();
        await settle();
      }
      nowMs = endMs;
      await settle();
    },
    async until(promise) {
      let isSettled = false;
      const note = () => {
        isSettled = true;
      };
      promise.then(note, note);
      await settle();
      // Libraries put work off by timers of their own, of no length: those need turns of the loop, not this clock.
      for (let idle = 0; !isSettled; await settle()) {
        idle = timers.length === 0 ? idle + 1 : 0;
        if (idle > maxIdleTurns) throw new Error('The promise waits for something other than this clock');
        runNext();
      }
      return promise;
    },
    get pending() {
      return timers.length;
    },
    get nextMs() {
      return timers[0] === undefined ? null : timers[0].atMs + setMs;
    },
  };
}

/** Lets promises settle. A request waits for two turns by itself: once its body is there, and once its response begins. */
export function settle(): Promise<void> {
  return turns(6);
}

/** Lets so many turns of the event loop pass. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}
