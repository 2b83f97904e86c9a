import type { Percentiles } from '../../call/facts.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import { type Cooldown, createCooldown } from './cooldown.ts';
import { lowest, percentile, percentileReached, percentiles, type Total } from './histogram.ts';
import { createSeries, last5m, last30s, outcomesIn, type Series, slotNumber, slotsOf, sum } from './series.ts';

/** The known facts about a key. */
export interface Entry {
  /** The observations of this instance. */
  series: Series;
  /** The observations of other instances, by instance. A new record replaces the old one, so nothing counts twice. */
  others: Map<string, Series> | null;
  /** The sum of `others`, for the two spans that requests need; null: no others. See `combine`. */
  combined: Series | null;
  /** The cooldown for all workspaces. */
  cooldown: Cooldown;
  /** By workspace: the failures that it met; null: no workspace has met any, or the key belongs to one workspace. */
  witnesses: Map<WorkspaceId, Witness> | null;
  /** Grows with each success and each cooldown. The failures of witnesses then count from zero again. */
  round: number;
  /** The time of the last failure that no request can provoke. */
  provenMs: number;
  /** Grows with every change of `series` and `others`. */
  version: number;
  /** The `version` for which `hasOutage` was computed. */
  outageVersion: number;
  outageSlot: number;
  hasOutage: boolean;
  figures: Figures | null;
}

/**
 * The failures that one workspace has met at an endpoint with the operator's credential. A prompt can provoke most
 * failures. So the failures of one workspace start a cooldown only for that workspace. A cooldown for all workspaces
 * needs the failures of another workspace as well.
 */
export interface Witness {
  /** For this workspace alone. */
  cooldown: Cooldown;
  /** The time of its last failure. */
  failedMs: number;
  /** Its failures since the endpoint last worked for anybody. This instance only. */
  failures: number;
  /** The `round` of the entry that `failures` belongs to. */
  round: number;
}

/** Figures of the last 5 min. */
export interface Figures {
  version: number;
  slot: number;
  atMs: number;
  latency: Percentiles | null;
  latencyP95: number | null;
  throughput: Percentiles | null;
}

/** The fewest values for a percentile or an uptime. */
export const minSamples = 5;
/** The fewest values for a p95: with fewer, it would be the one slow response. */
const minSamplesForP95 = 20;
/** The shortest time between two computations of percentiles. */
const figuresMs = 1_000;
/** The smallest part of failed attempts that is an outage. There must also be at least one failure. */
const outagePart = 0.2;

export function createEntry(): Entry {
  return {
    series: createSeries(),
    others: null,
    combined: null,
    cooldown: createCooldown(),
    witnesses: null,
    round: 0,
    provenMs: -1,
    version: 0,
    outageVersion: -1,
    outageSlot: -1,
    hasOutage: false,
    figures: null,
  };
}

/** The observations of this instance and of the others. */
export function allSeries({ series, others }: Entry): Series[] {
  return others ? [series, ...others.values()] : [series];
}

/** The same for the last 30 s and 5 min only. Takes the same time for any number of other instances. */
function shortSeries({ series, combined }: Entry): Series[] {
  return combined ? [series, combined] : [series];
}

/**
 * Tells whether at least one attempt in the last 30 s failed, and at least a fifth of them. Rate-limited attempts do
 * not count.
 * @param slot  the number of the current slot, so that a caller with many keys computes it once
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
 * The figures of the last 5 min. They are computed at most once a second, and only after a change.
 * @param slot  the number of the current slot, so that a caller with many keys computes it once
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

/** @returns null: too few values */
export function latencyOf(total: Total): Percentiles | null {
  return total.total < minSamples ? null : percentiles(total, lowest.firstTokenMs, percentile);
}

/** @returns null: too few values */
export function throughputOf(total: Total): Percentiles | null {
  return total.total < minSamples ? null : percentiles(total, lowest.tokensPerSecond, percentileReached);
}

/** The uptime in percent. @returns null: too few attempts that were not rate-limited */
export function uptimeOf({ ok, failed }: { ok: number; failed: number }): number | null {
  return ok + failed < minSamples ? null : (ok / (ok + failed)) * 100;
}

/** The number of attempts in the last 5 min that this instance observed. */
export function activityOf({ series }: Entry, nowMs: number): number {
  let attempts = 0;
  for (const { ok, failed, limited } of slotsOf(series, last5m, nowMs)) attempts += ok + failed + limited;
  return attempts;
}
