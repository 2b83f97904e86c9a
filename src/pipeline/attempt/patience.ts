import { healthKey } from '../../call/facts.ts';
import type { Target } from '../../call/plan.ts';
import type { Health } from '../../catalog/health/index.ts';
import type { HedgeSettings } from '../../schema/settings/settings.ts';

/** When a second try is started beside one whose first token is late. */
export interface Hedging {
  /** How long to wait for the first token of a try, in ms; null: it is not hedged. Counts the stream. */
  patienceMs(target: Target, nowMs: number): number | null;
  /** Whether one more stream may be hedged; takes it. */
  take(): boolean;
}

/** Streams that may be hedged in a row after a time without. */
const burst = 10;

/**
 * Waits as long as 95 of 100 first tokens of the endpoint take. When all of them become slow at once, that alone would
 * double the load on providers which have enough to do: only a share of the streams is ever hedged.
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
