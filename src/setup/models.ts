import { parsePrice } from '../base/money.ts';
import type { DataPolicy, Endpoint, Model, Pricing } from '../call/model.ts';
import type { Provider } from '../providers/provider.ts';
import { SettingsError } from './providers.ts';

type Price = string | number | undefined;

/** Prices in USD as an embedder gives them: per token, image or request. */
export interface PricingSettings {
  prompt: string | number;
  completion: string | number;
  inputCacheRead?: Price;
  inputCacheWrite?: Price;
  internalReasoning?: Price;
  audio?: Price;
  audioOutput?: Price;
  image?: Price;
  request?: Price;
}

export interface EndpointSettings {
  provider: string;
  model: string;
  variant?: string | undefined;
  pricing?: PricingSettings | undefined;
  contextLength?: number | undefined;
  maxCompletionTokens?: number | undefined;
  quantization?: string | undefined;
  supportedParameters?: readonly string[] | undefined;
  dataPolicy?: DataPolicy | undefined;
}

export interface ModelSettings {
  slug: string;
  name?: string | undefined;
  endpoints: readonly EndpointSettings[];
}

/**
 * The embedder's models, checked against the providers.
 * @param provider  one that was set up, by slug; null for any other
 * @throws SettingsError
 */
export function configureModels(
  given: readonly ModelSettings[],
  provider: (slug: string) => Provider | null,
): readonly Model[] {
  return given.map(({ slug, name = slug, endpoints }, modelAt) => ({
    slug,
    name,
    endpoints: endpoints.map((endpoint, at) => {
      const found = provider(endpoint.provider);
      if (found) return endpointOf(slug, endpoint, found);
      throw new SettingsError(
        `models[${modelAt}].endpoints[${at}].provider`,
        'expected the slug of a configured provider',
      );
    }),
  }));
}

function endpointOf(modelSlug: string, given: EndpointSettings, provider: Provider): Endpoint {
  return {
    modelSlug,
    providerSlug: provider.slug,
    tag: given.variant === undefined ? provider.slug : `${provider.slug}/${given.variant}`,
    upstreamModel: given.model,
    pricing: given.pricing ? pricingOf(given.pricing) : null,
    contextLength: given.contextLength ?? null,
    maxCompletionTokens: given.maxCompletionTokens ?? null,
    quantization: given.quantization ?? null,
    supportedParameters: given.supportedParameters ?? null,
    dataPolicy: given.dataPolicy ?? provider.dataPolicy,
  };
}

function pricingOf(given: PricingSettings): Pricing {
  const pico = (price: Price) => (price === undefined ? undefined : (parsePrice(price) ?? undefined));
  return {
    promptPicoUsd: pico(given.prompt) ?? 0,
    completionPicoUsd: pico(given.completion) ?? 0,
    cacheReadPicoUsd: pico(given.inputCacheRead),
    cacheWritePicoUsd: pico(given.inputCacheWrite),
    reasoningPicoUsd: pico(given.internalReasoning),
    audioPicoUsd: pico(given.audio),
    audioOutputPicoUsd: pico(given.audioOutput),
    imagePicoUsd: pico(given.image),
    requestPicoUsd: pico(given.request),
  };
}
