import { LRUCache } from 'lru-cache';
import type { Clock } from '../base/clock.ts';
import type { HealthView, Percentiles } from '../call/facts.ts';
import { type CooldownSettings, cooldownSettingsSchema } from '../schema/settings.ts';
import type { HealthRecords } from '../stores/health-records.ts';
import type { StoreLogger } from '../stores/storage/logger.ts';
import {
  ask,
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

/** What was seen of an attempt, in parts, as they come to be known. */
export interface Observation {
  /** How it went to its end: an endpoint that speaks and then breaks off is not up. `limited`: 429. */
  outcome?: 'ok' | 'failed' | 'limited';
  /** Of a stream. */
  firstTokenMs?: number;
  /** Output tokens per second. */
  tokensPerSecond?: number;
}

/**
 * What the listings show. Percentages of uptime, without rate-limited attempts; null: fewer than 5 attempts. Percentiles
 * are up to 19 % off, see `percentile`; null: fewer than 5 values.
 */
export interface EndpointStatistics {
  uptime5m: number | null;
  uptime30m: number | null;
  uptime1d: number | null;
  /** Time to first token, ms. */
  latency30m: Percentiles | null;
  latency1d: Percentiles | null;
  /** Output tokens per second; p90 is what 90 % reach. */
  throughput30m: Percentiles | null;
  throughput1d: Percentiles | null;
  /**
   * - down: it rests after failures in a row, or less than half of its attempts in 5 min succeeded
   * - degraded: of these less than 95 % did, or it has an outage, or is left alone for another reason, or nobody has found
   *   out yet whether it is back after a rest
   * - default: anything else, also nothing known
   */
  status: 'default' | 'degraded' | 'down';
}

/**
 * How endpoints are doing, as far as this gateway sees it, and which to leave alone. By health key (see `healthKey`), bounded:
 * what nobody uses is forgotten.
 */
export interface Health {
  view(nowMs: number): HealthView;
  /**
   * An attempt begins. After a cooldown one at a time may: until it has ended, others leave the endpoint alone.
   * @returns false: one that was planned at the same time has begun already
   */
  started(key: string): boolean;
  /** An attempt has ended, or more is known of it. Nothing in it: it says nothing of the endpoint, but has ended. */
  observe(key: string, seen: Observation): void;
  /** Leaves an endpoint alone until `untilMs`; a later time wins. A success of an attempt that begins after this ends it. */
  rest(key: string, untilMs: number): void;
  statistics(key: string, nowMs: number): EndpointStatistics;
  /** Tells other instances what they do not know yet. Never rejects. */
  close(): Promise<void>;
}

export interface HealthDeps {
  clock: Clock;
  /** When endpoints rest after failures; what is absent is by default. */
  cooldown?: Partial<CooldownSettings>;
  /** How many keys are remembered: those used last. Default 10,000. */
  maxEndpoints?: number;
  /** null: there are no other instances, or no store where they could be heard. */
  sharing?: {
    records: HealthRecords;
    /** A name that no other instance has: asked for once, when first used. */
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

  /** null: nothing is shared. */
  function share(): Sharing | null {
    if (shared === null && sharing !== null) {
      const { records, instance, logger } = sharing;
      shared = createSharing({
        clock,
        records,
        instance: instance(),
        logger,
        entries,
        maxCooldownMs: settings.maxCooldownMs,
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

  return {
    view(nowMs) {
      share()?.touch();
      return new View(entries, nowMs);
    },
    started(key) {
      const entry = entries.get(key);
      return entry === undefined || start(entry.cooldown, clock.now());
    },
    observe(key, { outcome, firstTokenMs, tokensPerSecond }) {
      const nowMs = clock.now();
      const latencyBucket = bucketOf(firstTokenMs, lowest.firstTokenMs);
      const throughputBucket = bucketOf(tokensPerSecond, lowest.tokensPerSecond);
      if (outcome === undefined && latencyBucket < 0 && throughputBucket < 0) {
        const entry = entries.get(key);
        if (entry !== undefined) endProbe(entry.cooldown);
        return;
      }
      const entry = entryOf(key);
      record(entry.series, nowMs, outcome, latencyBucket, throughputBucket);
      entry.version++;
      if (outcome === 'ok') succeed(entry.cooldown, nowMs);
      else if (outcome === 'failed') fail(entry.cooldown, nowMs, settings);
      // Of a rate limit, or a first token, nobody learns whether the endpoint is back: the next may find out.
      else if (outcome === 'limited' || latencyBucket >= 0) endProbe(entry.cooldown);
      share()?.changed();
    },
    rest(key, untilMs) {
      ask(entryOf(key).cooldown, clock.now(), untilMs);
      share()?.changed();
    },
    statistics(key, nowMs) {
      share()?.touch();
      const entry = entries.peek(key);
      return entry === undefined ? nothingKnown : statisticsOf(entry, nowMs);
    },
    close: async () => shared?.close(),
  };
}

/** Nothing here has a time to live, so nothing need be checked for it: that took longer than to find it. */
const asItIs = { allowStale: true };

/** A plan asks several things of a key one after another: it is looked up once. */
class View implements HealthView {
  readonly #entries: LRUCache<string, Entry>;
  readonly #nowMs: number;
  readonly #shortSlot: number;
  readonly #slot: number;
  #last: string | undefined;
  #found: Entry | undefined;

  constructor(entries: LRUCache<string, Entry>, nowMs: number) {
    this.#entries = entries;
    this.#nowMs = nowMs;
    this.#shortSlot = slotNumber(last30s, nowMs);
    this.#slot = slotNumber(last5m, nowMs);
  }

  cooldownUntil(key: string): number | undefined {
    const entry = this.#find(key);
    return entry === undefined ? undefined : cooldownUntil(entry.cooldown, this.#nowMs);
  }

  hasOutage(key: string): boolean {
    const entry = this.#find(key);
    return entry !== undefined && hasOutage(entry, this.#nowMs, this.#shortSlot);
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

function statisticsOf(entry: Entry, nowMs: number): EndpointStatistics {
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
    status: statusOf(entry, uptime5m, nowMs),
  };
}

function statusOf(entry: Entry, uptime5m: number | null, nowMs: number): EndpointStatistics['status'] {
  const { cooldown } = entry;
  if (coolsDownAfterFailures(cooldown, nowMs) || (uptime5m ?? 100) < 50) return 'down';
  const isLeftAlone = isTripped(cooldown) || cooldownUntil(cooldown, nowMs) !== undefined;
  return isLeftAlone || (uptime5m ?? 100) < 95 || hasOutage(entry, nowMs) ? 'degraded' : 'default';
}
