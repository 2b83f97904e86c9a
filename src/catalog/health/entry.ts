import type { Percentiles } from '../../call/facts.ts';
import { type Cooldown, createCooldown } from './cooldown.ts';
import { lowest, percentile, percentileReached, percentiles, type Total } from './histogram.ts';
import { createSeries, last5m, last30s, outcomesIn, type Series, slotNumber, slotsOf, sum } from './series.ts';

/** What is known of a key. */
export interface Entry {
  /** What was seen here. */
  series: Series;
  /** What other instances saw, by instance: replaced as a whole, so that nothing is counted twice. null: nothing. */
  others: Map<string, Series> | null;
  /** Of the others, added up, the two spans that requests ask of; null: nothing. See `combine`. */
  combined: Series | null;
  cooldown: Cooldown;
  /** Grows with every change of `series` and `others`. */
  version: number;
  /** Since when `hasOutage` holds what it holds. */
  outageVersion: number;
  outageSlot: number;
  hasOutage: boolean;
  figures: Figures | null;
}

/** Of 5 min. */
export interface Figures {
  version: number;
  slot: number;
  atMs: number;
  latency: Percentiles | null;
  latencyP95: number | null;
  throughput: Percentiles | null;
}

/** Of fewer, no percentile and no uptime is told. */
export const minSamples = 5;
/** Of fewer, no p95: one slow answer would be it. */
const minSamplesForP95 = 20;
/** Percentiles are computed anew no more often. */
const figuresMs = 1_000;
/** An outage: at least one failure, and so large a part of what happened. */
const outagePart = 0.2;

export function createEntry(): Entry {
  return {
    series: createSeries(),
    others: null,
    combined: null,
    cooldown: createCooldown(),
    version: 0,
    outageVersion: -1,
    outageSlot: -1,
    hasOutage: false,
    figures: null,
  };
}

/** What was seen here, and what others saw. */
export function allSeries({ series, others }: Entry): Series[] {
  return others ? [series, ...others.values()] : [series];
}

/** The same for the last 30 s and 5 min, of any number of others. */
function shortSeries({ series, combined }: Entry): Series[] {
  return combined ? [series, combined] : [series];
}

/**
 * Whether of the attempts in the last 30 s at least one failed, and at least a fifth. Rate-limited ones are left out.
 * @param slot  the number of the slot in flight, for who asks of many
 */
export function hasOutage(entry: Entry, nowMs: number, slot = slotNumber(last30s, nowMs)): boolean {
  if (entry.outageVersion === entry.version && entry.outageSlot === slot) return entry.hasOutage;
  const { ok, failed } = outcomesIn(shortSeries(entry), last30s, nowMs);
  entry.hasOutage = failed > 0 && failed >= (ok + failed) * outagePart;
  entry.outageVersion = entry.version;
  entry.outageSlot = slot;
  return entry.hasOutage;
}

/**
 * Computed at most once a second, and only after something changed.
 * @param slot  the number of the slot in flight, for who asks of many
 */
export function figuresOf(entry: Entry, nowMs: number, slot = slotNumber(last5m, nowMs)): Figures {
  const { figures, version } = entry;
  if (figures !== null) {
    const ageMs = nowMs - figures.atMs;
    if (figures.version === version && figures.slot === slot) return figures;
    if (ageMs >= 0 && ageMs < figuresMs) return figures;
  }
  const { latency, throughput } = sum(shortSeries(entry), last5m, nowMs);
  entry.figures = {
    version,
    slot,
    atMs: nowMs,
    latency: latencyOf(latency),
    latencyP95: latency.total < minSamplesForP95 ? null : percentile(latency, 95, lowest.firstTokenMs),
    throughput: throughputOf(throughput),
  };
  return entry.figures;
}

/** null: too few. */
export function latencyOf(total: Total): Percentiles | null {
  return total.total < minSamples ? null : percentiles(total, lowest.firstTokenMs, percentile);
}

/** null: too few. */
export function throughputOf(total: Total): Percentiles | null {
  return total.total < minSamples ? null : percentiles(total, lowest.tokensPerSecond, percentileReached);
}

/** Percent; null: too few attempts that were not rate-limited. */
export function uptimeOf({ ok, failed }: { ok: number; failed: number }): number | null {
  return ok + failed < minSamples ? null : (ok / (ok + failed)) * 100;
}

/** How many attempts of the last 5 min were seen here. */
export function activityOf({ series }: Entry, nowMs: number): number {
  let attempts = 0;
  for (const { ok, failed, limited } of slotsOf(series, last5m, nowMs)) attempts += ok + failed + limited;
  return attempts;
}
