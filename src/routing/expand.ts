import { GatewayError, isGatewayError } from '../base/errors.ts';
import { cleanName } from '../base/text/clean-text.ts';
import { didYouMean } from '../base/text/nearest.ts';
import type { Model } from '../call/model.ts';
import type { Plan } from '../call/plan.ts';
import { providerWithoutAddress, whyWithoutAddress } from '../providers/without-address.ts';
import type { Expanded, ExpandInput } from './expanded.ts';
import { authorOf, familyOf, newestFirst } from './family.ts';
import { choose, routerOf } from './routers/choose.ts';
import { reachable } from './routers/routers.ts';
import { nearestModels } from './suggest.ts';
import { type PluginVariants, splitSuffix, splitSuffixes, variantOf } from './variant.ts';

/** Returns the strategy that chooses the models of these slugs, also when no plan could be made. */
export function strategyOf(slugs: readonly string[], brand: string): Plan['strategy'] {
  const [slug = ''] = slugs;
  if (slugs.length > 1) return 'fallback';
  if (slug.startsWith('~')) return 'latest';
  return routerOf(slug.replace(/:.*$/s, ''), brand) ?? 'direct';
}

/** Returns the slugs that a catalogue has to look up for a request: the given ones, also without their suffixes. */
export function slugsToKnow(slugs: readonly string[], ofPlugins: PluginVariants): readonly string[] {
  let known: string[] | null = null;
  for (const slug of slugs) {
    for (const { base } of splitSuffixes(slug, ofPlugins)) {
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
  const found = slugs.map((slug) => checkedOne(slug, input, searched));
  const ofFirstSlug = found[0]?.chosen.length ?? 0;
  // A router that is named with several suffixes has one stage.
  const stages = [...new Set(found.flatMap((one) => one.stages ?? []))];
  return {
    chosen: found.flatMap(({ chosen }) => chosen),
    ofFirstSlug,
    strategy: 'fallback',
    params: undefined,
    router: null,
    ...(stages.length > 0 ? { stages } : {}),
  };
}

/** By slug: the models that a search of all models has found. A slug may come several times, with other suffixes. */
type Searched = Map<string, Expanded | null>;

/** @throws GatewayError permission_denied (403) for a model that the caller names and must not use */
function checkedOne(slug: string, input: ExpandInput, searched: Searched | null): Expanded {
  const found = expandOne(slug, input, searched);
  const { mayUseModel } = input.facts;
  // A router chooses among the models that the caller may use.
  if (mayUseModel && found.router === null)
    for (const { model } of found.chosen) if (!mayUseModel(model.slug)) throw modelNotAllowed(slug);
  return found;
}

/** @param isFast  an alias of the slug has the suffix `:nitro` */
function expandOne(
  slug: string,
  input: ExpandInput,
  searched: Searched | null,
  isAlias = false,
  isFast = false,
): Expanded {
  const listed = findListed(slug, input, searched, isAlias, isFast);
  if (listed) return listed;
  const suffixes: string[] = [];
  for (const { base, suffix } of splitSuffixes(slug, input.pluginVariants)) {
    suffixes.push(suffix);
    const found = findListed(base, input, searched, isAlias, isFast || suffixes.includes('nitro'));
    if (found) return withSuffixes(found, suffixes.toReversed(), input);
  }
  // The slug is not in the catalogue, so its suffix may belong to the provider's own model name.
  const found = findPassThrough(slug, input);
  if (found) return found;
  throw unknownModel(slug, input);
}

/** @throws GatewayError invalid_request (400) for a suffix that asks for a plugin, where the request does not name it */
function withSuffixes(
  found: Expanded,
  suffixes: readonly string[],
  { facts, routed: { chat }, pluginVariants }: ExpandInput,
): Expanded {
  for (const suffix of suffixes) {
    const plugin = pluginVariants.get(suffix);
    if (plugin !== undefined && !chat?.plugins?.some(({ id }) => id === plugin))
      throw new GatewayError('invalid_request', `plugin not available: ${plugin}`, { metadata: { plugin } });
  }
  const chosen = found.chosen.map(({ model, variants }) => ({
    model,
    variants: [...variants, ...variantOf(reachable(model, facts), suffixes)],
  }));
  return { ...found, chosen };
}

/** @param isAlias  true: the slug is the target of an alias, and is no alias itself */
function findListed(
  slug: string,
  input: ExpandInput,
  searched: Searched | null,
  isAlias: boolean,
  isFast: boolean,
): Expanded | null {
  const meant = isAlias ? null : input.view.aliasOf(slug);
  if (meant !== null) return aliased(expandOne(meant, input, searched, true, isFast), meant);
  const model = input.view.model(slug);
  if (model && !model.isPassThrough) return direct(model);
  const router = routerOf(slug, input.brand);
  if (router === null && !slug.startsWith('~')) return isAlias ? null : findBareName(slug, input);
  if (router !== null && input.routed.chat === null) throw choosesChat(slug, input.routed);
  // The suffix `:nitro` is the only one that changes the choice of a router, and of one router alone.
  const key = router === 'pareto' && isFast ? `${slug}:nitro` : slug;
  let found = searched?.get(key);
  if (found === undefined) {
    found = router === null ? findLatest(slug, input) : choose(router, slug, input, isFast);
    searched?.set(key, found);
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
 * Adds the fallbacks of the model. A request that names several models names its own fallbacks. The plan leaves out,
 * and lists, a fallback that does not exist or that the caller must not use.
 */
function withFallbacks(found: Expanded, input: ExpandInput): Expanded {
  const { routed, view } = input;
  const slugs = found.chosen[0]?.model.fallbacks;
  if (slugs === undefined || slugs.length === 0 || found.router !== null || found.chosen.length > 1) return found;
  if (routed.preferences?.allow_fallbacks === false || !routed.hasModelFallbacks) return found;
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

/** Finds the newest model of a family: `~author/family-latest`. */
function findLatest(slug: string, { view, facts, pluginVariants }: ExpandInput): Expanded | null {
  const name = /^~([^/]+)\/(.+)-latest$/.exec(slug);
  if (!name) return null;
  const [, author, family] = name;
  const ofFamily = view.models.filter(
    (model) =>
      authorOf(model.slug) === author && familyOf(model) === family && splitSuffix(model.slug, pluginVariants) === null,
  );
  const { mayUseModel } = facts;
  const allowed = mayUseModel ? ofFamily.filter(({ slug: one }) => mayUseModel(one)) : ofFamily;
  // If the caller may use no model of the family, the newest one is taken: the refusal then gives the reason.
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

/** Makes the error of a router that is named for a task for which it chooses no models. */
function choosesChat(slug: string, { task }: ExpandInput['routed']): GatewayError {
  const shown = cleanName(slug, 101);
  const message = `${JSON.stringify(shown)} chooses among models that write, and none of them is for ${task}; name a model for it`;
  return new GatewayError('invalid_request', message, { metadata: { model: shown } });
}

function modelNotAllowed(slug: string): GatewayError {
  const shown = cleanName(slug, 101);
  const message = `${JSON.stringify(shown)} is not among the models that this API key may use`;
  return new GatewayError('permission_denied', message, { metadata: { model: shown } });
}

/** The most candidates that an error shows. More would not make the message clearer. */
const shownCandidates = 10;

function ambiguousName(name: string, models: readonly Model[]): GatewayError {
  const shown = cleanName(name, 101);
  const candidates = models.slice(0, shownCandidates).map(({ slug }) => slug);
  const message = `${JSON.stringify(shown)} may mean ${candidates.join(' or ')}; name one with its author`;
  return new GatewayError('invalid_request', message, { metadata: { model: shown, candidates } });
}

function unknownModel(slug: string, { view, facts, routed }: ExpandInput): GatewayError {
  const shown = cleanName(slug, 101);
  const meant = nearestModels(slug, view, facts, routed.user);
  // The slug begins with a provider that is not set up: its models need no catalogue.
  const listed = meant.length === 0 ? providerWithoutAddress(slug.split('/', 1)[0] as string) : null;
  const why = listed ? `: ${whyWithoutAddress(listed)}, and the operator has set none` : didYouMean(meant);
  return new GatewayError('invalid_request', `${JSON.stringify(shown)} is not a model of this gateway${why}`, {
    metadata: { model: shown, ...(meant.length > 0 ? { did_you_mean: meant } : {}) },
  });
}
