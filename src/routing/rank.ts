import { endpointKey, type HealthView, type Percentiles } from '../call/facts.ts';
import type { Endpoint, Model } from '../call/model.ts';
import type { ProviderPreferences } from '../schema/preferences.ts';
import { matchesProvider } from './filter.ts';
import { lacks, type Needs } from './needs.ts';
import type { SortBy } from './sort.ts';
import type { Variant } from './variant.ts';

/** An endpoint that passed the filters. */
export interface Entry {
  endpoint: Endpoint;
  model: Model;
  /** Place of the model among those asked for. */
  modelIndex: number;
  variants: readonly Variant[];
}

export interface RankContext {
  /** null: no order, so the others count. */
  order: readonly string[] | null;
  /** null: the default strategy. */
  sort: SortBy | null;
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
 */
export function rank(entries: readonly Entry[], context: RankContext): readonly Entry[] {
  if (entries.length < 2) return entries;
  // The cheaper of those that a sort holds for equal.
  const tiesByPrice = context.order === null && context.sort !== null;
  const placed = entries.map((entry): Placed => {
    const standing = standingOf(entry, context);
    const key = keyOf(entry, standing, context);
    const tie = tiesByPrice ? (standing.pricePicoUsd ?? Number.MAX_VALUE) : 0;
    return { entry, place: placeOf(standing, key, context), key, tie };
  });
  return placed.sort(compare).map(({ entry }) => entry);
}

/** An entry with what it is ordered by, each worked out once; lower is earlier. */
interface Placed {
  entry: Entry;
  place: number;
  key: number;
  tie: number;
}

/** Equal ones stay as they are: a sort is stable. */
function compare(a: Placed, b: Placed): number {
  return a.place - b.place || a.key - b.key || a.tie - b.tie;
}

export function standingOf({ endpoint, model }: Entry, context: RankContext): Standing {
  const { needs, health, preferences, pinned } = context;
  const key = endpointKey(endpoint);
  return {
    lacks: lacks(needs, model, endpoint),
    hasOutage: health.hasOutage(key),
    isSlow: preferences !== null && missesCutoffs(preferences, key, health),
    isPinned: context.order === null && pinned(model.slug) === key,
    pricePicoUsd: averagePrice(endpoint),
  };
}

export function averagePrice({ pricing }: Endpoint): number | null {
  return pricing && (3 * pricing.promptPicoUsd + pricing.completionPicoUsd) / 4;
}

/** Coarse order, before that of the strategy; lower is earlier. */
function placeOf(standing: Standing, key: number, { order, sort }: RankContext): number {
  // It is one of those named.
  if (order !== null && key < order.length) return -2;
  const fails = standing.hasOutage && sort === null;
  if (standing.isPinned && !standing.lacks && !fails) return -1;
  return (standing.lacks ? 4 : 0) + (fails ? 2 : 0) + (standing.isSlow ? 1 : 0);
}

/** Order of the strategy; lower is earlier. */
function keyOf({ endpoint }: Entry, standing: Standing, { order, sort, health, random }: RankContext): number {
  if (order !== null) return placeIn(order, endpoint);
  switch (sort) {
    case 'price':
      return standing.pricePicoUsd ?? Number.MAX_VALUE;
    case 'throughput':
      return -(health.throughput(endpointKey(endpoint))?.p50 ?? 0);
    case 'latency':
      return health.latency(endpointKey(endpoint))?.p50 ?? Number.MAX_VALUE;
    case 'exacto':
      return callingQuality(endpoint, standing);
    default:
      return waitOf(standing.pricePicoUsd, random);
  }
}

/** Its length for one that it does not name. */
function placeIn(order: readonly string[], endpoint: Endpoint): number {
  for (const [at, slug] of order.entries()) if (matchesProvider(endpoint, slug)) return at;
  return order.length;
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
function callingQuality({ supportedParameters, quantization }: Endpoint, { hasOutage }: Standing): number {
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

function isBelow(measured: Percentiles | null, wished: Cutoffs): boolean {
  if (measured === null) return false;
  if (typeof wished === 'number') return measured.p50 < wished;
  return (
    measured.p50 < (wished.p50 ?? 0) ||
    measured.p75 < (wished.p75 ?? 0) ||
    measured.p90 < (wished.p90 ?? 0) ||
    measured.p99 < (wished.p99 ?? 0)
  );
}

/** Milliseconds against seconds. */
function isAbove(measured: Percentiles | null, wished: Cutoffs): boolean {
  if (measured === null) return false;
  if (typeof wished === 'number') return measured.p50 > wished * 1000;
  const none = Number.POSITIVE_INFINITY;
  return (
    measured.p50 > (wished.p50 ?? none) * 1000 ||
    measured.p75 > (wished.p75 ?? none) * 1000 ||
    measured.p90 > (wished.p90 ?? none) * 1000 ||
    measured.p99 > (wished.p99 ?? none) * 1000
  );
}
