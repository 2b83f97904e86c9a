import type { Clock } from '../../base/clock.ts';

/**
 * A timer that fires when something takes too long. Arming again with a later time costs nothing: the timer is moved
 * only when it rings.
 */
export class Watchdog {
  readonly #clock: Clock;
  readonly #onExpire: (phase: string, ms: number) => void;
  #dueMs = Number.POSITIVE_INFINITY;
  #phase = '';
  #spanMs = 0;
  #cancelTimer: (() => void) | null = null;
  #timerMs = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, onExpire: (phase: string, ms: number) => void) {
    this.#clock = clock;
    this.#onExpire = onExpire;
  }

  /**
   * Arms the watchdog: it fires `ms` from now with this `phase`, unless it is armed again, disarmed or stopped before.
   */
  arm(ms: number, phase: string): void {
    const nowMs = this.#clock.monotonic();
    this.#phase = phase;
    this.#spanMs = ms;
    this.#dueMs = nowMs + ms;
    if (this.#dueMs < this.#timerMs) this.#schedule(nowMs);
  }

  /** Ends the wait; the timer may stay. */
  disarm(): void {
    this.#dueMs = Number.POSITIVE_INFINITY;
  }

  stop(): void {
    this.#dueMs = Number.POSITIVE_INFINITY;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#timerMs = Number.POSITIVE_INFINITY;
  }

  #schedule(nowMs: number): void {
    this.#cancelTimer?.();
    this.#timerMs = this.#dueMs;
    this.#cancelTimer = this.#clock.after(Math.max(this.#dueMs - nowMs, 0), () => this.#ring());
  }

  #ring(): void {
    this.#cancelTimer = null;
    this.#timerMs = Number.POSITIVE_INFINITY;
    if (this.#dueMs === Number.POSITIVE_INFINITY) return;
    const nowMs = this.#clock.monotonic();
    if (nowMs < this.#dueMs) this.#schedule(nowMs);
    else {
      this.#dueMs = Number.POSITIVE_INFINITY;
      this.#onExpire(this.#phase, this.#spanMs);
    }
  }
}
