import { parsePrice } from '../base/money.ts';
import type { Endpoint, Model } from '../call/model.ts';
import type { ChatRequest } from '../schema/chat.ts';
import type { ProviderPreferences } from '../schema/preferences.ts';
import { supports } from './needs.ts';

/** A rule that may remove an endpoint; its key is the name shown in `metadata.excluded`. */
export type Rule = (endpoint: Endpoint, model: Model) => boolean;

/** The rules a request's preferences ask for: name of the rule to whether an endpoint passes it. */
export function preferenceRules(request: ChatRequest): [name: string, passes: Rule][] {
  const preferences = request.provider;
  if (!preferences) return [];
  const { only, ignore, quantizations, zdr, data_collection, require_parameters, max_price } = preferences;
  const rules: [string, Rule][] = [];
  if (only && only.length > 0) {
    const wanted = slugSet(only);
    rules.push(['only', (endpoint) => isAmong(wanted, endpoint)]);
  }
  if (ignore && ignore.length > 0) {
    const unwanted = slugSet(ignore);
    rules.push(['ignore', (endpoint) => !isAmong(unwanted, endpoint)]);
  }
  if (zdr === true) rules.push(['zdr', keepsNothing]);
  if (data_collection === 'deny')
    rules.push(['data_collection', (endpoint) => endpoint.dataPolicy.trains === false || keepsNothing(endpoint)]);
  if (preferences.enforce_distillable_text === true)
    rules.push(['enforce_distillable_text', (_, model) => model.isDistillable === true]);
  if (quantizations && quantizations.length > 0) {
    rules.push([
      'quantizations',
      (endpoint) => (quantizations as readonly string[]).includes(endpoint.quantization ?? 'unknown'),
    ]);
  }
  if (require_parameters === true) {
    const sent = sentParameters(request);
    rules.push([
      'require_parameters',
      ({ supportedParameters }) =>
        supportedParameters !== null && sent.every((name) => supports(supportedParameters, name)),
    ]);
  }
  if (max_price && Object.keys(max_price).length > 0) rules.push(['max_price', priceRule(max_price)]);
  return rules;
}

/** Zero data retention, as far as it is known: what is not known does not count. */
export function keepsNothing({ dataPolicy }: Endpoint): boolean {
  return dataPolicy.zeroRetention === true;
}

/** Slugs are written in lower case here, and not always elsewhere. */
export function lowerCase(slugs: readonly string[]): readonly string[] {
  return slugs.map((slug) => slug.toLowerCase());
}

function slugSet(slugs: readonly string[]): ReadonlySet<string> {
  return new Set(lowerCase(slugs));
}

/** A base slug matches every variant of the provider, `base/variant` that one endpoint. */
function isAmong(slugs: ReadonlySet<string>, { tag, providerSlug }: Endpoint): boolean {
  return slugs.has(tag) || slugs.has(providerSlug);
}

/** Fields every endpoint understands, or that the gateway itself acts on. */
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
  'stop_server_tools_when',
]);

/** Request fields that are set and that an endpoint may or may not act on. */
function sentParameters(request: ChatRequest): string[] {
  const sent: string[] = [];
  for (const [name, value] of Object.entries(request)) if (isSaid(value) && !alwaysSupported.has(name)) sent.push(name);
  return sent;
}

/** An empty list, such as of tools, asks for nothing. */
function isSaid(value: unknown): boolean {
  return value !== null && value !== undefined && !(Array.isArray(value) && value.length === 0);
}

/** Limits on prompt and completion are USD per million tokens. An endpoint of unknown price is above any limit. */
function priceRule(limits: NonNullable<ProviderPreferences['max_price']>): Rule {
  const limitOf = (limit: string | number | null | undefined, units: number): number => {
    if (limit === undefined || limit === null) return Number.POSITIVE_INFINITY;
    // The schema lets a decimal begin or end with its point, and be larger than prices are.
    const text = String(limit).replace(/^\./, '0.').replace(/\.$/, '');
    return (parsePrice(text) ?? Number(text) * 1e12) / units;
  };
  const prompt = limitOf(limits.prompt, 1e6);
  const completion = limitOf(limits.completion, 1e6);
  const image = limitOf(limits.image, 1);
  const audio = limitOf(limits.audio, 1);
  const request = limitOf(limits.request, 1);
  return ({ pricing }) =>
    pricing !== null &&
    pricing.promptPicoUsd <= prompt &&
    pricing.completionPicoUsd <= completion &&
    (pricing.imagePicoUsd ?? 0) <= image &&
    (pricing.audioPicoUsd ?? 0) <= audio &&
    (pricing.requestPicoUsd ?? 0) <= request;
}
