import type { Facts } from '../../call/facts.ts';
import type { Model } from '../../call/model.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import type { Expanded, ExpandInput } from '../expanded.ts';
import { unmetDemand } from '../filter.ts';
import { splitSuffixes, type Variant, variantOf } from '../variant.ts';
import { type AutoSettings, autoModels, autoSettings, autoStage } from './auto.ts';
import { difficultyOf, featuresOf } from './difficulty.ts';
import { paretoModels, paretoSettings, paretoStage } from './pareto.ts';
import { freeModels, maxChosen, type RouterInput, sandboxRule } from './routers.ts';

export type Router = 'auto' | 'free' | 'pareto';

/** The routers, by the name behind the author. */
const routers: ReadonlyMap<string, Router> = new Map([
  ['auto', 'auto'],
  ['free', 'free'],
  ['pareto-code', 'pareto'],
]);

/**
 * Returns the router that a slug without suffixes names: `service/auto`, also under the operator's brand; null: none.
 */
export function routerOf(slug: string, brand: string): Router | null {
  const slash = slug.indexOf('/');
  const author = slug.slice(0, slash);
  if (author !== brand && author !== 'service') return null;
  return routers.get(slug.slice(slash + 1)) ?? null;
}

/** Lets a router choose the models. @param slug  the router's, as the request names it */
export function choose(router: Router, slug: string, input: ExpandInput, isFast: boolean): Expanded {
  const { view, facts, routed } = input;
  const { needs, demands } = routed;
  // `expand` asks no router for another task.
  const request = routed.chat as ChatRequest;
  const settings = router === 'auto' ? autoSettings(request, input.routers) : null;
  const mayServe = sandboxRule(input, settings?.allowedModels ?? null);
  const passes: RouterInput['passes'] = (endpoint, model) =>
    (mayServe === null || mayServe(endpoint)) &&
    facts.imposed?.refuses(endpoint) !== true &&
    (demands === null || unmetDemand(demands, endpoint, model) === null);
  const { mayUseModel } = facts;
  const usable = mayUseModel ? view.models.filter(({ slug: one }) => mayUseModel(one)) : view.models;
  const from: RouterInput = { models: usable, needs, facts, passes };
  // A chosen model may have further endpoints at a sandbox.
  const own: readonly Variant[] = mayServe === null ? [] : [{ rule: ['sandbox', mayServe] }];
  if (router === 'pareto') return choosePareto(slug, from, input, request, own, isFast);
  if (settings !== null) return chooseAuto(slug, from, facts, request, own, settings);
  const models = keepPinned(freeModels(from), slug, facts);
  return {
    chosen: models.map((model) => ({ model, variants: [...variantOf(model.endpoints, ['free']), ...own] })),
    ofFirstSlug: models.length,
    strategy: 'free',
    params: undefined,
    router: slug,
  };
}

function chooseAuto(
  slug: string,
  from: RouterInput,
  facts: Facts,
  request: ChatRequest,
  own: readonly Variant[],
  settings: AutoSettings,
): Expanded {
  const features = facts.difficulty === undefined ? featuresOf(request, from.needs) : null;
  const difficulty = features === null ? (facts.difficulty as number) : difficultyOf(features);
  const choice = autoModels(from, settings, difficulty);
  const models = keepPinned(choice.ranked, slug, facts).slice(0, maxChosen);
  return {
    chosen: models.map((model) => ({ model, variants: own })),
    ofFirstSlug: models.length,
    strategy: 'auto',
    params: { cost_quality_tradeoff: settings.tradeoff },
    router: slug,
    stages: [autoStage(choice, models, difficulty, features && { ...features })],
  };
}

function choosePareto(
  slug: string,
  from: RouterInput,
  { facts, routers }: ExpandInput,
  request: ChatRequest,
  own: readonly Variant[],
  isFast: boolean,
): Expanded {
  const settings = paretoSettings(request, routers);
  const choice = paretoModels(from, settings, isFast, facts.pinned(slug));
  return {
    chosen: choice.models.map((model) => ({ model, variants: own })),
    ofFirstSlug: choice.models.length,
    strategy: 'pareto',
    params: { quality_floor: choice.floor, tier: choice.tier },
    router: slug,
    stages: [paretoStage(choice)],
  };
}

/** Moves the model that the router chose earlier in the conversation to the front, if it is a candidate still. */
function keepPinned(models: readonly Model[], router: string, facts: Facts): readonly Model[] {
  const pinned = facts.pinned(router);
  const at = pinned === null ? -1 : models.findIndex(({ slug }) => slug === pinned);
  return at > 0 ? [models[at] as Model, ...models.toSpliced(at, 1)] : models;
}

/** true: one of the slugs stands for `service/auto`, itself, with suffixes or by an alias. */
export function asksAuto(
  slugs: readonly string[],
  { view, brand, pluginVariants }: Pick<ExpandInput, 'view' | 'brand' | 'pluginVariants'>,
): boolean {
  return slugs.some((slug) => {
    const bases = [slug, ...splitSuffixes(slug, pluginVariants).map(({ base }) => base)];
    return bases.some((base) => routerOf((view.aliasOf(base) ?? base).replace(/:.*$/s, ''), brand) === 'auto');
  });
}
