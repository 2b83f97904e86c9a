import { endpointKey, type HealthView, type Percentiles } from '../call/facts.ts';
import type { Endpoint, Model } from '../call/model.ts';
import type { ProviderPreferences } from '../schema/chat/preferences.ts';
import { lacks, leastPrompt, type Needs } from './needs.ts';
import type { SortBy } from './sort.ts';
import type { Variant } from './variant.ts';

/**
 * An endpoint that passed the filters, with all facts that the plan learns about it. The steps write into this one
 * object: with fifty endpoints, a new object for each step took as long as the steps themselves.
 */
export interface RankedEndpoint {
  readonly endpoint: Endpoint;
  /** The key of the endpoint; see `endpointKey`. */
  readonly key: string;
  readonly model: Model;
  /** The place of the model in the list of requested models. */
  readonly modelIndex: number;
  readonly variants: readonly Variant[];
  /**
   * The sort keys, lower is earlier: `place` is the coarse order, `rank` the strategy's, `tie` decides between equals.
   */
  place: number;
  rank: number;
  tie: number;
  /** The end of the endpoint's cooldown with the operator's credential, epoch ms; undefined: no cooldown. */
  cooldownUntilMs: number | undefined;
  /**
   * The decision of the plan: at least one target, only candidates in cooldown, found down by a health check, or no
   * credential at all.
   */
  outcome: 'no_credential' | 'cooldown' | 'planned' | 'down';
  /** true: the workspace has a BYOK credential for it, but its provider does not get credentials of workspaces. */
  refusesByok: boolean;
  /** The missing part of the workspace's BYOK credential for it; null: no credential lacks a part. */
  byokLacks: string | null;
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
    outcome: 'no_credential',
    refusesByok: false,
    byokLacks: null,
  };
}

export interface RankContext {
  /** By slug: its place in the request's `order`; null: the request gives no order. */
  order: ReadonlyMap<string, number> | null;
  preferences: ProviderPreferences | null;
  needs: Needs;
  health: HealthView;
  random: () => number;
  pinned: (modelSlug: string) => string | null;
}

/** Facts for and against an endpoint. */
export interface Standing {
  /** true: the endpoint is known not to support a need of the request. */
  lacks: boolean;
  /** true: a large share of the latest attempts at the endpoint failed. */
  hasOutage: boolean;
  /** true: the endpoint misses the latency or throughput that the request prefers. */
  isSlow: boolean;
  /** true: the endpoint served the conversation last. */
  isPinned: boolean;
  /** The average price of a token in pico-USD, three prompt tokens to one completion token; null: not known. */
  pricePicoUsd: number | null;
}

/**
 * Puts endpoints in the order in which they are called.
 * - With `order`: the named endpoints in that order, then the others as they are listed.
 * - With a sort: by that sort, without randomness.
 * - Otherwise by the model's own order: as its endpoints are listed, or by weighted random choice. Its weights are those
 *   of the endpoints, or their prices: an endpoint of twice the price is four times less likely to come first. Free
 *   endpoints come before all others. Endpoints of unknown price come after all others, as they are listed. Endpoints
 *   of several models together are chosen by their prices.
 * Without `order`, and not where a model's endpoints are tried as listed, the endpoint that served the conversation
 * last comes first. Three groups come at the end, unless `order` names the endpoint: those slower than preferred, then
 * those that are failing (not with a sort), then those that lack something the request needs.
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
    // A single endpoint needs no random choice and no pin.
    only.cooldownUntilMs = health.cooldownUntil(only.key);
    return entries;
  }
  const isMixed = only?.modelIndex !== entries.at(-1)?.modelIndex;
  let model: Model | null = null;
  let pin: string | null = null;
  for (const entry of entries) {
    if (order === null && entry.model !== model) {
      model = entry.model;
      pin = isSticky(model, sort) ? pinned(model.slug) : null;
    }
    assess(entry, pin, sort, isMixed, context);
  }
  return sorted(entries);
}

/**
 * true: a conversation stays with its endpoint. It does not where endpoints are tried as they are listed: each
 * conversation then begins with the first.
 */
function isSticky(model: Model, sort: SortBy | null): boolean {
  return sort !== null || model.order !== 'listed';
}

/** The most entries that are sorted by insertion. For more, the engine's sort needs fewer steps. */
const maxInserted = 200;

/**
 * Sorts by insertion; equal entries keep their order. The engine's sort makes 900 bytes of garbage for three entries.
 * For fifty entries it takes twice as long, with 280 calls of `compare`.
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

/**
 * @param pin      the endpoint that served the conversation last; null: there is none, or the order overrides it
 * @param isMixed  endpoints of several models are put in one order
 */
function assess(
  entry: RankedEndpoint,
  pin: string | null,
  sort: SortBy | null,
  isMixed: boolean,
  context: RankContext,
): void {
  const { endpoint, key, model } = entry;
  const { needs, health, preferences, order } = context;
  const price = averagePrice(endpoint);
  const hasOutage = health.hasOutage(key);
  entry.cooldownUntilMs = health.cooldownUntil(key);
  entry.rank = rankOf(entry, price, hasOutage, sort, isMixed, context);
  // The cheaper of two endpoints that are equal in a sort comes first.
  entry.tie = order === null && sort !== null ? (price ?? Number.MAX_VALUE) : 0;
  if (order !== null && entry.rank < order.size) {
    // The request's `order` names this endpoint.
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
  entry.place = (isLacking ? 4 + shortfall(needs, endpoint) : 0) + (fails ? 2 : 0) + (isSlow ? 1 : 0);
}

/**
 * Returns the part by which a context is too short, from 0 to 0.5. The largest of several contexts that are all too
 * short for a shortened prompt then comes first.
 */
function shortfall(needs: Needs, { contextLength }: Endpoint): number {
  const least = leastPrompt(needs);
  if (!needs.isShortened || contextLength === null || contextLength >= least) return 0;
  return (1 - contextLength / least) / 2;
}

/** Collects the facts for display; planning itself does not need this object. */
export function standingOf(
  { endpoint, key, model }: RankedEndpoint,
  sort: SortBy | null,
  context: RankContext,
): Standing {
  const { needs, health, preferences, order, pinned } = context;
  return {
    lacks: lacks(needs, model, endpoint),
    hasOutage: health.hasOutage(key),
    isSlow: preferences !== null && missesCutoffs(preferences, key, health),
    isPinned: order === null && isSticky(model, sort) && pinned(model.slug) === key,
    pricePicoUsd: averagePrice(endpoint),
  };
}

export function averagePrice({ pricing }: Endpoint): number | null {
  return pricing && (3 * pricing.promptPicoUsd + pricing.completionPicoUsd) / 4;
}

/** Returns the rank within the strategy; lower is earlier. */
function rankOf(
  { endpoint, key, model }: RankedEndpoint,
  price: number | null,
  hasOutage: boolean,
  sort: SortBy | null,
  isMixed: boolean,
  { order, health, random }: RankContext,
): number {
  if (order !== null) return placeIn(order, endpoint);
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
      if (isMixed || model.order === undefined || model.order === 'price') return priceRank(price, random);
      return endpoint.weight === undefined ? Number.MAX_VALUE : weightedRank(endpoint.weight, random());
  }
}

/** Returns the place of an endpoint in a request's `order`; its size: the order does not name the endpoint. */
export function placeIn(order: ReadonlyMap<string, number>, { tag, providerSlug }: Endpoint): number {
  return Math.min(order.get(tag) ?? order.size, order.get(providerSlug) ?? order.size);
}

/**
 * The weight is one divided by the square of the price. Free endpoints get a negative number and come first. An
 * endpoint of unknown price comes last, because it could have any price.
 */
function priceRank(price: number | null, random: () => number): number {
  if (price === null) return Number.MAX_VALUE;
  const uniform = random();
  return price === 0 ? uniform - 1 : weightedRank(1 / (price * price), uniform);
}

/**
 * Returns an exponential random number, whose rate is the weight. Sorted by these numbers, the entries are in a
 * weighted random order without replacement: each place is a choice by weight among the remaining endpoints.
 */
function weightedRank(weight: number, uniform: number): number {
  return -Math.log(1 - uniform) / weight;
}

/** The harm that a quantization does to tool calls, 0: none. */
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

/**
 * Returns the quality of tool calls, lower is better. Support of tools counts most, then the absence of an outage, then
 * the quantization.
 */
function callingQuality({ supportedParameters, quantization }: Endpoint, hasOutage: boolean): number {
  const calls = supportedParameters === null ? 1 : supportedParameters.includes('tools') ? 0 : 2;
  return calls * 100 + (hasOutage ? 10 : 0) + (coarseness[quantization ?? ''] ?? 1);
}

type Cutoffs = NonNullable<ProviderPreferences['preferred_max_latency']>;

/** true: the endpoint misses a preferred value. A percentile that is not measured counts as met. */
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

/** `measured` is in milliseconds, `preferred` in seconds. */
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
