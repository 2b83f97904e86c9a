import { parsePrice } from '../base/money.ts';
import type { Ask } from '../call/ask.ts';
import type { Endpoint, Model } from '../call/model.ts';
import type { ChatRequest } from '../schema/chat/chat.ts';
import type { ProviderPreferences } from '../schema/chat/preferences.ts';
import { supportsAll } from './needs.ts';

/** The preferences that can remove an endpoint, in the order of checking. `metadata.excluded` shows these names. */
export const preferenceFilters = [
  'only',
  'ignore',
  'zdr',
  'data_collection',
  'enforce_distillable_text',
  'quantizations',
  'require_parameters',
  'max_price',
  'allow_fallbacks',
] as const;

export type PreferenceFilter = (typeof preferenceFilters)[number];

/** The demands of a request's preferences on endpoints, read once for all endpoints. null: no demand of that kind. */
export interface Demands {
  only: ReadonlySet<string> | null;
  ignore: ReadonlySet<string> | null;
  keepsNothing: boolean;
  collectsNothing: boolean;
  /** true: the provider has to search the web by itself. */
  searchesWeb: boolean;
  isDistillable: boolean;
  quantizations: readonly string[] | null;
  /** Request fields that the endpoint has to support. */
  parameters: readonly string[] | null;
  /** All request fields that are set. An endpoint at which one of them never reaches the provider does not serve. */
  fields: readonly string[] | null;
  /** Kinds of output that the model has to make. */
  modalities: readonly string[] | null;
  maxPrice: PriceLimits | null;
  /** The slugs of `order`, where the request allows no fallbacks to other endpoints. */
  ordered: ReadonlySet<string> | null;
}

/** @returns null: the request demands nothing */
export function demandsOf({
  request,
  searchesNatively: searchesWeb,
}: Pick<Ask, 'request' | 'searchesNatively'>): Demands | null {
  const preferences = request.provider ?? (searchesWeb ? {} : null);
  if (!preferences) return null;
  const demands = demandsIn(preferences);
  demands.searchesWeb = searchesWeb;
  if (preferences.require_parameters === true) {
    demands.parameters = requiredParameters(request);
    demands.fields = setFields(request);
    demands.modalities = request.modalities?.length ? request.modalities : null;
  }
  return demands;
}

/**
 * Returns the demands of a request for another task than chat.
 * @param parameters  the request fields that an endpoint has to support, where the preferences ask for that
 * @returns null: the request demands nothing
 */
export function demandsOfTask(preferences: ProviderPreferences | null, parameters: readonly string[]): Demands | null {
  const demands = preferences === null ? null : demandsIn(preferences);
  if (demands === null || preferences?.require_parameters !== true || parameters.length === 0) return demands;
  return { ...demands, parameters, fields: parameters };
}

function demandsIn(preferences: ProviderPreferences): Demands {
  const { only, ignore, order, quantizations, max_price } = preferences;
  return {
    only: only && only.length > 0 ? slugSet(only) : null,
    ignore: ignore && ignore.length > 0 ? slugSet(ignore) : null,
    keepsNothing: preferences.zdr === true,
    collectsNothing: preferences.data_collection === 'deny',
    searchesWeb: false,
    isDistillable: preferences.enforce_distillable_text === true,
    quantizations: quantizations && quantizations.length > 0 ? quantizations : null,
    parameters: null,
    fields: null,
    modalities: null,
    maxPrice: max_price && Object.keys(max_price).length > 0 ? priceLimits(max_price) : null,
    ordered: preferences.allow_fallbacks === false && order && order.length > 0 ? slugSet(order) : null,
  };
}

/**
 * Returns the first demand that an endpoint does not meet; null: the endpoint meets all demands. The checks are written
 * out: with a list of functions, the calls alone were 6 % of a plan of fifty endpoints.
 */
export function unmetDemand(demands: Demands, endpoint: Endpoint, model: Model): PreferenceFilter | null {
  const { only, ignore, quantizations, parameters, fields, modalities, maxPrice, ordered } = demands;
  if (only !== null && !isAmong(only, endpoint)) return 'only';
  if (ignore !== null && isAmong(ignore, endpoint)) return 'ignore';
  if (demands.keepsNothing && !keepsNothing(endpoint)) return 'zdr';
  if (demands.collectsNothing && endpoint.dataPolicy.trains !== false && !keepsNothing(endpoint))
    return 'data_collection';
  if (demands.isDistillable && model.isDistillable !== true) return 'enforce_distillable_text';
  if (quantizations !== null && !quantizations.includes(endpoint.quantization ?? 'unknown')) return 'quantizations';
  if (demands.searchesWeb && !searchesByItself(endpoint)) return 'require_parameters';
  const { supportedParameters, unsupportedParameters } = endpoint;
  if (fields !== null && unsupportedParameters?.some((name) => fields.includes(name))) return 'require_parameters';
  // The endpoint has no list, so its parameters are not known: it serves only where no parameter is required.
  if (supportedParameters === null && (parameters ?? modalities) !== null) return 'require_parameters';
  if (parameters !== null && !supportsAll(supportedParameters ?? [], parameters)) return 'require_parameters';
  if (modalities !== null && !makes(modalities, endpoint, model)) return 'require_parameters';
  if (maxPrice !== null && !isWithin(maxPrice, endpoint)) return 'max_price';
  return ordered !== null && !isAmong(ordered, endpoint) ? 'allow_fallbacks' : null;
}

/** true: the provider is known to search the web where the request asks it to. */
function searchesByItself({ searchesWeb, supportedParameters, unsupportedParameters }: Endpoint): boolean {
  const isListed = supportedParameters?.includes('web_search_options') === true;
  return (searchesWeb === true || isListed) && unsupportedParameters?.includes('web_search_options') !== true;
}

/** true: the endpoint is known to have zero data retention; an unknown policy counts as no. */
export function keepsNothing({ dataPolicy }: Endpoint): boolean {
  return dataPolicy.zeroRetention === true;
}

/** Lowers the case: a request may write slugs with capitals, the catalogue does not. */
export function slugSet(slugs: readonly string[]): ReadonlySet<string> {
  const set = new Set<string>();
  for (const slug of slugs) set.add(slug.toLowerCase());
  return set;
}

/** A base slug matches every variant of the provider; `base/variant` matches only that endpoint. */
export function isAmong(slugs: ReadonlySet<string>, { tag, providerSlug }: Endpoint): boolean {
  return slugs.has(tag) || (tag !== providerSlug && slugs.has(providerSlug));
}

/** true: the model is known to make these kinds of output, or its endpoint to support the field that asks for them. */
function makes(modalities: readonly string[], { supportedParameters }: Endpoint, { outputModalities }: Model): boolean {
  if (supportedParameters?.includes('modalities')) return true;
  return outputModalities !== undefined && modalities.every((one) => outputModalities.includes(one));
}

/** Fields that every endpoint supports, or that the gateway itself handles. `modalities` is checked by `makes`. */
const alwaysSupported = new Set([
  'messages',
  'model',
  'models',
  'stream',
  'stream_options',
  'provider',
  'plugins',
  'route',
  'debug',
  'trace',
  'session_id',
  'user',
  'metadata',
  'cache_control',
  'service_tier',
  'modalities',
  'prompt_cache_key',
  'stop_server_tools_when',
  'transforms',
]);

/**
 * Returns the request fields that are set and that some endpoints do not support; null: there are none, so that an
 * endpoint with unknown parameters may serve.
 */
function requiredParameters(request: ChatRequest): string[] | null {
  const required = setFields(request).filter((name) => !alwaysSupported.has(name));
  return required.length > 0 ? required : null;
}

function setFields(request: ChatRequest): string[] {
  return Object.keys(request).filter((name) => isSet(request[name as keyof ChatRequest]));
}

/** An empty list, such as `tools: []`, counts as not set. */
function isSet(value: unknown): boolean {
  return value !== null && value !== undefined && !(Array.isArray(value) && value.length === 0);
}

/** The limits in pico-USD, like an endpoint's prices. */
interface PriceLimits {
  prompt: number;
  completion: number;
  image: number;
  audio: number;
  request: number;
}

/** @param limits  `prompt` and `completion` in USD per million tokens */
function priceLimits(limits: NonNullable<ProviderPreferences['max_price']>): PriceLimits {
  return {
    prompt: limitOf(limits.prompt) / 1e6,
    completion: limitOf(limits.completion) / 1e6,
    image: limitOf(limits.image),
    audio: limitOf(limits.audio),
    request: limitOf(limits.request),
  };
}

function limitOf(limit: string | number | null | undefined): number {
  if (limit === undefined || limit === null) return Number.POSITIVE_INFINITY;
  // The schema allows decimals that begin or end with the point, and numbers above every real price.
  let text = String(limit);
  if (text.startsWith('.')) text = `0${text}`;
  if (text.endsWith('.')) text = text.slice(0, -1);
  return parsePrice(text) ?? Number(text) * 1e12;
}

/** An endpoint of unknown price exceeds every limit. */
function isWithin(limits: PriceLimits, { pricing }: Endpoint): boolean {
  return (
    pricing !== null &&
    pricing.promptPicoUsd <= limits.prompt &&
    pricing.completionPicoUsd <= limits.completion &&
    (pricing.imagePicoUsd ?? 0) <= limits.image &&
    (pricing.audioPicoUsd ?? 0) <= limits.audio &&
    (pricing.requestPicoUsd ?? 0) <= limits.request
  );
}
