import type { Endpoint, Model } from '../call/model.ts';
import type { Provider } from '../providers/provider.ts';

/** Models by slug, and the providers that serve them. */
export interface Catalog {
  /** The model of this slug; one that is not listed but starts with a provider's slug is that provider's. null: unknown. */
  model(slug: string): Model | null;
  provider(slug: string): Provider | null;
}

export function createCatalog(models: readonly Model[], providers: readonly Provider[]): Catalog {
  const bySlug = new Map(models.map((model) => [model.slug, model]));
  const byProvider = new Map(providers.map((provider) => [provider.slug, provider]));
  return {
    model: (slug) => bySlug.get(slug) ?? passThroughModel(slug, byProvider),
    provider: (slug) => byProvider.get(slug) ?? null,
  };
}

/** `provider/whatever/the-provider-calls-it`: sent to that provider under the rest of the slug, price unknown. */
function passThroughModel(slug: string, providers: ReadonlyMap<string, Provider>): Model | null {
  const slash = slug.indexOf('/');
  if (slash <= 0 || slash === slug.length - 1) return null;
  const provider = providers.get(slug.slice(0, slash));
  if (!provider) return null;
  const endpoint: Endpoint = {
    modelSlug: slug,
    providerSlug: provider.slug,
    tag: provider.slug,
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
