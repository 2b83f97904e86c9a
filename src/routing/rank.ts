import { endpointKey, type HealthView, type Percentiles } from '../call/facts.ts';
import type { Endpoint, Model } from '../call/model.ts';
import type { ProviderPreferences } from '../schema/preferences.ts';
import { lacks, type Needs } from './needs.ts';
import type { SortBy } from './sort.ts';
import type { Variant } from './variant.ts';

/**
 * An endpoint that passed the filters, on its way through one plan. What is found out of it is written down here: with
 * fifty of them, an object for each step took as long as the steps.
 */
export interface RankedEndpoint {
  readonly endpoint: Endpoint;
  /** See `endpointKey`. */
  readonly key: string;
  readonly model: Model;
  /** Place of the model among those asked for. */
  readonly modelIndex: number;
  readonly variants: readonly Variant[];
  /** Coarse order, then that of the strategy, then of those that it holds for equal; lower is earlier. */
  place: number;
  rank: number;
  tie: number;
  /** When it has rested, as the operator reaches it, epoch ms; undefined: it need not. */
  cooldownUntilMs: number | undefined;
  /** Whether anybody can reach it, and now. */
  reach: 'nobody' | 'cooldown' | 'tried';
}

export function rankedEndpoint(
  endpoint: Endpoint,
  model: Model,
  modelIndex: number,
  variants: readonly Variant[],
): RankedEndpoint {
  return {
    endpoint,
    key: endpointKey(endpoint),
    model,
    modelIndex,
    variants,
    place: 0,
    rank: 0,
    tie: 0,
    cooldownUntilMs: undefined,
    reach: 'nobody',
  };
}

export interface RankContext {
  /** Slugs to their place; null: no order, so the others count. */
  order: ReadonlyMap<string, number> | null;
  preferences: ProviderPreferences | null;
  needs: Needs;
  health: HealthView;
  random: () => number;
  pinned: (modelSlug: string) => string | null;
}

/** What speaks for and against an endpoint. */
export interface Standing {
  /** It is known not to do what the request needs. */
  lacks: boolean;
  /** A good part of its latest attempts failed. */
  hasOutage: boolean;
  /** It misses the latency or throughput the request would like. */
  isSlow: boolean;
  /** It served the conversation last. */
  isPinned: boolean;
  /** What a token costs on average, in pico-USD: three of the prompt to one of the answer. null: not known. */
  pricePicoUsd: number | null;
}

/**
 * Endpoints in the order in which they are tried.
 * - with `order`: as it says, the others after them as they are listed
 * - with a sort: by it, no draw
 * - else by draw: one of twice the price is four times as unlikely to come first. Free ones come before all others, those
 *   of unknown price after them, as they are listed
 * What the conversation used last comes first. What lacks something comes last; before it what is failing (not where the
 * request says the order), before that what is slower than wished.
 * @param sort  null: the default strategy
 */
export function rank(
  entries: readonly RankedEndpoint[],
  sort: SortBy | null,
  context: RankContext,
): readonly RankedEndpoint[] {
  const { health, order, pinned } = context;
  const [only] = entries;
  if (only !== undefined && entries.length === 1) {
    // Nothing to put in order: nothing is drawn, and nobody asks what the conversation used last.
    only.cooldownUntilMs = health.cooldownUntil(only.key);
    return entries;
  }
  let model: Model | null = null;
  let pin: string | null = null;
  for (const entry of entries) {
    if (order === null && entry.model !== model) {
      model = entry.model;
      pin = pinned(model.slug);
    }
    assess(entry, pin, sort, context);
  }
  return sorted(entries);
}

/** More are left to the engine's sort, which takes fewer steps. */
const maxInserted = 200;

/**
 * Each is put where it belongs among those before it; equal ones stay as they are. The engine's sort makes 900 bytes of
 * garbage for three entries and takes twice as long for fifty, for which it calls back 280 times.
 */
function sorted(entries: readonly RankedEndpoint[]): readonly RankedEndpoint[] {
  if (entries.length > maxInserted) return entries.toSorted(compare);
  const inOrder = entries.slice();
  for (let at = 1; at < inOrder.length; at++) {
    const entry = inOrder[at] as RankedEndpoint;
    let to = at;
    for (; to > 0 && compare(entry, inOrder[to - 1] as RankedEndpoint) < 0; to--)
      inOrder[to] = inOrder[to - 1] as RankedEndpoint;
    inOrder[to] = entry;
  }
  return inOrder;
}

function compare(a: RankedEndpoint, b: RankedEndpoint): number {
  return a.place - b.place || a.rank - b.rank || a.tie - b.tie;
}

/** @param pin  the endpoint that served the conversation last; null: none, or it does not count */
function assess(entry: RankedEndpoint, pin: string | null, sort: SortBy | null, context: RankContext): void {
  const { endpoint, key, model } = entry;
  const { needs, health, preferences, order } = context;
  const price = averagePrice(endpoint);
  const hasOutage = health.hasOutage(key);
  entry.cooldownUntilMs = health.cooldownUntil(key);
  entry.rank = rankOf(entry, price, hasOutage, sort, context);
  // The cheaper of those that a sort holds for equal.
  entry.tie = order === null && sort !== null ? (price ?? Number.MAX_VALUE) : 0;
  if (order !== null && entry.rank < order.size) {
    // It is one of those named.
    entry.place = -2;
    return;
  }
  const isLacking = lacks(needs, model, endpoint);
  const fails = hasOutage && sort === null;
  if (key === pin && !isLacking && !fails) {
    entry.place = -1;
    return;
  }
  const isSlow = preferences !== null && missesCutoffs(preferences, key, health);
  entry.place = (isLacking ? 4 : 0) + (fails ? 2 : 0) + (isSlow ? 1 : 0);
}

/** For whoever wants to know; a plan has no use for it as an object. */
export function standingOf({ endpoint, key, model }: RankedEndpoint, context: RankContext): Standing {
  const { needs, health, preferences, order, pinned } = context;
  return {
    lacks: lacks(needs, model, endpoint),
    hasOutage: health.hasOutage(key),
    isSlow: preferences !== null && missesCutoffs(preferences, key, health),
    isPinned: order === null && pinned(model.slug) === key,
    pricePicoUsd: averagePrice(endpoint),
  };
}

export function averagePrice({ pricing }: Endpoint): number | null {
  return pricing && (3 * pricing.promptPicoUsd + pricing.completionPicoUsd) / 4;
}

/** Order of the strategy; lower is earlier. */
function rankOf(
  { endpoint, key }: RankedEndpoint,
  price: number | null,
  hasOutage: boolean,
  sort: SortBy | null,
  { order, health, random }: RankContext,
): number {
  if (order !== null)
    return Math.min(order.get(endpoint.tag) ?? order.size, order.get(endpoint.providerSlug) ?? order.size);
  switch (sort) {
    case 'price':
      return price ?? Number.MAX_VALUE;
    case 'throughput':
      return -(health.throughput(key)?.p50 ?? 0);
    case 'latency':
      return health.latency(key)?.p50 ?? Number.MAX_VALUE;
    case 'exacto':
      return callingQuality(endpoint, hasOutage);
    default:
      return waitOf(price, random);
  }
}

/**
 * A draw without putting back, in one go: each gets a random time to wait, shorter the likelier it is to come first
 * (exponential, at the rate of its weight), so that the first is drawn by weight, then the next of those that are left.
 * What is free waits for less than no time, and what has no known price, which may be any, the longest.
 */
function waitOf(price: number | null, random: () => number): number {
  if (price === null) return Number.MAX_VALUE;
  const drawn = random();
  return price === 0 ? drawn - 1 : -Math.log(1 - drawn) * price * price;
}

/** How exact the arithmetic is, as far as calling tools suffers from it. */
const coarseness: Readonly<Record<string, number>> = {
  fp32: 0,
  bf16: 0,
  fp16: 0,
  fp8: 2,
  int8: 2,
  fp6: 3,
  fp4: 4,
  int4: 4,
};

/** Lower is better: calls tools at all, does not fail now, and is not cut down much. */
function callingQuality({ supportedParameters, quantization }: Endpoint, hasOutage: boolean): number {
  const calls = supportedParameters === null ? 1 : supportedParameters.includes('tools') ? 0 : 2;
  return calls * 100 + (hasOutage ? 10 : 0) + (coarseness[quantization ?? ''] ?? 1);
}

type Cutoffs = NonNullable<ProviderPreferences['preferred_max_latency']>;

/** All that are given must hold; what is not measured is not held against it. */
function missesCutoffs(preferences: ProviderPreferences, key: string, health: HealthView): boolean {
  const throughput = preferences.preferred_min_throughput ?? null;
  if (throughput !== null && isBelow(health.throughput(key), throughput)) return true;
  const latency = preferences.preferred_max_latency ?? null;
  return latency !== null && isAbove(health.latency(key), latency);
}

function isBelow(measured: Percentiles | null, preferred: Cutoffs): boolean {
  if (measured === null) return false;
  if (typeof preferred === 'number') return measured.p50 < preferred;
  return (
    measured.p50 < (preferred.p50 ?? 0) ||
    measured.p75 < (preferred.p75 ?? 0) ||
    measured.p90 < (preferred.p90 ?? 0) ||
    measured.p99 < (preferred.p99 ?? 0)
  );
}

/** Milliseconds against seconds. */
function isAbove(measured: Percentiles | null, preferred: Cutoffs): boolean {
  if (measured === null) return false;
  if (typeof preferred === 'number') return measured.p50 > preferred * 1000;
  const none = Number.POSITIVE_INFINITY;
  return (
    measured.p50 > (preferred.p50 ?? none) * 1000 ||
    measured.p75 > (preferred.p75 ?? none) * 1000 ||
    measured.p90 > (preferred.p90 ?? none) * 1000 ||
    measured.p99 > (preferred.p99 ?? none) * 1000
  );
}
