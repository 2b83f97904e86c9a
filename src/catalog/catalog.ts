import type { DataPolicy, Endpoint, Model } from '../call/model.ts';

/** Models by slug. */
export interface Catalog {
  /** The model of this slug; one that is not listed but starts with a provider's slug is that provider's. null: unknown. */
  model(slug: string): Model | null;
}

/** @param providers  those configured, by slug: their data policy holds for models that are not listed */
export function createCatalog(models: readonly Model[], providers: ReadonlyMap<string, DataPolicy>): Catalog {
  const bySlug = new Map(models.map((model) => [model.slug, model]));
  return { model: (slug) => bySlug.get(slug) ?? passThroughModel(slug, providers) };
}

/** `provider/whatever/the-provider-calls-it`: sent to that provider under the rest of the slug, price unknown. */
function passThroughModel(slug: string, providers: ReadonlyMap<string, DataPolicy>): Model | null {
  const slash = slug.indexOf('/');
  if (slash <= 0 || slash === slug.length - 1) return null;
  const providerSlug = slug.slice(0, slash);
  const dataPolicy = providers.get(providerSlug);
  if (!dataPolicy) return null;
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
    dataPolicy,
  };
  return { slug, name: slug, endpoints: [endpoint] };
}
