import { fitsPattern } from '../base/pattern.ts';
import type { Facts } from '../call/facts.ts';
import type { Endpoint, Model } from '../call/model.ts';
import type { ChatRequest } from '../schema/chat.ts';
import { lacks, type Needs } from './needs.ts';
import { averagePrice } from './rank.ts';
import { isFree } from './variant.ts';

/** What a router model chooses from. */
export interface RouterInput {
  models: readonly Model[];
  needs: Needs;
  facts: Facts;
  /** What the request's preferences say of an endpoint. */
  passes: (endpoint: Endpoint, model: Model) => boolean;
}

/** How many models a router names: the one it chose, and fallbacks. */
const maxChosen = 3;

/** `service/free`: models that cost nothing and can do what the request needs, in a random order. */
export function freeModels(input: RouterInput): Model[] {
  const fitting = fittingModels(input, isFree);
  const keys = new Map(fitting.map(({ model }) => [model, input.facts.random()]));
  return fitting
    .map(({ model }) => model)
    .sort((a, b) => (keys.get(a) as number) - (keys.get(b) as number))
    .slice(0, maxChosen);
}

/**
 * Models that write text, with their endpoints that can do what the request needs. Where its preferences leave none, also
 * those they do not let pass: the plan then says of each which preference it was.
 */
function fittingModels({ models, needs, facts, passes }: RouterInput, isWanted: (endpoint: Endpoint) => boolean) {
  const able = models
    .filter(({ outputModalities }) => outputModalities === undefined || outputModalities.includes('text'))
    .map((model) => ({
      model,
      endpoints: reachable(model, facts).filter((one) => isWanted(one) && !lacks(needs, model, one)),
    }))
    .filter(({ endpoints }) => endpoints.length > 0);
  const allowed = able
    .map(({ model, endpoints }) => ({ model, endpoints: endpoints.filter((one) => passes(one, model)) }))
    .filter(({ endpoints }) => endpoints.length > 0);
  return allowed.length > 0 ? allowed : able;
}

/** What the auto router goes by. */
export interface AutoSettings {
  allowedModels: readonly string[] | null;
  /** 0: the best, 10: the cheapest. */
  tradeoff: number;
}

/** The settings a request gives the plugin `auto-router`, or its defaults. */
export function autoSettings({ plugins }: ChatRequest): AutoSettings {
  const given = plugins?.find(({ id, enabled }) => id === 'auto-router' && enabled !== false);
  const { allowed_models = null, cost_quality_tradeoff = 7 } = given?.id === 'auto-router' ? given : {};
  return { allowedModels: allowed_models, tradeoff: cost_quality_tradeoff };
}

/**
 * `service/auto`: the models with the best mix of quality and cost, best first. Quality is what the operator says of a
 * model; of one nobody rated, it is guessed from its price: what is dearer is better, but ever less so. Costs are compared
 * by their order of magnitude, from the cheapest to the dearest there is.
 */
export function autoModels(input: RouterInput, { allowedModels, tradeoff }: AutoSettings): Model[] {
  const models = allowedModels
    ? input.models.filter(({ slug }) => allowedModels.some((pattern) => fitsPattern(pattern, slug)))
    : input.models;
  const priced: { model: Model; price: number }[] = [];
  for (const { model, endpoints } of fittingModels({ ...input, models }, () => true)) {
    const price = cheapest(endpoints);
    if (price !== null) priced.push({ model, price: Math.log10(price + 1) });
  }
  if (priced.length === 0) return [];
  const low = Math.min(...priced.map(({ price }) => price));
  const span = Math.max(...priced.map(({ price }) => price)) - low || 1;
  const weight = tradeoff / 10;
  return priced
    .map(({ model, price }) => {
      const cost = (price - low) / span;
      return { model, score: (1 - weight) * (model.quality ?? Math.sqrt(cost)) - weight * cost };
    })
    .sort((a, b) => b.score - a.score)
    .slice(0, maxChosen)
    .map(({ model }) => model);
}

function cheapest(endpoints: readonly Endpoint[]): number | null {
  let lowest: number | null = null;
  for (const endpoint of endpoints) {
    const price = averagePrice(endpoint);
    if (price !== null && (lowest === null || price < lowest)) lowest = price;
  }
  return lowest;
}

/** Endpoints of a model that the workspace could use, by the operator's credentials or its own. */
export function reachable({ endpoints }: Model, { usableProviders, byokCredentials }: Facts): readonly Endpoint[] {
  return endpoints.filter(
    ({ providerSlug, serviceTier, isDisabled }) =>
      !isDisabled &&
      serviceTier === undefined &&
      (usableProviders.has(providerSlug) || byokCredentials.some(({ provider }) => provider === providerSlug)),
  );
}
