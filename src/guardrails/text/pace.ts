import type { StopSignal } from '../../base/async/stop.ts';
import { turn } from '../../base/async/turns.ts';
import type { Clock } from '../../base/clock.ts';

/** Work in steps: at each yield, the event loop may do something else. */
export type Work<T> = Generator<void, T, void>;

/** The most milliseconds that work goes on without a pause. */
const sliceMs = 10;

/** The error when there is more work than one call may have. */
export class TooMuchWork extends Error {}

/** Tells work whether to pause. */
export interface Pausing {
  /** true: the work should yield now. */
  readonly isOver: boolean;
}

/** For short work, which never pauses. */
export const unpaced: Pausing = { isOver: false };

/** For work that runs without a pause, up to a time. @returns throws TooMuchWork when it is read after that time */
export function within(maxMs: number, clock: Pick<Clock, 'monotonic'>): Pausing {
  const sinceMs = clock.monotonic();
  return {
    get isOver(): boolean {
      if (clock.monotonic() - sinceMs >= maxMs) throw new TooMuchWork();
      return false;
    },
  };
}

/** Does all of the work at once. */
export function atOnce<T>(work: Work<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

export interface PaceOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** The owner of the work: groups take turns. */
  readonly group: string;
}

/** Does the work of all guardrails on one call in slices. Between them, the event loop does other work. */
export class Pace implements Pausing {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #group: string;
  #busyMs = 0;
  #sinceMs = 0;

  constructor({ clock, group }: PaceOptions) {
    this.#clock = clock;
    this.#group = group;
  }

  get isOver(): boolean {
    return this.#clock.monotonic() - this.#sinceMs >= sliceMs;
  }

  /**
   * Returns no promise where the work is done within one slice.
   * @param maxMs  the most time for all work of the call, without its pauses
   * @throws TooMuchWork; the reason of the signal
   */
  run<T>(work: Work<T>, maxMs: number, signal?: StopSignal): T | Promise<T> {
    const first = this.#slice(work, maxMs);
    return first.done === true ? first.value : this.#goOn(work, maxMs, signal);
  }

  async #goOn<T>(work: Work<T>, maxMs: number, signal?: StopSignal): Promise<T> {
    for (;;) {
      await turn(this.#group);
      signal?.throwIfAborted();
      const { done, value } = this.#slice(work, maxMs);
      if (done === true) return value;
    }
  }

  #slice<T>(work: Work<T>, maxMs: number): IteratorResult<void, T> {
    this.#sinceMs = this.#clock.monotonic();
    const result = work.next();
    this.#busyMs += this.#clock.monotonic() - this.#sinceMs;
    if (this.#busyMs > maxMs) throw new TooMuchWork();
    return result;
  }
}
