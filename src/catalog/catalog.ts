import type { DataPolicy, Endpoint, Model } from '../call/model.ts';

/** Models by slug. */
export interface Catalog {
  /**
   * The model of this slug; one that is not listed but starts with a provider's slug is that provider's. null: unknown.
   * @param own  providers for which the caller brings a credential: reachable though the operator did not configure them
   */
  model(slug: string, own: ReadonlySet<string>): Model | null;
}

export interface CatalogProvider {
  /** Holds for models that are not listed. */
  dataPolicy: DataPolicy;
  /** true: the operator set it up; others need a credential of the caller's. */
  isConfigured: boolean;
}

/** @param providers  all that are known, by slug */
export function createCatalog(models: readonly Model[], providers: ReadonlyMap<string, CatalogProvider>): Catalog {
  const bySlug = new Map(models.map((model) => [model.slug, model]));
  return { model: (slug, own) => bySlug.get(slug) ?? passThroughModel(slug, providers, own) };
}

/** `provider/whatever/the-provider-calls-it`: sent to that provider under the rest of the slug, price unknown. */
function passThroughModel(
  slug: string,
  providers: ReadonlyMap<string, CatalogProvider>,
  own: ReadonlySet<string>,
): Model | null {
  const slash = slug.indexOf('/');
  if (slash <= 0 || slash === slug.length - 1) return null;
  const providerSlug = slug.slice(0, slash);
  const provider = providers.get(providerSlug);
  if (!provider || !(provider.isConfigured || own.has(providerSlug))) return null;
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
  return { slug, name: slug, endpoints: [endpoint] };
}
