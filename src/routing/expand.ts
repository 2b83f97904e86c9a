import { cleanName } from '../base/clean-text.ts';
import { GatewayError, isGatewayError } from '../base/errors.ts';
import { didYouMean } from '../base/nearest.ts';
import type { Facts } from '../call/facts.ts';
import type { Model } from '../call/model.ts';
import type { Plan } from '../call/plan.ts';
import type { CatalogView } from '../catalog/catalog.ts';
import { providerWithoutAddress, whyWithoutAddress } from '../providers/without-address.ts';
import type { ChatRequest } from '../schema/chat.ts';
import { authorOf, familyOf, newestFirst } from './family.ts';
import { demandsOf, unmetDemand } from './filter.ts';
import type { Needs } from './needs.ts';
import { autoModels, autoSettings, freeModels, type RouterInput, reachable, sandboxRule } from './routers.ts';
import { nearestModels } from './suggest.ts';
import { splitSuffix, splitSuffixes, type Variant, variantOf } from './variant.ts';

/** A model that may serve, with the effects of its slug's suffixes. */
export interface ChosenModel {
  model: Model;
  variants: readonly Variant[];
}

/** The models that a request's slugs stand for. */
export interface Expanded {
  /** In the order in which the models are called. */
  chosen: readonly ChosenModel[];
  /** How many of them the first slug stands for; the others are fallbacks. */
  ofFirstSlug: number;
  strategy: Plan['strategy'];
  /** What a router or an alias based its decision on; the metadata shows it. */
  params: Plan['params'];
  /** Fallbacks of the model that do not exist. */
  unknownFallbacks?: readonly string[];
  /** The slug of the router that chose. Sticky routing keeps its choice for the conversation. */
  router: string | null;
}

export interface ExpandInput {
  request: ChatRequest;
  view: CatalogView;
  facts: Facts;
  needs: Needs;
  /** A second author name of the router models, besides `service`. */
  brand: string;
  /** Whether the operator has set a provider up. */
  isConfigured: (providerSlug: string) => boolean;
  /** Whether no model writes the responses of a provider. */
  isSandbox: (providerSlug: string) => boolean;
  /** The operator has set up no provider but sandboxes. */
  hasOnlySandboxes: boolean;
}

/** Returns a request's slugs in order, each once: `model`, then `models`; the default model when both are absent. */
export function namedSlugs({ model, models }: ChatRequest, defaultModel: string | null): string[] {
  const slugs = model === undefined ? [] : [model];
  if (models !== undefined && models.length > 0) {
    const named = new Set(slugs);
    for (const slug of models) if (named.size < named.add(slug).size) slugs.push(slug);
  }
  if (slugs.length === 0 && defaultModel !== null) slugs.push(defaultModel);
  return slugs;
}

/** Like `namedSlugs`. @throws GatewayError invalid_request (400) when there is no slug */
export function requestedSlugs(request: ChatRequest, defaultModel: string | null): string[] {
  const slugs = namedSlugs(request, defaultModel);
  if (slugs.length === 0) {
    throw new GatewayError('invalid_request', 'model: no model was named and there is no default model', {
      metadata: { issues: [{ path: 'model', message: 'expected a model slug, such as "sandbox/echo"' }] },
    });
  }
  return slugs;
}

/** Returns how models are chosen for these slugs, also when no plan could be made. */
export function strategyOf(slugs: readonly string[], brand: string): Plan['strategy'] {
  const [slug = ''] = slugs;
  if (slugs.length > 1) return 'fallback';
  if (slug.startsWith('~')) return 'latest';
  return routerOf(slug.replace(/:.*$/s, ''), brand) ?? 'direct';
}

type Router = 'auto' | 'free';

/**
 * Returns the router that a slug without suffixes names: `service/auto`, also under the operator's brand; null: none.
 */
function routerOf(slug: string, brand: string): Router | null {
  const slash = slug.indexOf('/');
  const author = slug.slice(0, slash);
  if (author !== brand && author !== 'service') return null;
  const router = slug.slice(slash + 1);
  return router === 'auto' || router === 'free' ? router : null;
}

/** Returns the slugs that a catalogue has to look up for a request: the given ones, also without their suffixes. */
export function slugsToKnow(slugs: readonly string[]): readonly string[] {
  let known: string[] | null = null;
  for (const slug of slugs) {
    for (const { base } of splitSuffixes(slug)) {
      known ??= [...slugs];
      known.push(base);
    }
  }
  return known ?? slugs;
}

/**
 * Finds the models of each slug.
 * @throws GatewayError invalid_request (400) naming the first slug that does not exist
 */
export function expandModels(slugs: readonly string[], input: ExpandInput): Expanded {
  const [only] = slugs;
  if (only !== undefined && slugs.length === 1) return withFallbacks(checkedOne(only, input, null), input);
  const searched: Searched = new Map();
  const bySlug = slugs.map((slug) => checkedOne(slug, input, searched).chosen);
  const ofFirstSlug = bySlug[0]?.length ?? 0;
  return { chosen: bySlug.flat(), ofFirstSlug, strategy: 'fallback', params: undefined, router: null };
}

/** By slug, what a search of all models has found. A slug may come several times, with other suffixes. */
type Searched = Map<string, Expanded | null>;

/** @throws GatewayError permission_denied (403) for a model that the caller names and must not use */
function checkedOne(slug: string, input: ExpandInput, searched: Searched | null): Expanded {
  const found = expandOne(slug, input, searched);
  const { mayUseModel } = input.facts;
  // A router chooses among what the caller may use.
  if (mayUseModel && found.router === null)
    for (const { model } of found.chosen) if (!mayUseModel(model.slug)) throw modelNotAllowed(slug);
  return found;
}

function expandOne(slug: string, input: ExpandInput, searched: Searched | null, isAlias = false): Expanded {
  const listed = findListed(slug, input, searched, isAlias);
  if (listed) return listed;
  const suffixes: string[] = [];
  for (const { base, suffix } of splitSuffixes(slug)) {
    suffixes.push(suffix);
    const found = findListed(base, input, searched, isAlias);
    if (found) return withSuffixes(found, suffixes.toReversed(), input);
  }
  // The slug is not in the catalogue, so its suffix may belong to the provider's own model name.
  const found = findPassThrough(slug, input);
  if (found) return found;
  throw unknownModel(slug, input);
}

function withSuffixes(found: Expanded, suffixes: readonly string[], { facts }: ExpandInput): Expanded {
  const plugin = variantOf([], suffixes).find((variant) => variant.plugin)?.plugin;
  if (plugin) throw new GatewayError('invalid_request', `plugin not available: ${plugin}`, { metadata: { plugin } });
  const chosen = found.chosen.map(({ model, variants }) => ({
    model,
    variants: [...variants, ...variantOf(reachable(model, facts), suffixes)],
  }));
  return { ...found, chosen };
}

/** @param isAlias  the slug is what an alias stands for: it is no alias itself */
function findListed(slug: string, input: ExpandInput, searched: Searched | null, isAlias: boolean): Expanded | null {
  const meant = isAlias ? null : input.view.aliasOf(slug);
  if (meant !== null) return aliased(expandOne(meant, input, searched, true), meant);
  const model = input.view.model(slug);
  if (model && !model.isPassThrough) return direct(model);
  const router = routerOf(slug, input.brand);
  if (router === null && !slug.startsWith('~')) return isAlias ? null : findBareName(slug, input);
  let found = searched?.get(slug);
  if (found === undefined) {
    found = router === null ? findLatest(slug, input) : choose(router, slug, input);
    searched?.set(slug, found);
  }
  return found;
}

function aliased(found: Expanded, slug: string): Expanded {
  return { ...found, strategy: 'alias', params: { ...found.params, alias_of: slug } };
}

/**
 * Finds the model that a name without an author means. Models that the caller cannot come to do not make a name
 * ambiguous.
 * @throws GatewayError invalid_request (400) where several models have the name
 */
function findBareName(name: string, { view, facts }: ExpandInput): Expanded | null {
  const known = view.named(name);
  if (known.length === 0) return null;
  const usable = known.filter(
    (model) => facts.mayUseModel?.(model.slug) !== false && reachable(model, facts).length > 0,
  );
  if (usable.length > 1) throw ambiguousName(name, usable);
  const [model = known.length === 1 ? known[0] : undefined] = usable;
  return model === undefined ? null : aliased(direct(model), model.slug);
}

/**
 * Adds the fallbacks of the model. A request that names several models has said what its fallbacks are.
 * A fallback that does not exist, or that the caller must not use, is left out by the plan, which says so.
 */
function withFallbacks(found: Expanded, input: ExpandInput): Expanded {
  const { request, view } = input;
  const slugs = found.chosen[0]?.model.fallbacks;
  if (slugs === undefined || slugs.length === 0 || found.router !== null || found.chosen.length > 1) return found;
  if (request.provider?.allow_fallbacks === false) return found;
  const searched: Searched = new Map();
  const unknown: string[] = [];
  const chosen = [...found.chosen];
  for (const slug of slugs) {
    const meant = view.aliasOf(slug) ?? slug;
    const fallback = tryExpand(meant, input, searched);
    if (fallback === null) unknown.push(slug);
    else chosen.push(...fallback.chosen);
  }
  return {
    ...found,
    chosen,
    strategy: 'fallback',
    params: { ...found.params, fallbacks: [...slugs] },
    ...(unknown.length === 0 ? {} : { unknownFallbacks: unknown }),
  };
}

/** @returns null: there is no such model */
function tryExpand(slug: string, input: ExpandInput, searched: Searched): Expanded | null {
  try {
    return expandOne(slug, input, searched, true);
  } catch (error) {
    if (isGatewayError(error) && error.kind === 'invalid_request') return null;
    throw error;
  }
}

/** Finds a model that is not in the catalogue; its provider must be set up, or the workspace must have a credential. */
function findPassThrough(slug: string, { view, facts, isConfigured }: ExpandInput): Expanded | null {
  const model = view.model(slug);
  if (!model) return null;
  const provider = model.endpoints[0]?.providerSlug ?? '';
  return isConfigured(provider) || facts.byokCredentials.some((own) => own.provider === provider)
    ? direct(model)
    : null;
}

function direct(model: Model): Expanded {
  return { chosen: [{ model, variants: [] }], ofFirstSlug: 1, strategy: 'direct', params: undefined, router: null };
}

/** `~author/family-latest` */
function findLatest(slug: string, { view, facts }: ExpandInput): Expanded | null {
  const name = /^~([^/]+)\/(.+)-latest$/.exec(slug);
  if (!name) return null;
  const [, author, family] = name;
  const ofFamily = view.models.filter(
    (model) => authorOf(model.slug) === author && familyOf(model) === family && splitSuffix(model.slug) === null,
  );
  const { mayUseModel } = facts;
  const allowed = mayUseModel ? ofFamily.filter(({ slug: one }) => mayUseModel(one)) : ofFamily;
  // Of a family that the caller may use nothing of, the newest: the refusal then says why.
  const members = allowed.length > 0 ? allowed : ofFamily;
  const [newest] = newestFirst(members.filter((model) => reachable(model, facts).length > 0));
  const model = newest ?? newestFirst(members)[0];
  if (!model) return null;
  return {
    chosen: [{ model, variants: [] }],
    ofFirstSlug: 1,
    strategy: 'latest',
    params: { version_group: `${author}/${family}` },
    router: null,
  };
}

/** Lets a router choose the models. @param slug  the router's, as the request names it */
function choose(router: Router, slug: string, input: ExpandInput): Expanded {
  const { view, facts, request, needs } = input;
  const settings = router === 'auto' ? autoSettings(request) : null;
  const mayServe = sandboxRule(input, settings?.allowedModels ?? null);
  const demands = demandsOf(request);
  const passes: RouterInput['passes'] = (endpoint, model) =>
    (mayServe === null || mayServe(endpoint)) && (demands === null || unmetDemand(demands, endpoint, model) === null);
  const { mayUseModel } = facts;
  const usable = mayUseModel ? view.models.filter(({ slug: one }) => mayUseModel(one)) : view.models;
  const from: RouterInput = { models: usable, needs, facts, passes };
  const models = keepPinned(settings === null ? freeModels(from) : autoModels(from, settings), slug, facts);
  // A chosen model may have further endpoints at a sandbox.
  const own: readonly Variant[] = mayServe === null ? [] : [{ rule: ['sandbox', mayServe] }];
  return {
    chosen: models.map((model) => ({
      model,
      variants: settings === null ? [...variantOf(model.endpoints, ['free']), ...own] : own,
    })),
    ofFirstSlug: models.length,
    strategy: router,
    params: settings === null ? undefined : { cost_quality_tradeoff: settings.tradeoff },
    router: slug,
  };
}

/**
 * Moves the model that the router chose earlier in the conversation to the front, if the router still chooses it now.
 */
function keepPinned(models: Model[], router: string, facts: Facts): Model[] {
  const pinned = facts.pinned(router);
  const at = pinned === null ? -1 : models.findIndex(({ slug }) => slug === pinned);
  return at > 0 ? [models[at] as Model, ...models.toSpliced(at, 1)] : models;
}

function modelNotAllowed(slug: string): GatewayError {
  const shown = cleanName(slug, 101);
  const message = `${JSON.stringify(shown)} is not among the models that this API key may use`;
  return new GatewayError('permission_denied', message, { metadata: { model: shown } });
}

/** More would make the message no clearer. */
const shownCandidates = 10;

function ambiguousName(name: string, models: readonly Model[]): GatewayError {
  const shown = cleanName(name, 101);
  const candidates = models.slice(0, shownCandidates).map(({ slug }) => slug);
  const message = `${JSON.stringify(shown)} may mean ${candidates.join(' or ')}; name one with its author`;
  return new GatewayError('invalid_request', message, { metadata: { model: shown, candidates } });
}

function unknownModel(slug: string, { view, facts, request }: ExpandInput): GatewayError {
  const shown = cleanName(slug, 101);
  const meant = nearestModels(slug, view, facts, request);
  // Only a slug that begins with a provider which is not set up gets here: its models need no catalogue.
  const listed = meant.length === 0 ? providerWithoutAddress(slug.split('/', 1)[0] as string) : null;
  const why = listed ? `: ${whyWithoutAddress(listed)}, and the operator has set none` : didYouMean(meant);
  return new GatewayError('invalid_request', `${JSON.stringify(shown)} is not a model of this gateway${why}`, {
    metadata: { model: shown, ...(meant.length > 0 ? { did_you_mean: meant } : {}) },
  });
}
