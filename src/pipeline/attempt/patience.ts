import { healthKey } from '../../call/facts.ts';
import type { Target } from '../../call/plan.ts';
import type { Health } from '../../catalog/health/index.ts';
import type { HedgeSettings } from '../../schema/settings/settings.ts';

/** The rules for a second attempt that starts beside one whose first token is late. */
export interface Hedging {
  /** The time to wait for the first token of an attempt, in ms; null: it is not hedged. Counts the stream. */
  patienceMs(target: Target, nowMs: number): number | null;
  /** Takes one of the streams that may be hedged. @returns false: no further one may be */
  take(): boolean;
}

/** Streams that may be hedged in a row after a time without. */
const burst = 10;

/**
 * Waits as long as 95 of 100 first tokens of the endpoint take. When all of them become slow at once, that alone would
 * double the load on providers which have enough to do. So only a share of the streams is ever hedged.
 */
export function createHedging(health: Health, { afterMs, maxShare }: Omit<HedgeSettings, 'enabled'>): Hedging {
  let allowance = 1;
  return {
    patienceMs(target, nowMs) {
      allowance = Math.min(allowance + maxShare, burst);
      return health.view(nowMs).latencyP95(healthKey(target.endpoint, target.credential)) ?? afterMs;
    },
    take() {
      if (allowance < 1) return false;
      allowance -= 1;
      return true;
    },
  };
}
