import { GatewayError } from '../base/errors.ts';
import type { Facts } from '../call/facts.ts';
import type { Model } from '../call/model.ts';
import type { Plan } from '../call/plan.ts';
import type { CatalogView } from '../catalog/catalog.ts';
import type { ChatRequest } from '../schema/chat.ts';
import { authorOf, familyOf, newestFirst } from './family.ts';
import { demandsOf, unmetDemand } from './filter.ts';
import type { Needs } from './needs.ts';
import { autoModels, autoSettings, freeModels, type RouterInput, reachable, sandboxRule } from './routers.ts';
import { splitSuffix, type Variant, variantOf } from './variant.ts';

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
  for (const slug of models ?? []) if (!slugs.includes(slug)) slugs.push(slug);
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
  return routerOf(slug, brand) ?? 'direct';
}

/** Returns the router that a slug names, suffixes ignored; null: the slug names no router. */
function routerOf(slug: string, brand: string): 'auto' | 'free' | null {
  const [, author, router] = /^([^/]+)\/(auto|free)(?::|$)/.exec(slug) ?? [];
  if (author !== brand && author !== 'service') return null;
  return (router as 'auto' | 'free' | undefined) ?? null;
}

/** Returns the slugs that a catalogue has to look up for a request: the given ones, also without their suffixes. */
export function slugsToKnow(slugs: readonly string[]): readonly string[] {
  let known: string[] | null = null;
  for (const slug of slugs) {
    for (let split = splitSuffix(slug); split; split = splitSuffix(split.base)) {
      known ??= [...slugs];
      known.push(split.base);
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
  if (only !== undefined && slugs.length === 1) return expandOne(only, input);
  const bySlug = slugs.map((slug) => expandOne(slug, input).chosen);
  const ofFirstSlug = bySlug[0]?.length ?? 0;
  return { chosen: bySlug.flat(), ofFirstSlug, strategy: 'fallback', params: undefined, router: null };
}

function expandOne(slug: string, input: ExpandInput): Expanded {
  const suffixes: string[] = [];
  for (let base = slug; ; ) {
    const found = findListed(base, input);
    if (found) return withSuffixes(found, suffixes, input);
    const split = splitSuffix(base);
    if (!split) break;
    suffixes.unshift(split.suffix);
    base = split.base;
  }
  // The slug is not in the catalogue, so its suffix may belong to the provider's own model name.
  const found = findPassThrough(slug, input);
  if (found) return found;
  throw unknownModel(slug);
}

function withSuffixes(found: Expanded, suffixes: readonly string[], { facts }: ExpandInput): Expanded {
  if (suffixes.length === 0) return found;
  const plugin = variantOf([], suffixes).find((variant) => variant.plugin)?.plugin;
  if (plugin) throw new GatewayError('invalid_request', `plugin not available: ${plugin}`, { metadata: { plugin } });
  const chosen = found.chosen.map(({ model, variants }) => ({
    model,
    variants: [...variants, ...variantOf(reachable(model, facts), suffixes)],
  }));
  return { ...found, chosen };
}

function findListed(slug: string, input: ExpandInput): Expanded | null {
  const model = input.view.model(slug);
  if (model && !model.isPassThrough) return direct(model);
  return slug.startsWith('~') ? findLatest(slug, input) : findRouter(slug, input);
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
  const members = view.models.filter(
    (model) => authorOf(model.slug) === author && familyOf(model) === family && splitSuffix(model.slug) === null,
  );
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

/** `service/auto` and `service/free`, also under the operator's brand. */
function findRouter(slug: string, input: ExpandInput): Expanded | null {
  const { view, facts, request, needs, brand } = input;
  const slash = slug.indexOf('/');
  const author = slug.slice(0, slash);
  if (author !== brand && author !== 'service') return null;
  const router = slug.slice(slash + 1);
  if (router !== 'auto' && router !== 'free') return null;
  const settings = router === 'auto' ? autoSettings(request) : null;
  const mayServe = sandboxRule(input, settings?.allowedModels ?? null);
  const demands = demandsOf(request);
  const passes: RouterInput['passes'] = (endpoint, model) =>
    (mayServe === null || mayServe(endpoint)) && (demands === null || unmetDemand(demands, endpoint, model) === null);
  const from: RouterInput = { models: view.models, needs, facts, passes };
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

function unknownModel(slug: string): GatewayError {
  const shown = slug.length > 100 ? `${slug.slice(0, 100)}…` : slug;
  return new GatewayError('invalid_request', `${JSON.stringify(shown)} is not a model of this gateway`, {
    metadata: { model: shown },
  });
}
