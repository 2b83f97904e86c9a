import { LRUCache } from 'lru-cache';
import type { Clock } from '../base/clock.ts';
import { lazily } from '../base/lazily.ts';
import { isClean } from '../base/text/clean-text.ts';
import type { DataPolicy, Endpoint, Model } from '../call/model.ts';
import { type ListPrices, mayHaveListPrice } from '../pricing/list-prices.ts';
import type { TaskName } from '../schema/tasks.ts';
import type { StoreLogger } from '../stores/storage/logger.ts';
import type { CatalogDocument } from './document.ts';
import { type LateModel, madeOf } from './late-model.ts';
import { listedAs, listedName } from './listed-as.ts';
import { fillEndpoint, mergeModels } from './merge.ts';
import { modelLoads } from './model-loads.ts';
import { aliasesOf, noNames, slugsByName, withoutSuffixes } from './names.ts';
import { readOnce } from './read-once.ts';

/** All models at one moment. A view never changes, so a plan that is made with it stays true for the request. */
export interface CatalogView {
  /**
   * Finds the model of a slug. A slug that is not listed but starts with a provider's slug means a model of that
   * provider.
   * @returns null: unknown
   */
  model(slug: string): Model | null;
  /**
   * The slug for which a further name of a model stands, as the host app or the document defines it; null: the name is
   * unknown.
   */
  aliasOf(name: string): string | null;
  /** The listed models that have this name after their author. For a name with a slash there are none. */
  named(bareName: string): readonly Model[];
  /** All listed models: the host app's, the document's and the built-in ones. Endpoints are only at known providers. */
  readonly models: readonly Model[];
}

export interface Catalog {
  /**
   * The present models. Returns a promise only while a source has still to be read for the first time: the document,
   * the built-in models, the price of a requested model, or the code of a dialect that it may be asked in.
   * @param slugs  the models of a request; the view may not know the prices of other models yet
   * @throws GatewayError unavailable (503), also synchronously: the document was never read, and one of the slugs,
   *         without its suffix, is not a model of the host app. Also rejects where a dialect cannot be loaded
   */
  view(slugs: readonly string[]): CatalogView | Promise<CatalogView>;
  /**
   * Reads the document now.
   * @returns the number of its models that are served here; 0 without a document
   * @throws CatalogError naming the mistakes of the document
   */
  refresh(): Promise<{ models: number }>;
  /** false: there is a document, and it was never read. Begins to read it, if a read is due. */
  isLoaded(): boolean;
  /** Cancels the current read of the document. */
  close(): void;
}

export interface CatalogProvider {
  /** The policy for models that are not listed. */
  dataPolicy: DataPolicy;
  /** true: the host app's own provider. It has no built-in models. */
  isOwn?: boolean;
  /** Slug of the built-in provider that it is another account of. Absent: none. */
  like?: string | undefined;
  /** The tasks that it serves; absent: what is known of a model tells. */
  tasks?: readonly TaskName[] | undefined;
  /** The request fields that never reach a model, by the provider's own name of the model. Absent: none. */
  unsupportedParameters?: (upstreamModel: string) => readonly string[];
  /**
   * Tells whether a model searches the web by itself, by the provider's own name of the model. Absent: no model is
   * known to.
   */
  searchesWeb?: (upstreamModel: string) => boolean;
  /** Loads what the two functions above need. Absent, or without a promise: it is there. */
  load?: () => Promise<void> | undefined;
}

/** The sources of models, the most trusted first. */
export interface CatalogSources {
  /** The host app's own models. A slug occurs once. */
  models: readonly (Model | LateModel)[];
  document?: CatalogDocument | null;
  /** Further names and the slugs for which they stand, in addition to the aliases of the models. */
  aliases?: ReadonlyMap<string, string>;
  /** false: no model is found by its name without the author. Default true. */
  hasBareNames?: boolean;
  /** Reads the built-in models; null: there are none. */
  loadBuiltIn?: (() => Promise<readonly LateModel[]>) | null;
  /** Reads the list prices that providers publish; null: there are none. */
  loadPrices?: (() => Promise<ListPrices>) | null;
  /** All known providers, by slug. */
  providers: ReadonlyMap<string, CatalogProvider>;
  clock: Pick<Clock, 'now'>;
  logger?: StoreLogger | null;
}

/** The time for which a price is used after it was found: some list prices change with the date or the time of day. */
const datedMs = 60_000;

/** The largest number of remembered slugs that are not listed: callers can make up slugs. */
const maxPassThrough = 1_000;
const maxRememberedLength = 256;

const none: readonly Model[] = [];

/** The merged models of all sources. Valid as long as no source changes. */
interface Merged {
  document: readonly Model[];
  bySlug: ReadonlyMap<string, Model | LateModel>;
  aliases: ReadonlyMap<string, string>;
  /** Slugs by the name after the author. */
  byBareName: () => ReadonlyMap<string, readonly string[]>;
}

export function createCatalog(sources: CatalogSources): Catalog {
  const { models: own, document = null, loadBuiltIn = null, loadPrices = null, providers, clock } = sources;
  const ownSlugs = new Set(own.map(({ slug }) => slug));
  const ownAliases = aliasesOf(own, sources.aliases ?? new Map());
  const builtIn = readOnce(loadBuiltIn, [], 'models', sources.logger);
  const prices = readOnce<ListPrices | null>(loadPrices, null, 'prices', sources.logger);
  let known: KnownEndpoints | null = null;
  let merged: Merged | null = null;
  let current: View | null = null;
  const loads = modelLoads(providers);

  function mergedNow(): Merged {
    const listed = document?.models() ?? none;
    if (merged === null || merged.document !== listed) {
      const unnamed = (builtIn.value ?? []).filter(({ slug }) => !isOwnProviders(slug, providers));
      const bySlug = mergeModels([own, listed, unnamed]);
      merged = {
        document: listed,
        bySlug,
        // A name of the document does not take the place of a model.
        aliases: aliasesOf(listed, ownAliases, (name) => bySlug.has(name)),
        byBareName: sources.hasBareNames === false ? noNames : lazily(() => slugsByName(bySlug)),
      };
      known ??= endpointsByName(builtIn.value ?? []);
      current = null;
      loads.changed();
    }
    return merged;
  }

  function viewAt(nowMs: number): View {
    const mergedModels = mergedNow();
    if (current === null || current.prices !== prices.value || !current.holdsAt(nowMs)) {
      current = createView(mergedModels, known as KnownEndpoints, providers, prices.value, nowMs);
    }
    return current;
  }

  /** Tells whether an unknown price might be in the price list, which has not been read yet. */
  function wantsPrices(slugs: readonly string[], view: View): boolean {
    return !prices.isRead && slugs.some((slug) => mayWantPrices(slug, view));
  }

  /** The load of what the models of these slugs are made with; null: it is there. */
  const awaitModels = (slugs: readonly string[]) =>
    loads.isThere(slugs) ? null : loads.begin(slugs, mergedNow(), (known as KnownEndpoints).model);

  const isOwn = (slug: string) => {
    const base = withoutSuffixes(slug);
    const meant = withoutSuffixes(ownAliases.get(slug) ?? ownAliases.get(base) ?? base);
    return ownSlugs.has(slug) || ownSlugs.has(meant);
  };

  /** The read of the document that these slugs need, if any. @throws GatewayError when the document cannot be read */
  function awaitDocument(slugs: readonly string[]): Promise<void> | null {
    if (document === null || document.models() !== null) return null;
    const isServed = slugs.every(isOwn);
    if (isServed && document.hasFailed()) return null;
    const reading = document.firstRead();
    if (reading === null && !isServed) throw document.unavailable();
    return reading;
  }

  async function prepare(slugs: readonly string[], begun: readonly (Promise<unknown> | null)[]): Promise<CatalogView> {
    await Promise.all([builtIn.read(), ...begun]);
    if (document?.models() === null && !slugs.every(isOwn)) throw document.unavailable();
    await awaitModels(slugs);
    if (wantsPrices(slugs, viewAt(clock.now()))) await prices.read();
    return viewAt(clock.now());
  }

  return {
    view(slugs) {
      const nowMs = clock.now();
      document?.refreshIfDue();
      const reading = awaitDocument(slugs);
      if (reading !== null || !builtIn.isRead) return prepare(slugs, [reading]);
      const loading = awaitModels(slugs);
      if (loading !== null) return prepare(slugs, [loading]);
      const view = viewAt(nowMs);
      return wantsPrices(slugs, view) ? prepare(slugs, []) : view;
    },
    async refresh() {
      await document?.refresh();
      return { models: document?.models()?.length ?? 0 };
    },
    isLoaded() {
      document?.refreshIfDue();
      return document?.models() !== null;
    },
    close: () => document?.close(),
  };
}

interface View extends CatalogView {
  /** The list prices that the view was made with. */
  prices: ListPrices | null;
  /** Tells whether the prices of the view are still valid. */
  holdsAt(nowMs: number): boolean;
}

/** Tells whether a model that a slug stands for, itself or without its suffix, has an endpoint without a price. */
function mayWantPrices(slug: string, view: View): boolean {
  const base = withoutSuffixes(slug);
  const meant = view.aliasOf(slug) ?? view.aliasOf(base) ?? slug;
  const meantBase = meant === slug ? base : withoutSuffixes(meant);
  const named = view.model(meant);
  const ofBase = meantBase === meant ? null : view.model(meantBase);
  // A slug that is no model may be a router, which chooses among all models.
  if (named === null && ofBase === null) return view.models.some((model) => isUnpriced(model, view));
  return (named !== null && isUnpriced(named, view)) || (ofBase !== null && isUnpriced(ofBase, view));
}

function isUnpriced({ endpoints, fallbacks }: Model, view: View): boolean {
  if (endpoints.some(mayBePriced)) return true;
  return fallbacks?.some((one) => view.model(withoutSuffixes(one))?.endpoints.some(mayBePriced)) === true;
}

function createView(
  { bySlug, aliases, byBareName }: Merged,
  known: KnownEndpoints,
  providers: ReadonlyMap<string, CatalogProvider>,
  prices: ListPrices | null,
  nowMs: number,
): View {
  const priced = new Map<string, Model>();
  const passed = new LRUCache<string, Model>({ max: maxPassThrough });
  let models: readonly Model[] | null = null;

  const withPrice = (endpoint: Endpoint): Endpoint => {
    if (!mayBePriced(endpoint)) return endpoint;
    const { providerSlug, upstreamModel } = listedAs(endpoint);
    const pricing = known.endpoint(nameOf(endpoint))?.pricing;
    if (pricing) return { ...endpoint, pricing };
    const found = prices?.find(providerSlug, upstreamModel, nowMs);
    return found ? { ...endpoint, pricing: found } : endpoint;
  };
  const complete = (model: Model): Model =>
    model.endpoints.some(mayBePriced) ? { ...model, endpoints: model.endpoints.map(withPrice) } : model;
  const listed = (model: Model | LateModel): Model => {
    let found = priced.get(model.slug);
    if (!found) {
      found = complete(madeOf(model));
      priced.set(model.slug, found);
    }
    return found;
  };

  return {
    prices,
    holdsAt: (atMs) => prices === null || (atMs >= nowMs && atMs < nowMs + datedMs),
    model(slug) {
      const model = bySlug.get(slug);
      if (model) return listed(model);
      const remembered = passed.get(slug);
      if (remembered) return remembered;
      const made = passThroughModel(slug, known, providers);
      if (!made) return null;
      const found = complete(made);
      if (slug.length <= maxRememberedLength) passed.set(slug, found);
      return found;
    },
    aliasOf: (name) => aliases.get(name) ?? null,
    named: (bareName) =>
      bareName.includes('/')
        ? none
        : (byBareName().get(bareName) ?? []).map((slug) => listed(bySlug.get(slug) as Model | LateModel)),
    get models() {
      models ??= [...bySlug.values()].map(listed);
      return models;
    },
  };
}

/** Tells whether a list price may apply: list prices are those of the default service tier. */
function mayBePriced(endpoint: Endpoint): boolean {
  if (endpoint.pricing !== null || endpoint.serviceTier !== undefined) return false;
  const { providerSlug, upstreamModel } = listedAs(endpoint);
  return mayHaveListPrice(providerSlug, upstreamModel);
}

/** Finds a built-in endpoint, or its model, by the name under which lists know it. */
interface KnownEndpoints {
  endpoint(name: string): Endpoint | undefined;
  model(name: string): LateModel | undefined;
}

function endpointsByName(models: readonly LateModel[]): KnownEndpoints {
  const byName = lazily(
    () => new Map(models.flatMap((model) => model.names.map((name, at) => [name, { model, at }] as const))),
  );
  return {
    endpoint(name) {
      const found = byName().get(name);
      return found?.model.make().endpoints[found.at];
    },
    model: (name) => byName().get(name)?.model,
  };
}

function nameOf(endpoint: Endpoint): string {
  return listedName(listedAs(endpoint));
}

/** Tells whether a slug starts with the slug of a provider of the host app. That provider wins over any other model. */
function isOwnProviders(slug: string, providers: ReadonlyMap<string, CatalogProvider>): boolean {
  return providers.get(slug.slice(0, slug.indexOf('/')))?.isOwn === true;
}

/** The model for `provider/whatever/the-provider-calls-it`: the provider gets the part of the slug after its own. */
function passThroughModel(
  slug: string,
  known: KnownEndpoints,
  providers: ReadonlyMap<string, CatalogProvider>,
): Model | null {
  const slash = slug.indexOf('/');
  // Such a slug would be in every log, record and response as it is.
  if (slash <= 0 || slash === slug.length - 1 || !isClean(slug)) return null;
  const providerSlug = slug.slice(0, slash);
  const provider = providers.get(providerSlug);
  if (!provider) return null;
  const upstreamModel = slug.slice(slash + 1);
  const unsupported = provider.unsupportedParameters?.(upstreamModel) ?? [];
  const endpoint: Endpoint = {
    modelSlug: slug,
    providerSlug,
    tag: providerSlug,
    upstreamModel,
    ...(provider.like === undefined ? {} : { listedAs: { providerSlug: provider.like, upstreamModel } }),
    pricing: null,
    contextLength: null,
    maxCompletionTokens: null,
    quantization: null,
    supportedParameters: null,
    ...(unsupported.length > 0 ? { unsupportedParameters: unsupported } : {}),
    ...(provider.searchesWeb?.(upstreamModel) ? { searchesWeb: true } : {}),
    ...(provider.tasks === undefined ? {} : { tasks: provider.tasks }),
    dataPolicy: provider.dataPolicy,
  };
  const same = known.endpoint(nameOf(endpoint));
  return {
    slug,
    name: slug,
    endpoints: [same ? fillEndpoint(endpoint, same) : { ...endpoint, isPassThrough: true }],
    isPassThrough: true,
  };
}
