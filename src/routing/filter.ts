import { parsePrice } from '../base/money.ts';
import type { Endpoint } from '../call/model.ts';
import type { ChatRequest } from '../schema/chat.ts';
import type { ProviderPreferences } from '../schema/preferences.ts';

/** A rule that may remove an endpoint; its key is the name shown in `metadata.excluded`. */
type Rule = (endpoint: Endpoint) => boolean;

/** The rules a request's preferences ask for: name of the rule to whether an endpoint passes it. */
export function preferenceRules(request: ChatRequest): [name: string, passes: Rule][] {
  const preferences = request.provider;
  if (!preferences) return [];
  const { only, ignore, quantizations, zdr, data_collection, require_parameters, max_price } = preferences;
  const rules: [string, Rule][] = [];
  if (only && only.length > 0) rules.push(['only', (endpoint) => only.some((slug) => matchesProvider(endpoint, slug))]);
  if (ignore && ignore.length > 0)
    rules.push(['ignore', (endpoint) => !ignore.some((slug) => matchesProvider(endpoint, slug))]);
  if (zdr === true) rules.push(['zdr', (endpoint) => endpoint.dataPolicy.zeroRetention === true]);
  if (data_collection === 'deny')
    rules.push([
      'data_collection',
      (endpoint) => endpoint.dataPolicy.trains === false || endpoint.dataPolicy.zeroRetention === true,
    ]);
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
        supportedParameters !== null && sent.every((name) => supportedParameters.includes(name)),
    ]);
  }
  if (max_price) rules.push(['max_price', (endpoint) => withinPrice(endpoint, max_price)]);
  return rules;
}

/** A base slug matches every variant of the provider, `base/variant` that one endpoint. */
export function matchesProvider(endpoint: Endpoint, slug: string): boolean {
  const wanted = slug.toLowerCase();
  return endpoint.tag === wanted || endpoint.providerSlug === wanted;
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
  return Object.entries(request)
    .filter(([name, value]) => value !== null && value !== undefined && !alwaysSupported.has(name))
    .map(([name]) =>
      name === 'max_completion_tokens' ? 'max_tokens' : name === 'reasoning_effort' ? 'reasoning' : name,
    );
}

/** Limits on prompt and completion are USD per million tokens. An endpoint of unknown price is above any limit. */
function withinPrice({ pricing }: Endpoint, limits: NonNullable<ProviderPreferences['max_price']>): boolean {
  if (!pricing) return false;
  const within = (limit: string | number | null | undefined, price: number | undefined, units: number): boolean => {
    if (limit === undefined || limit === null) return true;
    const pico = parsePrice(limit);
    return pico !== null && (price ?? 0) * units <= pico;
  };
  return (
    within(limits.prompt, pricing.promptPicoUsd, 1e6) &&
    within(limits.completion, pricing.completionPicoUsd, 1e6) &&
    within(limits.image, pricing.imagePicoUsd, 1) &&
    within(limits.audio, pricing.audioPicoUsd, 1) &&
    within(limits.request, pricing.requestPicoUsd, 1)
  );
}
