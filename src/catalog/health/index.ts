import { type Clock, SteadyClock } from '../../base/clock.ts';
import { createFairCache, type FairCache } from '../../base/fair-cache.ts';
import type { HealthView, Percentiles } from '../../call/facts.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import { type CooldownSettings, cooldownSettingsSchema } from '../../schema/settings/settings.ts';
import type { HealthRecords } from '../../stores/health-records.ts';
import type { StoreLogger } from '../../stores/storage/logger.ts';
import { ask, cooldownUntil, coolsDownAfterFailures, endProbe, fail, isTripped, start, succeed } from './cooldown.ts';
import {
  allSeries,
  createEntry,
  type Entry,
  figuresOf,
  hasOutage,
  latencyOf,
  throughputOf,
  uptimeOf,
} from './entry.ts';
import { bucketOf, lowest } from './histogram.ts';
import { cooldownFor, cooldownsOf, coolsDown, endProbes, ownCooldown, succeedFor } from './own-cooldowns.ts';
import { last1d, last5m, last30m, last30s, outcomesIn, record, slotNumber, sum } from './series.ts';
import { createSharing, type Sharing } from './sharing.ts';
import { askFor, failFor, failForAll, isWitnessed } from './witness.ts';

/** The spans for an outage and for the `status`. */
const [outageMs, statusMs] = [30_000, 300_000];
/** The time without a request after which a workspace gives up the places of its keys to others. */
const idleMs = 3_600_000;

/** Facts about one attempt, reported in parts as they become known. */
export interface Observation {
  /** The outcome at the end of the attempt: a stream that starts and then breaks off has failed. `limited`: 429. */
  outcome?: 'ok' | 'failed' | 'limited';
  /** For streams only. */
  firstTokenMs?: number;
  /** Output tokens per second. */
  tokensPerSecond?: number;
  /** true: a failure that no request can provoke, such as a connection that was never made. */
  isProven?: boolean;
}

/**
 * The statistics in the listings. Uptimes are percentages without rate-limited attempts; null: fewer than 5 attempts.
 * Percentiles are up to 19 % off, see `percentile`; null: fewer than 5 values.
 */
export interface EndpointStatistics {
  uptime5m: number | null;
  uptime30m: number | null;
  uptime1d: number | null;
  /** Time to first token, ms. */
  latency30m: Percentiles | null;
  latency1d: Percentiles | null;
  /** Output tokens per second; p90 is the speed that 90 % reach. */
  throughput30m: Percentiles | null;
  throughput1d: Percentiles | null;
  /**
   * - down: the endpoint is in cooldown after failures in a row, or less than half of its attempts in 5 min succeeded
   * - degraded: less than 95 % of these attempts succeeded, or the endpoint has an outage, or is in cooldown for
   *   another reason, or no attempt has yet shown whether the endpoint works again after a cooldown
   * - default: in all other cases, also if nothing is known
   */
  status: 'default' | 'degraded' | 'down';
}

/**
 * The health of endpoints as this gateway sees it, and the cooldowns. Entries are by key (see `healthKey`). Their
 * number is bounded, and fair: a caller may name any number of models, and a workspace may make any number of
 * credentials. The workspace that has most keys makes room with its least recently used one. So no workspace can push
 * out the keys that others use.
 *
 * The `workspaceId` of a method is the workspace of the attempt, where the key is of the operator's credential.
 * Failures of one workspace start a cooldown for that workspace. Failures of two workspaces, or failures that no
 * request can provoke, start one for all. Null, the default: the key is of a workspace's own credential, so every
 * failure counts for all. The `group` is the workspace of the request in either case.
 */
export interface Health {
  view(nowMs: number, workspaceId?: WorkspaceId | null): HealthView;
  /**
   * Begins an attempt. After a cooldown, only one attempt at a time may begin; until it has ended, others do not use
   * the endpoint.
   * @returns false: another attempt, planned at the same time, has already begun
   */
  started(key: string, workspaceId?: WorkspaceId | null): boolean;
  /**
   * Reports the end of an attempt, or more facts about it. An empty observation: the attempt has ended and says nothing
   * about the endpoint.
   */
  observe(key: string, seen: Observation, workspaceId?: WorkspaceId | null, group?: string): void;
  /**
   * Starts a cooldown until `untilMs`; the latest time wins. The cooldown ends early when an attempt that began after
   * this call succeeds.
   */
  coolDown(key: string, untilMs: number, workspaceId?: WorkspaceId | null, group?: string): void;
  /** The `status` is as the workspace sees it. */
  statistics(key: string, nowMs: number, workspaceId?: WorkspaceId | null): EndpointStatistics;
  /** The number of keys in cooldown, for all workspaces or for one. Checks every key. */
  coolingDown(nowMs: number): number;
  /** The keys in cooldown, the first of them. */
  inCooldown(nowMs: number): readonly CoolingDown[];
  /** Sends the latest observations to other instances. Never rejects. */
  close(): Promise<void>;
}

/** A cooldown that is on. */
export interface CoolingDown {
  /** See `healthKey`. */
  key: string;
  /** The only workspace that it is for; null: it is for all. */
  workspaceId: WorkspaceId | null;
  /** Epoch ms. */
  untilMs: number;
}

/** The most cooldowns that are named. */
const mostNamed = 100;

export interface HealthDeps {
  clock: Clock;
  /** Failures after which endpoints get a cooldown. Absent: the defaults of the options. */
  cooldown?: CooldownSettings;
  /** The number of remembered keys, over all workspaces. Default 10,000. */
  maxEndpoints?: number;
  /** null: there are no other instances, or no store that the instances share. */
  sharing?: {
    records: HealthRecords;
    /** A name that no other instance has. Called once, at the first use. */
    instance: () => string;
    logger: StoreLogger | null;
  } | null;
}

const nothingKnown: EndpointStatistics = {
  uptime5m: null,
  uptime30m: null,
  uptime1d: null,
  latency30m: null,
  latency1d: null,
  throughput30m: null,
  throughput1d: null,
  status: 'default',
};

export function createHealth({
  clock: timeOfDay,
  cooldown: settings = cooldownSettingsSchema().parse({}),
  maxEndpoints = 10_000,
  sharing = null,
}: HealthDeps): Health {
  // A steady clock: a cooldown must not last longer when the time of day is set back.
  const clock = new SteadyClock(timeOfDay);
  const shiftMs = () => clock.now() - timeOfDay.now();
  const entries = createFairCache<string, Entry>({ clock, max: maxEndpoints, idleMs });
  let shared: Sharing | null = null;

  /** null: health is not shared. */
  function share(): Sharing | null {
    if (shared === null && sharing !== null) {
      const { records, instance, logger } = sharing;
      shared = createSharing({
        clock,
        records,
        instance: instance(),
        logger,
        entries,
        settings,
      });
    }
    return shared;
  }

  function entryOf(key: string, group: string): Entry {
    const known = entries.getFor(group, key);
    if (known !== undefined) return known;
    const entry = createEntry();
    entries.set(group, key, entry);
    return entry;
  }

  function failed(entry: Entry, nowMs: number, isProven: boolean, workspaceId: WorkspaceId | null): void {
    if (workspaceId === null) {
      entry.provenMs = nowMs;
      fail(entry.cooldown, nowMs, settings);
    } else if (isProven) failForAll(entry, workspaceId, nowMs, settings);
    else failFor(entry, workspaceId, nowMs, settings);
  }

  return {
    view(nowMs, workspaceId = null) {
      share()?.touch();
      return new View(entries, nowMs, shiftMs(), workspaceId);
    },
    started(key, workspaceId = null) {
      const entry = entries.get(key);
      if (entry === undefined) return true;
      const nowMs = clock.now();
      const own = ownCooldown(entry, workspaceId);
      if (own !== undefined && !start(own, nowMs)) return false;
      if (start(entry.cooldown, nowMs)) return true;
      if (own !== undefined) endProbe(own);
      return false;
    },
    observe(key, seen, workspaceId = null, group = workspaceId ?? '') {
      const { outcome, firstTokenMs, tokensPerSecond, isProven = false } = seen;
      const nowMs = clock.now();
      const latencyBucket = bucketOf(firstTokenMs, lowest.firstTokenMs);
      const throughputBucket = bucketOf(tokensPerSecond, lowest.tokensPerSecond);
      if (outcome === undefined && latencyBucket < 0 && throughputBucket < 0) {
        const entry = entries.get(key);
        if (entry !== undefined) endProbes(entry, workspaceId);
        return;
      }
      const entry = entryOf(key, group);
      record(entry.series, nowMs, outcome, latencyBucket, throughputBucket);
      entry.version++;
      if (outcome === 'ok') {
        succeed(entry.cooldown, nowMs);
        if (entry.witnesses !== null) succeedFor(entry, workspaceId, nowMs);
      } else if (outcome === 'failed') failed(entry, nowMs, isProven, workspaceId);
      // A rate limit or a first token does not show whether the endpoint works again: the next attempt may find out.
      else if (outcome === 'limited' || latencyBucket >= 0) endProbes(entry, workspaceId);
      share()?.changed();
    },
    coolDown(key, untilMs, workspaceId = null, group = workspaceId ?? '') {
      const entry = entryOf(key, group);
      const untilSteadyMs = untilMs + shiftMs();
      if (workspaceId === null) ask(entry.cooldown, clock.now(), untilSteadyMs);
      else askFor(entry, workspaceId, clock.now(), untilSteadyMs);
      share()?.changed();
    },
    statistics(key, nowMs, workspaceId = null) {
      share()?.touch();
      const entry = entries.peek(key);
      return entry === undefined ? nothingKnown : statisticsOf(entry, nowMs + shiftMs(), workspaceId);
    },
    coolingDown(nowMs) {
      let count = 0;
      for (const entry of entries.values()) if (coolsDown(entry, nowMs + shiftMs())) count++;
      return count;
    },
    inCooldown(nowMs) {
      const found: CoolingDown[] = [];
      for (const [key, entry] of entries.pairs()) {
        if (found.length >= mostNamed) break;
        for (const { workspaceId, untilMs } of cooldownsOf(entry, nowMs + shiftMs()))
          found.push({ key, workspaceId, untilMs: untilMs - shiftMs() });
      }
      return found;
    },
    close: async () => shared?.close(),
  };
}

/** A plan asks several things about a key one after another, so the view keeps the latest lookup. */
class View implements HealthView {
  readonly #entries: FairCache<string, Entry>;
  /** The difference between the caller's time of day and that of health. */
  readonly #shiftMs: number;
  readonly #nowMs: number;
  readonly #shortSlot: number;
  readonly #slot: number;
  readonly #workspaceId: WorkspaceId | null;
  #last: string | undefined;
  #found: Entry | undefined;

  constructor(entries: FairCache<string, Entry>, atMs: number, shiftMs: number, workspaceId: WorkspaceId | null) {
    const nowMs = atMs + shiftMs;
    this.#entries = entries;
    this.#shiftMs = shiftMs;
    this.#nowMs = nowMs;
    this.#workspaceId = workspaceId;
    this.#shortSlot = slotNumber(last30s, nowMs);
    this.#slot = slotNumber(last5m, nowMs);
  }

  cooldownUntil(key: string): number | undefined {
    const entry = this.#find(key);
    const untilMs = entry === undefined ? undefined : cooldownFor(entry, this.#workspaceId, this.#nowMs);
    return untilMs === undefined ? undefined : untilMs - this.#shiftMs;
  }

  hasOutage(key: string): boolean {
    const entry = this.#find(key);
    return (
      entry !== undefined &&
      hasOutage(entry, this.#nowMs, this.#shortSlot) &&
      isWitnessed(entry, this.#workspaceId, this.#nowMs - outageMs)
    );
  }

  latency(key: string): Percentiles | null {
    const entry = this.#find(key);
    return entry === undefined ? null : figuresOf(entry, this.#nowMs, this.#slot).latency;
  }

  latencyP95(key: string): number | null {
    const entry = this.#find(key);
    return entry === undefined ? null : figuresOf(entry, this.#nowMs, this.#slot).latencyP95;
  }

  throughput(key: string): Percentiles | null {
    const entry = this.#find(key);
    return entry === undefined ? null : figuresOf(entry, this.#nowMs, this.#slot).throughput;
  }

  #find(key: string): Entry | undefined {
    if (key !== this.#last) {
      this.#last = key;
      this.#found = this.#entries.peek(key);
    }
    return this.#found;
  }
}

function statisticsOf(entry: Entry, nowMs: number, workspaceId: WorkspaceId | null): EndpointStatistics {
  const halfHour = sum(allSeries(entry), last30m, nowMs);
  const day = sum(allSeries(entry), last1d, nowMs);
  const uptime5m = uptimeOf(outcomesIn(allSeries(entry), last5m, nowMs));
  return {
    uptime5m,
    uptime30m: uptimeOf(halfHour),
    uptime1d: uptimeOf(day),
    latency30m: latencyOf(halfHour.latency),
    latency1d: latencyOf(day.latency),
    throughput30m: throughputOf(halfHour.throughput),
    throughput1d: throughputOf(day.throughput),
    status: statusOf(entry, isWitnessed(entry, workspaceId, nowMs - statusMs) ? uptime5m : null, nowMs, workspaceId),
  };
}

function statusOf(
  entry: Entry,
  uptime5m: number | null,
  nowMs: number,
  workspaceId: WorkspaceId | null,
): EndpointStatistics['status'] {
  const own = ownCooldown(entry, workspaceId);
  const cooldowns = own === undefined ? [entry.cooldown] : [entry.cooldown, own];
  if (cooldowns.some((one) => coolsDownAfterFailures(one, nowMs)) || (uptime5m ?? 100) < 50) return 'down';
  const isLeftAlone = cooldowns.some((one) => isTripped(one) || cooldownUntil(one, nowMs) !== undefined);
  const isFailing = hasOutage(entry, nowMs) && isWitnessed(entry, workspaceId, nowMs - outageMs);
  return isLeftAlone || (uptime5m ?? 100) < 95 || isFailing ? 'degraded' : 'default';
}
