import { parsePrice } from '../base/money.ts';
import type { Endpoint, Model, Pricing, TokenPricing } from '../call/model.ts';
import type { Provider } from '../providers/provider.ts';
import type { ModelSettings, PricingSettings } from './model-options.ts';
import { SettingsError } from './providers.ts';

type EndpointSettings = ModelSettings['endpoints'][number];

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
  return {
    ...tokenPrices(given),
    promptPicoUsd: pico(given.prompt) ?? 0,
    completionPicoUsd: pico(given.completion) ?? 0,
    imagePicoUsd: pico(given.image),
    webSearchPicoUsd: pico(given.webSearch),
    requestPicoUsd: pico(given.request),
    longPrompts: given.longPrompts?.map(({ abovePromptTokens, ...prices }) => ({
      abovePromptTokens,
      ...tokenPrices(prices),
      ...(prices.prompt === undefined ? {} : { promptPicoUsd: pico(prices.prompt) }),
      ...(prices.completion === undefined ? {} : { completionPicoUsd: pico(prices.completion) }),
    })),
  };
}

type TokenPrices = Omit<Partial<PricingSettings>, 'prompt' | 'completion' | 'longPrompts'>;

function tokenPrices(given: TokenPrices): Partial<TokenPricing> {
  return {
    cacheReadPicoUsd: pico(given.inputCacheRead),
    cacheWritePicoUsd: pico(given.inputCacheWrite),
    cacheWriteHourPicoUsd: pico(given.inputCacheWrite1h),
    audioPicoUsd: pico(given.audio),
    audioCacheReadPicoUsd: pico(given.inputAudioCache),
    audioOutputPicoUsd: pico(given.audioOutput),
    imageTokenPicoUsd: pico(given.imageToken),
    imageOutputPicoUsd: pico(given.imageOutput),
    reasoningPicoUsd: pico(given.internalReasoning),
  };
}

/** The options were checked: what is given is a price. */
function pico(price: string | number | undefined): number | undefined {
  return price === undefined ? undefined : (parsePrice(price) ?? undefined);
}
