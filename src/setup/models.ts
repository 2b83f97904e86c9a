import { lazily } from '../base/lazily.ts';
import { parsePrice } from '../base/money.ts';
import { flatText } from '../base/text/flat-text.ts';
import { didYouMean, nearest } from '../base/text/nearest.ts';
import {
  type Endpoint,
  type EndpointOrder,
  type Model,
  type PriceUnit,
  type Pricing,
  priceUnits,
  type TokenPricing,
} from '../call/model.ts';
import { tasksOfModel } from '../call/task.ts';
import { type LateModel, madeOf } from '../catalog/late-model.ts';
import { listedName } from '../catalog/listed-as.ts';
import { refusedBy } from '../catalog/model-facts/index.ts';
import { withCacheWrites } from '../pricing/cache-writes.ts';
import type { Provider } from '../providers/provider.ts';
import { checkNames } from './aliases.ts';
import type { PricingSettings } from './options/endpoint.ts';
import { type ModelSettings, unixSeconds } from './options/model.ts';
import { SettingsError } from './providers.ts';

type EndpointSettings = ModelSettings['endpoints'][number];

/**
 * Makes the host app's models, and checks them against the providers.
 * @param provider  finds a provider that was set up, by slug; null for any other
 * @param slugs     the slugs of the providers that were set up
 * @throws SettingsError
 */
export function configureModels(
  given: readonly ModelSettings[],
  provider: (slug: string) => Provider | null,
  slugs: () => Iterable<string> = () => [],
): readonly Model[] {
  return configureLater(given, provider, slugs).map(madeOf);
}

/** The same; models whose dialects are not loaded yet are checked now, and made at their first use. */
export function configureLater(
  given: readonly ModelSettings[],
  provider: (slug: string) => Provider | null,
  slugs: () => Iterable<string> = () => [],
): readonly (Model | LateModel)[] {
  checkSlugs(given);
  return given.map((model, modelAt) => {
    const order = orderOf(model, modelAt, 'listed');
    const served = model.endpoints.map((endpoint, at) => {
      const found = provider(endpoint.provider);
      if (endpoint.name !== undefined && model.endpoints.findIndex(({ name }) => name === endpoint.name) < at) {
        const path = `models[${modelAt}].endpoints[${at}].name`;
        throw new SettingsError(path, 'expected a name that no other endpoint of the model has');
      }
      if (found) {
        checkOutputPrice(model, endpoint, found, `models[${modelAt}].endpoints[${at}]`);
        return { endpoint, found };
      }
      throw new SettingsError(
        `models[${modelAt}].endpoints[${at}].provider`,
        `expected the slug of a configured provider${didYouMean(nearest(endpoint.provider, slugs()))}`,
      );
    });
    const late = lateModel(model, order, served);
    return served.some(({ found }) => found.dialect.load !== undefined) ? late : late.make();
  });
}

/**
 * Makes the models of a list that many gateways share. Endpoints at providers that are not known here are left out, and
 * so are models without any other endpoint.
 * @param provider  finds a known provider, by slug; null for any other
 * @throws SettingsError for a slug that occurs twice
 */
export function servableModels(
  given: readonly ModelSettings[],
  provider: (slug: string) => Provider | null,
): readonly Model[] {
  return servableLater(given, provider).map(({ make }) => make());
}

/**
 * The same, with models that are made at their first use: of a long list, a process may need few, and to find what each
 * endpoint leaves out takes a tenth of a millisecond.
 */
export function servableLater(
  given: readonly ModelSettings[],
  provider: (slug: string) => Provider | null,
): readonly LateModel[] {
  checkSlugs(given);
  return given.flatMap((model, at) => {
    const served = model.endpoints.flatMap((endpoint) => {
      const found = provider(endpoint.provider);
      return found ? [{ endpoint, found }] : [];
    });
    if (served.length === 0) return [];
    const order = orderOf(model, at, 'price');
    return lateModel(model, order, served);
  });
}

/** An endpoint as it was given, and its provider. */
interface Served {
  endpoint: EndpointSettings;
  found: Provider;
}

function lateModel(model: ModelSettings, order: EndpointOrder | undefined, served: readonly Served[]): LateModel {
  const { aliases, fallbacks } = model;
  return {
    slug: flatText(model.slug),
    names: served.map(({ endpoint, found }) =>
      listedName({ providerSlug: found.like ?? found.slug, upstreamModel: knownNameOf(endpoint) }),
    ),
    providers: served.map(({ found }) => found.slug),
    ...(aliases === undefined ? {} : { aliases }),
    ...(fallbacks === undefined ? {} : { fallbacks }),
    make: lazily(() =>
      modelOf(
        model,
        order,
        served.map(({ endpoint, found }) => endpointOf(model, endpoint, found)),
      ),
    ),
  };
}

/** @throws SettingsError for a price without that of the output, where the model may write */
function checkOutputPrice(
  model: ModelSettings,
  { pricing, tasks }: EndpointSettings,
  provider: Provider,
  path: string,
) {
  if (pricing === undefined || pricing.completion !== undefined) return;
  const known = tasks ?? provider.tasks ?? tasksOfModel(model);
  if (known !== null && !known.includes('chat')) return;
  // A model that makes images alone is sold by them: it writes nothing.
  const { imageOutput, outputImage, outputImages, outputMegapixel } = pricing;
  const isSoldByImages = [imageOutput, outputImage, outputImages, outputMegapixel].some((price) => price !== undefined);
  if (isSoldByImages && model.outputModalities?.includes('text') === false) return;
  throw new SettingsError(
    `${path}.pricing.completion`,
    'expected a price; a model that writes nothing needs none, but its outputModalities or tasks say so',
  );
}

/** Checks that slugs are unique: of two models with one slug, requests could reach only one. */
function checkSlugs(given: readonly ModelSettings[]): void {
  const seen = new Set<string>();
  for (const [at, { slug }] of given.entries()) {
    if (seen.has(slug)) throw new SettingsError(`models[${at}].slug`, 'expected a slug that no other model has');
    seen.add(slug);
  }
  checkNames(given, seen);
}

/** @throws SettingsError for weights that would have no effect */
function orderOf(
  { order, endpoints }: ModelSettings,
  modelAt: number,
  otherwise: 'listed' | 'price',
): EndpointOrder | undefined {
  const weighted = endpoints.findIndex(({ weight }) => weight !== undefined);
  if (order === 'price' && weighted >= 0) {
    throw new SettingsError(
      `models[${modelAt}].endpoints[${weighted}].weight`,
      "expected no weight, or not the model's order: 'price'",
    );
  }
  if (weighted >= 0) return 'weighted';
  return (order ?? otherwise) === 'listed' ? 'listed' : undefined;
}

function modelOf(given: ModelSettings, order: EndpointOrder | undefined, endpoints: readonly Endpoint[]): Model {
  return {
    slug: flatText(given.slug),
    name: given.name ?? given.slug,
    endpoints: named(endpoints),
    order,
    description: given.description,
    created: given.created === undefined ? undefined : (unixSeconds(given.created) ?? undefined),
    contextLength: given.contextLength,
    inputModalities: given.inputModalities,
    outputModalities: given.outputModalities,
    isDistillable: given.distillable,
    family: given.family,
    quality: given.quality,
    codingScore: given.codingScore,
    huggingFaceId: given.huggingFaceId,
    knowledgeCutoff: given.knowledgeCutoff,
    expirationDate: given.expirationDate,
    aliases: given.aliases,
    fallbacks: given.fallbacks,
  };
}

/** Gives names to the endpoints without one that share their tag with another endpoint of the model. */
function named(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const isShared = ({ tag }: Endpoint) => endpoints.filter((other) => other.tag === tag).length > 1;
  return endpoints.map((endpoint) =>
    endpoint.name === undefined && isShared(endpoint)
      ? { ...endpoint, name: flatText(`${endpoint.tag}:${endpoint.upstreamModel}`) }
      : endpoint,
  );
}

/** The request fields that never reach a model, by the provider's name of the model. */
export function unsupportedOf(
  { slug: ownSlug, like: provider = ownSlug, dialect, quirks }: Provider,
  model: string,
  slug = model,
): readonly string[] {
  const ofDialect = dialect.unsupportedParameters?.(quirks, model) ?? [];
  const ofModel = refusedBy(provider, slug, model).filter((name) => !ofDialect.includes(name));
  return ofModel.length === 0 ? ofDialect : [...ofDialect, ...ofModel];
}

/** Tells whether the dialect has a search tool for a model: the dialect leaves the field out for the others. */
export function searchesWeb(provider: Provider, model: string): boolean {
  return provider.dialect.mapsWebSearch === true && !unsupportedOf(provider, model).includes(searchParameter);
}

function supportedOf(given: readonly string[], unsupported: readonly string[], isSearching: boolean): string[] {
  const supported = given.filter((name) => !unsupported.includes(name));
  return isSearching && !supported.includes(searchParameter) ? [...supported, searchParameter] : supported;
}

const searchParameter = 'web_search_options';

function endpointOf(model: ModelSettings, given: EndpointSettings, provider: Provider): Endpoint {
  const { variant } = given;
  const knownName = knownNameOf(given);
  const unsupported = unsupportedOf(provider, knownName, model.slug);
  const isSearching = searchesWeb(provider, knownName);
  const supported = given.supportedParameters ?? model.supportedParameters ?? null;
  return {
    modelSlug: flatText(model.slug),
    providerSlug: provider.slug,
    tag: variant === undefined ? provider.slug : `${provider.slug}/${variant}`,
    ...(given.name === undefined ? {} : { name: given.name }),
    upstreamModel: flatText(given.model),
    ...(provider.like === undefined && given.baseModel === undefined
      ? {}
      : { listedAs: { providerSlug: provider.like ?? provider.slug, upstreamModel: knownName } }),
    pricing: given.pricing ? withCacheWrites(pricingOf(given.pricing), knownName) : null,
    contextLength: given.contextLength ?? null,
    maxPromptTokens: given.maxPromptTokens,
    maxCompletionTokens: given.maxCompletionTokens ?? null,
    quantization: given.quantization ?? null,
    supportedParameters: supported === null ? null : supportedOf(supported, unsupported, isSearching),
    unsupportedParameters: unsupported.length > 0 ? unsupported : undefined,
    ...(isSearching ? { searchesWeb: true } : {}),
    dataPolicy: given.dataPolicy ?? provider.dataPolicy,
    serviceTier: given.serviceTier ?? (variant === 'flex' || variant === 'priority' ? variant : undefined),
    implicitCaching: given.implicitCaching,
    ...tasksOf(given.tasks ?? provider.tasks),
    isDisabled: given.disabled,
    weight: given.weight,
    defaults: model.defaults,
  };
}

/** The provider's name of the model, by which lists know it. */
function knownNameOf({ baseModel, model }: EndpointSettings): string {
  return baseModel ?? model;
}

function tasksOf(tasks: Endpoint['tasks']): Pick<Endpoint, 'tasks'> {
  return tasks === undefined ? {} : { tasks };
}

function pricingOf(given: PricingSettings): Pricing {
  return {
    ...tokenPrices(given),
    promptPicoUsd: pico(given.prompt) ?? 0,
    completionPicoUsd: pico(given.completion) ?? 0,
    ...(given.completion === undefined ? { isInputOnly: true } : {}),
    ...unitPrices(given),
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

/** The options of prices of units other than tokens. */
const unitOptions = {
  search_unit: 'searchUnit',
  image: 'outputImage',
  megapixel: 'outputMegapixel',
  character: 'character',
  second: 'second',
} as const satisfies Record<PriceUnit, keyof PricingSettings>;

function unitPrices(given: PricingSettings): Pick<Pricing, 'unitsPicoUsd' | 'imageVariants'> {
  const unitsPicoUsd: Partial<Record<PriceUnit, number>> = {};
  for (const unit of priceUnits) {
    const price = pico(given[unitOptions[unit]]);
    if (price !== undefined) unitsPicoUsd[unit] = price;
  }
  const variants = given.outputImages?.map(({ size, quality, price }) => ({
    ...(size === undefined ? {} : { size }),
    ...(quality === undefined ? {} : { quality }),
    picoUsd: pico(price) ?? 0,
  }));
  return {
    ...(Object.keys(unitsPicoUsd).length > 0 ? { unitsPicoUsd } : {}),
    ...(variants === undefined || variants.length === 0 ? {} : { imageVariants: variants }),
  };
}

type TokenPrices = Omit<Partial<PricingSettings>, 'prompt' | 'completion' | 'longPrompts'>;

function tokenPrices(given: TokenPrices): Partial<TokenPricing> {
  return {
    cacheReadPicoUsd: pico(given.inputCacheRead),
    cacheWritePicoUsd: pico(given.inputCacheWrite),
    cacheWriteHourPicoUsd: pico(given.inputCacheWrite1h),
    cacheWrite12hPicoUsd: pico(given.inputCacheWrite12h),
    audioPicoUsd: pico(given.audio),
    audioCacheReadPicoUsd: pico(given.inputAudioCache),
    audioOutputPicoUsd: pico(given.audioOutput),
    imageTokenPicoUsd: pico(given.imageToken),
    imageOutputPicoUsd: pico(given.imageOutput),
    reasoningPicoUsd: pico(given.internalReasoning),
  };
}

/** The options were checked, so a given value is a price. */
function pico(price: string | number | undefined): number | undefined {
  return price === undefined ? undefined : (parsePrice(price) ?? undefined);
}
