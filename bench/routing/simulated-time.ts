import type { Clock } from '../../src/base/clock.ts';

export interface SimulatedTime {
  clock: Clock;
  /** Runs timers in order until the promise settles; the time jumps from one timer to the next. */
  until<T>(promise: Promise<T>): Promise<T>;
}

interface Timer {
  atMs: number;
  /** Of two timers at the same time, the one that was started first runs first. */
  started: number;
  callback: (() => void) | null;
}

/**
 * A clock without waiting, for hundreds of thousands of timers. All effects of a timer complete before the next timer.
 */
export function simulatedTime(startMs: number): SimulatedTime {
  let nowMs = startMs;
  let started = 0;
  /** A binary heap; the next timer is at index 0. */
  const timers: Timer[] = [];

  function push(timer: Timer): void {
    let at = timers.push(timer) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!isBefore(timer, timers[above] as Timer)) break;
      timers[at] = timers[above] as Timer;
      at = above;
    }
    timers[at] = timer;
  }

  function pop(): Timer | undefined {
    const first = timers[0];
    const last = timers.pop();
    if (last === undefined || timers.length === 0) return first;
    let at = 0;
    for (let below = 1; below < timers.length; below = 2 * at + 1) {
      const right = timers[below + 1];
      if (right && isBefore(right, timers[below] as Timer)) below++;
      if (!isBefore(timers[below] as Timer, last)) break;
      timers[at] = timers[below] as Timer;
      at = below;
    }
    timers[at] = last;
    return first;
  }

  return {
    clock: {
      now: () => nowMs,
      monotonic: () => nowMs,
      after(ms, callback) {
        const timer: Timer = { atMs: nowMs + Math.max(ms, 0), started: started++, callback };
        push(timer);
        return () => {
          timer.callback = null;
        };
      },
    },
    async until(promise) {
      let isSettled = false;
      const note = () => {
        isSettled = true;
      };
      promise.then(note, note);
      await turn();
      while (!isSettled) {
        const timer = pop();
        if (timer === undefined) throw new Error('No timer is left, but the promise has not settled');
        if (timer.callback === null) continue;
        nowMs = timer.atMs;
        timer.callback();
        await turn();
      }
      return promise;
    },
  };
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.started < b.started);
}

/** Waits one turn of the event loop. All pending promises settle within it, because nothing here waits for I/O. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
