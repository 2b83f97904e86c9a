import { LRUCache } from 'lru-cache';
import type { Clock } from '../base/clock.ts';
import type { DataPolicy, Endpoint, Model } from '../call/model.ts';
import { type ListPrices, mayHaveListPrice } from '../pricing/list-prices.ts';
import { type StoreLogger, tell } from '../stores/storage/logger.ts';
import type { CatalogDocument } from './document.ts';
import { fillEndpoint, mergeModels } from './merge.ts';

/** The models there are, at one moment. Never changes: what is planned with it stays true for the request. */
export interface CatalogView {
  /** The model of this slug; one that is not listed but starts with a provider's slug is that provider's. null: unknown. */
  model(slug: string): Model | null;
  /** All that are listed: the host app's, the document's, built-in ones. Endpoints only at providers known here. */
  readonly models: readonly Model[];
}

export interface Catalog {
  /**
   * The models as they are now. A promise only while something has still to be read for the first time: the document,
   * what is built in, or the price of a model that is asked for.
   * @param slugs  those a request asks for; of others the view may not know the price yet
   * @throws GatewayError unavailable (503), also at once: the document was never read, and one of the slugs, without its
   *         suffix, is none of the host app's own
   */
  view(slugs: readonly string[]): CatalogView | Promise<CatalogView>;
  /**
   * Reads the document now.
   * @returns how many of its models are served here; 0 without a document
   * @throws CatalogError naming what is wrong with it
   */
  refresh(): Promise<{ models: number }>;
  /** Gives up what is being read. */
  close(): void;
}

export interface CatalogProvider {
  /** Holds for models that are not listed. */
  dataPolicy: DataPolicy;
  /** true: the host app's own, of which nothing is built in. */
  isOwn?: boolean;
}

/** Where models come from, the most trusted first. */
export interface CatalogSources {
  /** The host app's own. A slug occurs once. */
  models: readonly Model[];
  document?: CatalogDocument | null;
  /** Reads what is built in; null: nothing is. */
  loadBuiltIn?: (() => Promise<readonly Model[]>) | null;
  /** Reads what providers publish; null: nobody does. */
  loadPrices?: (() => Promise<ListPrices>) | null;
  /** All that are known, by slug. */
  providers: ReadonlyMap<string, CatalogProvider>;
  clock: Pick<Clock, 'now'>;
  logger?: StoreLogger | null;
}

/** Some list prices change with the date or the time of day; what was found is believed for so long. */
const datedMs = 60_000;

/** Slugs that callers made up are remembered up to here. */
const maxPassThrough = 1_000;
const maxRememberedLength = 256;

const none: readonly Model[] = [];

/** What all sources say together, for as long as none of them changes. */
interface Merged {
  document: readonly Model[];
  bySlug: ReadonlyMap<string, Model>;
}

export function createCatalog(sources: CatalogSources): Catalog {
  const { models: own, document = null, loadBuiltIn = null, loadPrices = null, providers, clock } = sources;
  const ownSlugs = new Set(own.map(({ slug }) => slug));
  const builtIn = readOnce(loadBuiltIn, [], 'models', sources.logger);
  const prices = readOnce<ListPrices | null>(loadPrices, null, 'prices', sources.logger);
  let known: ReadonlyMap<string, Endpoint> | null = null;
  let merged: Merged | null = null;
  let current: View | null = null;

  function mergedNow(): Merged {
    const listed = document?.models() ?? none;
    if (merged === null || merged.document !== listed) {
      const unnamed = (builtIn.value ?? []).filter(({ slug }) => !isOwnProviders(slug, providers));
      merged = { document: listed, bySlug: mergeModels([own, listed, unnamed]) };
      known ??= endpointsByName(builtIn.value ?? []);
      current = null;
    }
    return merged;
  }

  function viewAt(nowMs: number): View {
    const { bySlug } = mergedNow();
    if (current === null || current.prices !== prices.value || !current.holdsAt(nowMs)) {
      current = createView(bySlug, known as ReadonlyMap<string, Endpoint>, providers, prices.value, nowMs);
    }
    return current;
  }

  /** Whether a price that is not known might be found in the list, which was not read yet. */
  function wantsPrices(slugs: readonly string[]): boolean {
    if (prices.isRead) return false;
    const view = viewAt(clock.now());
    const isUnpriced = (model: Model | null) => model?.endpoints.some(mayBePriced) === true;
    return slugs.some((slug) => {
      const base = withoutSuffixes(slug);
      const model = view.model(slug);
      const baseModel = base === slug ? model : view.model(base);
      // What is no model may be a way to choose one.
      if (model === null && baseModel === null) return view.models.some(isUnpriced);
      return isUnpriced(model) || (base !== slug && isUnpriced(baseModel));
    });
  }

  const isOwn = (slug: string) => ownSlugs.has(slug) || ownSlugs.has(withoutSuffixes(slug));

  /** What has to be known of the document before these slugs are. @throws GatewayError when it is not to be had */
  function awaitDocument(slugs: readonly string[]): Promise<void> | null {
    if (document === null || document.models() !== null) return null;
    const isServed = slugs.every(isOwn);
    if (isServed && document.hasFailed()) return null;
    const reading = document.firstRead();
    if (reading === null && !isServed) throw document.unavailable();
    return reading;
  }

  async function prepare(slugs: readonly string[], reading: Promise<void> | null): Promise<CatalogView> {
    await Promise.all([builtIn.read(), reading]);
    if (document?.models() === null && !slugs.every(isOwn)) throw document.unavailable();
    if (wantsPrices(slugs)) await prices.read();
    return viewAt(clock.now());
  }

  return {
    view(slugs) {
      const nowMs = clock.now();
      document?.refreshIfDue(nowMs);
      const reading = awaitDocument(slugs);
      if (reading !== null || !builtIn.isRead || wantsPrices(slugs)) return prepare(slugs, reading);
      return viewAt(nowMs);
    },
    async refresh() {
      await document?.refresh();
      return { models: document?.models()?.length ?? 0 };
    },
    close: () => document?.close(),
  };
}

interface View extends CatalogView {
  /** Those it was made with. */
  prices: ListPrices | null;
  /** Whether its prices still hold. */
  holdsAt(nowMs: number): boolean;
}

function createView(
  bySlug: ReadonlyMap<string, Model>,
  known: ReadonlyMap<string, Endpoint>,
  providers: ReadonlyMap<string, CatalogProvider>,
  prices: ListPrices | null,
  nowMs: number,
): View {
  const priced = new Map<string, Model>();
  const passed = new LRUCache<string, Model>({ max: maxPassThrough });
  let models: readonly Model[] | null = null;

  const withPrice = (endpoint: Endpoint): Endpoint => {
    if (!mayBePriced(endpoint)) return endpoint;
    const { providerSlug, upstreamModel } = endpoint;
    const pricing = known.get(nameOf(endpoint))?.pricing;
    if (pricing) return { ...endpoint, pricing };
    const found = prices?.find(providerSlug, upstreamModel, nowMs);
    return found ? { ...endpoint, pricing: found } : endpoint;
  };
  const complete = (model: Model): Model =>
    model.endpoints.some(mayBePriced) ? { ...model, endpoints: model.endpoints.map(withPrice) } : model;
  const listed = (model: Model): Model => {
    let found = priced.get(model.slug);
    if (!found) {
      found = complete(model);
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
    get models() {
      models ??= [...bySlug.values()].map(listed);
      return models;
    },
  };
}

/** A list price is that of the usual tier. */
function mayBePriced({ pricing, serviceTier, providerSlug, upstreamModel }: Endpoint): boolean {
  return pricing === null && serviceTier === undefined && mayHaveListPrice(providerSlug, upstreamModel);
}

/** What is built in, by provider and the provider's own name for the model. */
function endpointsByName(models: readonly Model[]): ReadonlyMap<string, Endpoint> {
  return new Map(models.flatMap(({ endpoints }) => endpoints.map((endpoint) => [nameOf(endpoint), endpoint])));
}

function nameOf({ providerSlug, upstreamModel }: Endpoint): string {
  return `${providerSlug} ${upstreamModel}`;
}

/** A model that starts with the slug of the host app's own provider is meant for that one, whatever else has its name. */
function isOwnProviders(slug: string, providers: ReadonlyMap<string, CatalogProvider>): boolean {
  return providers.get(slug.slice(0, slug.indexOf('/')))?.isOwn === true;
}

/** `provider/whatever/the-provider-calls-it`: sent to that provider under the rest of the slug. */
function passThroughModel(
  slug: string,
  known: ReadonlyMap<string, Endpoint>,
  providers: ReadonlyMap<string, CatalogProvider>,
): Model | null {
  const slash = slug.indexOf('/');
  if (slash <= 0 || slash === slug.length - 1) return null;
  const providerSlug = slug.slice(0, slash);
  const provider = providers.get(providerSlug);
  if (!provider) return null;
  const endpoint: Endpoint = {
    modelSlug: slug,
    providerSlug,
    tag: providerSlug,
    upstreamModel: slug.slice(slash + 1),
    pricing: null,
    contextLength: null,
    maxCompletionTokens: null,
    quantization: null,
    supportedParameters: null,
    dataPolicy: provider.dataPolicy,
  };
  const same = known.get(nameOf(endpoint));
  return { slug, name: slug, endpoints: [same ? fillEndpoint(endpoint, same) : endpoint], isPassThrough: true };
}

/** `author/model:nitro` and `author/model:free:online` may ask for `author/model`. */
function withoutSuffixes(slug: string): string {
  const colon = slug.indexOf(':');
  return colon < 0 ? slug : slug.slice(0, colon);
}

/** Reads a value once, when it is first asked for. One that cannot be read is done without. */
function readOnce<T>(
  load: (() => Promise<T>) | null,
  without: T,
  what: string,
  logger: CatalogSources['logger'],
): { readonly isRead: boolean; readonly value: T; read(): Promise<void> } {
  let value = without;
  let isRead = load === null;
  let reading: Promise<void> | null = null;
  return {
    get isRead() {
      return isRead;
    },
    get value() {
      return value;
    },
    read() {
      if (isRead || load === null) return Promise.resolve();
      reading ??= load()
        .then(
          (read) => {
            value = read;
          },
          (error: unknown) =>
            tell(logger, 'warn', { err: error }, `the built-in ${what} cannot be read; they are done without`),
        )
        .then(() => {
          isRead = true;
        });
      return reading;
    },
  };
}
