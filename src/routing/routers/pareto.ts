import { endpointKey, type Facts } from '../../call/facts.ts';
import type { Model } from '../../call/model.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import type { PipelineStage } from '../../schema/chat/envelope.ts';
import type { RouterSettings } from '../../schema/settings/router.ts';
import { type Rated, rate } from './quality.ts';
import { maxChosen, type RouterInput, reachable } from './routers.ts';

export type Tier = 'low' | 'medium' | 'high';

/** The least coding score of each tier, best first. @see completed facts, section 13 */
const tiers: readonly (readonly [Tier, number])[] = [
  ['high', 0.66],
  ['medium', 0.33],
  ['low', 0],
];

function tierOf(score: number): Tier {
  return tiers.find(([, floor]) => score >= floor)?.[0] ?? 'low';
}

function floorOf(tier: Tier): number {
  return tiers.find(([name]) => name === tier)?.[1] ?? 0;
}

/** Settings of the plugin `pareto-router`. */
export interface ParetoSettings {
  /** The least coding score, 0 to 1; null: the request sets none. */
  minCodingScore: number | null;
}

/** Reads the request's settings of the plugin `pareto-router`. @param defaults  the settings of the host app */
export function paretoSettings({ plugins }: ChatRequest, defaults?: RouterSettings): ParetoSettings {
  const given = plugins?.find(({ id, enabled }) => id === 'pareto-router' && enabled !== false);
  const asked = given?.id === 'pareto-router' ? given.min_coding_score : undefined;
  return { minCodingScore: asked ?? defaults?.minCodingScore ?? null };
}

/** The models that the router chose, and those that it left out. */
export interface ParetoChoice {
  /** The model to call, then its fallbacks; empty: no model is good enough. */
  models: readonly Model[];
  /** The tier that was asked for. */
  tier: Tier;
  /** The least coding score of that tier. */
  floor: number;
  /** The models that were left out, with the reason. */
  left: readonly { model: string; reason: 'tier' | 'dominated' | 'not_needed' }[];
}

/**
 * Returns the models of `service/pareto-code`: the cheapest model of the asked tier or a better one, then up to two
 * more of that model's tier. Models that another one beats at no higher price come after all models on the front.
 * @param isFast  true: the fastest model comes first, instead of the cheapest (`:nitro`)
 * @param pinned  slug of the model that served the conversation last: it stays first while it is a candidate
 */
export function paretoModels(
  input: RouterInput,
  { minCodingScore }: ParetoSettings,
  isFast: boolean,
  pinned: string | null,
): ParetoChoice {
  const tier = minCodingScore === null ? 'high' : tierOf(minCodingScore);
  const floor = floorOf(tier);
  const rated = rate(input, ({ codingScore, quality }) => codingScore ?? quality);
  const front = frontOf(rated);
  const able = rated.filter(({ quality }) => quality >= floor);
  const speeds = isFast ? speedsOf(able, input.facts) : null;
  const inOrder = able.sort(
    (a, b) =>
      Number(front.has(b)) - Number(front.has(a)) ||
      (speeds === null ? 0 : (speeds.get(b) as number) - (speeds.get(a) as number)) ||
      a.pricePicoUsd - b.pricePicoUsd ||
      b.quality - a.quality,
  );
  const first = inOrder.find(({ model }) => model.slug === pinned) ?? inOrder[0];
  const chosen: Rated[] = [];
  if (first !== undefined) {
    const own = tierOf(first.quality);
    chosen.push(first);
    for (const one of inOrder)
      if (chosen.length < maxChosen && one !== first && tierOf(one.quality) === own) chosen.push(one);
  }
  const left = rated
    .filter((one) => !chosen.includes(one))
    .map((one) => {
      const reason = one.quality < floor ? 'tier' : front.has(one) ? 'not_needed' : 'dominated';
      return { model: one.model.slug, reason } as const;
    });
  return { models: chosen.map(({ model }) => model), tier, floor, left };
}

/** Returns the models that no other one beats: neither better at no higher price, nor cheaper and as good. */
function frontOf(rated: readonly Rated[]): ReadonlySet<Rated> {
  const front = new Set<Rated>();
  let best: Rated | null = null;
  for (const one of rated.toSorted((a, b) => a.pricePicoUsd - b.pricePicoUsd || b.quality - a.quality)) {
    const isEqual = best !== null && one.quality === best.quality && one.pricePicoUsd === best.pricePicoUsd;
    if (best !== null && one.quality <= best.quality && !isEqual) continue;
    front.add(one);
    best = one;
  }
  return front;
}

/** Returns the output tokens per second of each model's fastest endpoint; 0: not measured. */
function speedsOf(rated: readonly Rated[], facts: Facts): ReadonlyMap<Rated, number> {
  const speedOf = ({ model }: Rated) =>
    Math.max(0, ...reachable(model, facts).map((one) => facts.health.throughput(endpointKey(one))?.p50 ?? 0));
  return new Map(rated.map((one) => [one, speedOf(one)]));
}

/**
 * The most models left out that are shown. More would make the metadata of a large catalogue longer than its response.
 */
const shownLeft = 20;

/** Makes the stage of `service_metadata.pipeline` with the choice of the router. */
export function paretoStage({ models, tier, left }: ParetoChoice): PipelineStage {
  return {
    type: 'plugin',
    name: 'pareto-router',
    summary: `chose ${models[0]?.slug ?? 'no model'} of tier ${tier} or better`,
    data: {
      tier,
      chosen: models.map(({ slug }) => slug),
      excluded: left.slice(0, shownLeft),
      excluded_count: left.length,
    },
  };
}
