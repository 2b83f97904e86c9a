import type { DataPolicy, Endpoint, Model } from '../call/model.ts';

/** The models there are, at one moment. Never changes: what is planned with it stays true for the request. */
export interface CatalogView {
  /** The model of this slug; one that is not listed but starts with a provider's slug is that provider's. null: unknown. */
  model(slug: string): Model | null;
  /** All that are listed: the embedder's, the document's, built-in ones. Endpoints only at providers known here. */
  readonly models: readonly Model[];
}

export interface Catalog {
  /**
   * The models as they are now. A promise only while something has still to be read for the first time: the document,
   * what is built in, or the price of a model that is asked for.
   * @param slugs  those a request asks for; of others the view may not know the price yet
   * @throws GatewayError unavailable (503): the document was never read, and one of the slugs is in no other source
   */
  view(slugs: readonly string[]): CatalogView | Promise<CatalogView>;
}

export interface CatalogProvider {
  /** Holds for models that are not listed. */
  dataPolicy: DataPolicy;
}

/** @param providers  all that are known, by slug */
export function createCatalog(models: readonly Model[], providers: ReadonlyMap<string, CatalogProvider>): Catalog {
  const bySlug = new Map(models.map((model) => [model.slug, model]));
  const view: CatalogView = { model: (slug) => bySlug.get(slug) ?? passThroughModel(slug, providers), models };
  return { view: () => view };
}

/** `provider/whatever/the-provider-calls-it`: sent to that provider under the rest of the slug, price unknown. */
function passThroughModel(slug: string, providers: ReadonlyMap<string, CatalogProvider>): Model | null {
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
  return { slug, name: slug, endpoints: [endpoint], isPassThrough: true };
}
