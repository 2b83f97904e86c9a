import type { Clock } from '../base/clock.ts';
import { GatewayError } from '../base/errors.ts';
import type { OperationFacts } from '../operations/operation.ts';
import type { OverloadSettings } from '../schema/settings/settings.ts';

/** The time between two checks of the process's timers while requests are in flight. */
const sampleMs = 50;
const retryAfterMs = 1_000;

export interface OverloadDeps extends OverloadSettings {
  clock: Clock;
  /** The number of requests in flight. */
  inFlight: () => number;
}

/**
 * Refuses requests before any work is done for them, while this process has too much to do. Operations that only
 * managers may use pass, because they can help.
 * @throws GatewayError unavailable (503)
 */
export type ShedLoad = (operation: OperationFacts) => void;

/** @returns null: there is no limit */
export function loadShedder({ maxInFlight, maxLoopLagMs, clock, inFlight }: OverloadDeps): ShedLoad | null {
  if (maxInFlight === null && maxLoopLagMs === null) return null;
  const lag = maxLoopLagMs === null ? null : new LoopLag(clock, inFlight);
  return ({ permissions }) => {
    const nowMs = lag === null ? 0 : clock.monotonic();
    lag?.watch(nowMs);
    if (!permissions.includes('inference')) return;
    if (maxInFlight !== null && inFlight() >= maxInFlight)
      throw overloaded('The gateway has too many requests in flight; try again later');
    if (lag !== null && lag.at(nowMs) > (maxLoopLagMs as number))
      throw overloaded('The gateway is overloaded; try again later');
  };
}

/** Measures how late the event loop is, by a timer that should have run, or that has run too late. */
class LoopLag {
  readonly #clock: Clock;
  readonly #inFlight: () => number;
  #lastMs = 0;
  /** The time at which the timer should run; null: there is no timer. */
  #dueMs: number | null = null;

  constructor(clock: Clock, inFlight: () => number) {
    this.#clock = clock;
    this.#inFlight = inFlight;
  }

  watch(nowMs: number): void {
    if (this.#dueMs !== null) return;
    this.#lastMs = 0;
    this.#start(nowMs);
  }

  at(nowMs: number): number {
    return Math.max(this.#lastMs, nowMs - (this.#dueMs ?? nowMs));
  }

  #start(nowMs: number): void {
    this.#dueMs = nowMs + sampleMs;
    this.#clock.after(sampleMs, () => this.#sample(), { isIdle: true });
  }

  #sample(): void {
    const nowMs = this.#clock.monotonic();
    this.#lastMs = nowMs - (this.#dueMs as number);
    if (this.#inFlight() > 0) this.#start(nowMs);
    else this.#dueMs = null;
  }
}

function overloaded(message: string): GatewayError {
  return new GatewayError('unavailable', message, { retryAfterMs });
}
