import { LRUCache } from 'lru-cache';
import type { HealthView, Percentiles } from '../call/facts.ts';

/** What was seen of an attempt, in parts, as they come to be known. */
export interface Observation {
  /** How it went, up to its first token or its whole answer; once more, `failed`, if its stream then broke. `limited`: 429. */
  outcome?: 'ok' | 'failed' | 'limited';
  /** Of a stream. */
  firstTokenMs?: number;
  /** Output tokens per second. */
  tokensPerSecond?: number;
}

/** What the listings show. Percentages of uptime; null: too little is known. */
export interface EndpointStatistics {
  uptime5m: number | null;
  uptime30m: number | null;
  uptime1d: number | null;
  /** Time to first token, ms. */
  latency30m: Percentiles | null;
  /** Output tokens per second. */
  throughput30m: Percentiles | null;
  status: 'default' | 'degraded' | 'down';
}

/**
 * How endpoints are doing, as far as this gateway sees it, and which to leave alone. By rest key (see `restKey`), bounded:
 * what nobody uses is forgotten.
 */
export interface Health {
  view(nowMs: number): HealthView;
  /** An attempt begins. After a cooldown one at a time may: until it has ended, others leave the endpoint alone. */
  started(key: string): void;
  /** An attempt has ended, or more is known of it. Nothing in it: it says nothing of the endpoint, but has ended. */
  observe(key: string, seen: Observation): void;
  /** Leaves an endpoint alone until `untilMs`; a later time wins. */
  rest(key: string, untilMs: number): void;
  statistics(key: string, nowMs: number): EndpointStatistics;
}

export function createHealth(maxEndpoints = 10_000): Health {
  const rests = new LRUCache<string, number>({ max: maxEndpoints });
  return {
    view: (nowMs) => ({
      restsUntil(key) {
        const untilMs = rests.get(key);
        return untilMs !== undefined && untilMs > nowMs ? untilMs : undefined;
      },
      hasOutage: () => false,
      latency: () => null,
      throughput: () => null,
    }),
    started: () => undefined,
    observe(key, { outcome }) {
      if (outcome === 'ok' && rests.size > 0) rests.delete(key);
    },
    rest(key, untilMs) {
      if (untilMs > (rests.get(key) ?? 0)) rests.set(key, untilMs);
    },
    statistics: () => ({
      uptime5m: null,
      uptime30m: null,
      uptime1d: null,
      latency30m: null,
      throughput30m: null,
      status: 'default',
    }),
  };
}
