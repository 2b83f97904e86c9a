import { LRUCache } from 'lru-cache';
import type { Clock } from '../base/clock.ts';
import type { HealthView, Percentiles } from '../call/facts.ts';
import type { WorkspaceId } from '../call/workspace.ts';
import { type CooldownSettings, cooldownSettingsSchema } from '../schema/settings.ts';
import type { HealthRecords } from '../stores/health-records.ts';
import type { StoreLogger } from '../stores/storage/logger.ts';
import {
  ask,
  type Cooldown,
  cooldownUntil,
  coolsDownAfterFailures,
  endProbe,
  fail,
  isTripped,
  start,
  succeed,
} from './health/cooldown.ts';
import {
  allSeries,
  createEntry,
  type Entry,
  figuresOf,
  hasOutage,
  latencyOf,
  throughputOf,
  uptimeOf,
} from './health/entry.ts';
import { bucketOf, lowest } from './health/histogram.ts';
import { last1d, last5m, last30m, last30s, outcomesIn, record, slotNumber, sum } from './health/series.ts';
import { createSharing, type Sharing } from './health/sharing.ts';
import { askFor, failFor, failForAll, isWitnessed } from './health/witness.ts';

/** The spans that an outage and the `status` look at. */
const [outageMs, statusMs] = [30_000, 300_000];

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
 * number is bounded: the least recently used keys are forgotten.
 *
 * The `workspaceId` of a method is that of the attempt, where the key is of the operator's credential: what one
 * workspace meets leaves an endpoint alone for that workspace. What two workspaces meet, or what no request can
 * provoke, does so for all. Null, the default: the key is of a workspace's own credential, so that all of it counts.
 */
export interface Health {
  view(nowMs: number, workspaceId?: WorkspaceId | null): HealthView;
  /**
   * To be called when an attempt begins. After a cooldown, only one attempt at a time may begin; until it has ended,
   * others leave the endpoint alone.
   * @returns false: another attempt, planned at the same time, has already begun
   */
  started(key: string, workspaceId?: WorkspaceId | null): boolean;
  /**
   * Reports the end of an attempt, or more facts about it. An empty observation: the attempt has ended and says nothing
   * about the endpoint.
   */
  observe(key: string, seen: Observation, workspaceId?: WorkspaceId | null): void;
  /**
   * Starts a cooldown until `untilMs`; the latest time wins. The cooldown ends early when an attempt that began after
   * this call succeeds.
   */
  coolDown(key: string, untilMs: number, workspaceId?: WorkspaceId | null): void;
  /** The `status` is as the workspace sees it. */
  statistics(key: string, nowMs: number, workspaceId?: WorkspaceId | null): EndpointStatistics;
  /** How many keys are in cooldown, for everybody or for some workspace. Looks at all of them. */
  coolingDown(nowMs: number): number;
  /** Sends the latest observations to other instances. Never rejects. */
  close(): Promise<void>;
}

export interface HealthDeps {
  clock: Clock;
  /** When endpoints get a cooldown after failures. Absent options have their defaults. */
  cooldown?: Partial<CooldownSettings>;
  /** The number of remembered keys: the most recently used stay. Default 10,000. */
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

export function createHealth({ clock, cooldown = {}, maxEndpoints = 10_000, sharing = null }: HealthDeps): Health {
  const settings = cooldownSettingsSchema().parse(cooldown, { jitless: true });
  const entries = new LRUCache<string, Entry>({ max: maxEndpoints });
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

  function entryOf(key: string): Entry {
    const known = entries.get(key);
    if (known !== undefined) return known;
    const entry = createEntry();
    entries.set(key, entry);
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
      return new View(entries, nowMs, workspaceId);
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
    observe(key, { outcome, firstTokenMs, tokensPerSecond, isProven = false }, workspaceId = null) {
      const nowMs = clock.now();
      const latencyBucket = bucketOf(firstTokenMs, lowest.firstTokenMs);
      const throughputBucket = bucketOf(tokensPerSecond, lowest.tokensPerSecond);
      if (outcome === undefined && latencyBucket < 0 && throughputBucket < 0) {
        const entry = entries.get(key);
        if (entry !== undefined) endProbes(entry, workspaceId);
        return;
      }
      const entry = entryOf(key);
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
    coolDown(key, untilMs, workspaceId = null) {
      const entry = entryOf(key);
      if (workspaceId === null) ask(entry.cooldown, clock.now(), untilMs);
      else askFor(entry, workspaceId, clock.now(), untilMs);
      share()?.changed();
    },
    statistics(key, nowMs, workspaceId = null) {
      share()?.touch();
      const entry = entries.peek(key);
      return entry === undefined ? nothingKnown : statisticsOf(entry, nowMs, workspaceId);
    },
    coolingDown(nowMs) {
      let count = 0;
      for (const entry of entries.values()) if (coolsDown(entry, nowMs)) count++;
      return count;
    },
    close: async () => shared?.close(),
  };
}

function ownCooldown({ witnesses }: Entry, workspaceId: WorkspaceId | null): Cooldown | undefined {
  return witnesses === null || workspaceId === null ? undefined : witnesses.get(workspaceId)?.cooldown;
}

/** Whether it does for everybody, or for some workspace. */
function coolsDown({ cooldown, witnesses }: Entry, nowMs: number): boolean {
  if (cooldownUntil(cooldown, nowMs) !== undefined) return true;
  const own = [...(witnesses?.values() ?? [])];
  return own.some((witness) => cooldownUntil(witness.cooldown, nowMs) !== undefined);
}

function endProbes(entry: Entry, workspaceId: WorkspaceId | null): void {
  endProbe(entry.cooldown);
  const own = ownCooldown(entry, workspaceId);
  if (own !== undefined) endProbe(own);
}

function succeedFor(entry: Entry, workspaceId: WorkspaceId | null, nowMs: number): void {
  entry.round++;
  const own = ownCooldown(entry, workspaceId);
  if (own !== undefined) succeed(own, nowMs);
}

/** No entry has a time to live. A check for it would take longer than the lookup itself. */
const asItIs = { allowStale: true };

/** A plan asks several things about a key one after another, so the view keeps the latest lookup. */
class View implements HealthView {
  readonly #entries: LRUCache<string, Entry>;
  readonly #nowMs: number;
  readonly #shortSlot: number;
  readonly #slot: number;
  readonly #workspaceId: WorkspaceId | null;
  #last: string | undefined;
  #found: Entry | undefined;

  constructor(entries: LRUCache<string, Entry>, nowMs: number, workspaceId: WorkspaceId | null) {
    this.#entries = entries;
    this.#nowMs = nowMs;
    this.#workspaceId = workspaceId;
    this.#shortSlot = slotNumber(last30s, nowMs);
    this.#slot = slotNumber(last5m, nowMs);
  }

  cooldownUntil(key: string): number | undefined {
    const entry = this.#find(key);
    return entry === undefined ? undefined : cooldownFor(entry, this.#workspaceId, this.#nowMs);
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
      this.#found = this.#entries.peek(key, asItIs);
    }
    return this.#found;
  }
}

/** @returns when the workspace may use the endpoint again; undefined: now */
function cooldownFor(entry: Entry, workspaceId: WorkspaceId | null, nowMs: number): number | undefined {
  const forAll = cooldownUntil(entry.cooldown, nowMs);
  const own = ownCooldown(entry, workspaceId);
  if (own === undefined) return forAll;
  const forIt = cooldownUntil(own, nowMs);
  return forAll === undefined || (forIt !== undefined && forIt > forAll) ? forIt : forAll;
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
