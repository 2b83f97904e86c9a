import type { calcPrice, ModelInfo, ModelPrice, TieredPrices } from '@pydantic/genai-prices';
import { LRUCache } from 'lru-cache';
import { parsePrice } from '../base/money.ts';
import type { LongPromptPricing, Pricing, TokenPricing } from '../call/model.ts';
import { tasksByName } from '../call/task.ts';
import type { TaskName } from '../schema/tasks.ts';
import { withCacheWrites } from './cache-writes.ts';
import { withUnknownKinds } from './unknown-kinds.ts';

/** The prices that providers publish. */
export interface ListPrices {
  /** @returns null: not known, or not reliable enough for a budget hold */
  find(providerSlug: string, upstreamModel: string, nowMs: number): Pricing | null;
}

/** The largest number of remembered lookups: callers can make up names. */
const maxRemembered = 2_000;

/**
 * Maps our slugs to those of the price list. Providers that are not in the map, such as your own server, have no list
 * price.
 */
const listedProviders: ReadonlyMap<string, string> = new Map([
  ['amazon-bedrock', 'aws'],
  ['anthropic', 'anthropic'],
  ['arcee-ai', 'arcee'],
  ['avian', 'avian'],
  ['azure', 'azure'],
  ['baseten', 'baseten'],
  ['cerebras', 'cerebras'],
  ['cloudflare', 'cloudflare'],
  ['cohere', 'cohere'],
  ['deepseek', 'deepseek'],
  ['fireworks', 'fireworks'],
  ['google-ai-studio', 'google'],
  ['google-vertex', 'google'],
  ['groq', 'groq'],
  ['minimax', 'minimax'],
  ['mistral', 'mistral'],
  ['moonshotai', 'moonshotai'],
  ['novita', 'novita'],
  ['openai', 'openai'],
  ['perplexity', 'perplexity'],
  ['together', 'together'],
  ['xai', 'x-ai'],
  ['z-ai', 'zai'],
]);

/** Tells whether a lookup makes sense. No model has so long a name, and the list matches names against patterns. */
export function mayHaveListPrice(providerSlug: string, upstreamModel: string): boolean {
  return upstreamModel.length <= 200 && listedProviders.has(providerSlug);
}

/** Reads the list. This takes some 50 ms and 20 MB. */
export async function loadListPrices(): Promise<ListPrices> {
  const { calcPrice } = await import('@pydantic/genai-prices');
  return listPrices(calcPrice);
}

/** @param calculate  the function of `@pydantic/genai-prices`, or one with the same signature */
export function listPrices(calculate: typeof calcPrice): ListPrices {
  const remembered = new LRUCache<string, { pricing: Pricing | null }>({ max: maxRemembered });
  return {
    find(providerSlug, upstreamModel, nowMs) {
      const providerId = listedProviders.get(providerSlug);
      if (providerId === undefined || !mayHaveListPrice(providerSlug, upstreamModel)) return null;
      const key = `${providerSlug} ${upstreamModel}`;
      const earlier = remembered.get(key);
      if (earlier) return earlier.pricing;
      const entry = entryOf(calculate, providerId, upstreamModel, nowMs);
      const pricing = entry && pricingFor(upstreamModel, entry, entry.price);
      // A price that changes with the date or the time of day is looked up each time.
      if (!entry?.isDated) remembered.set(key, { pricing });
      return pricing;
    },
  };
}

/** Finds the entry of exactly this model at this provider, with its present price. */
function entryOf(calculate: typeof calcPrice, providerId: string, upstreamModel: string, nowMs: number) {
  const found = look(calculate, providerId, upstreamModel, nowMs);
  if (!found) return null;
  const { model, model_price: price, provider } = found;
  // The list also looks among the models of other providers, which may have other prices.
  if (provider.id !== providerId || !provider.models.includes(model)) return null;
  if (!isNamed(model, upstreamModel.toLowerCase())) return null;
  return { id: model.id, title: model.name ?? '', price, isDated: Array.isArray(model.prices) };
}

function look(calculate: typeof calcPrice, providerId: string, model: string, nowMs: number) {
  try {
    return calculate({}, model, { providerId, timestamp: new Date(nowMs) });
  } catch {
    // The entry contradicts itself.
    return null;
  }
}

/** The suffixes of releases of one model, which have the same price: a date, a number, or "latest". */
// No text matches in two ways: with two ways for each part, a name that fails at its end would take for ever.
const release = /^(?:-latest|[-@](?:20\d{6}|20\d\d-\d\d-\d\d)|-\d{3}|-v\d+|:\d+)*$/;

/**
 * Tells whether an entry of the list is this very model and not a related one. The list matches names by beginnings and
 * parts. So it may take a model that is newer than the list for a cheaper one: `claude-sonnet-5.5` begins like
 * `claude-sonnet-5`.
 */
function isNamed({ id, match }: ModelInfo, name: string): boolean {
  return [id, ...literals(match)].some((known) => {
    const literal = known.toLowerCase();
    return name.startsWith(literal) && release.test(name.slice(literal.length));
  });
}

function literals(match: ModelInfo['match']): string[] {
  if ('or' in match) return match.or.flatMap(literals);
  // Patterns, and conditions that must hold together, are no exact names.
  if ('and' in match || 'regex' in match) return [];
  return Object.values(match);
}

/** Names of models for other media than text, or for images that cost more than text. */
const ofOtherMedia = /audio|realtime|image|tts|transcri|speech|whisper|voxtral|live/i;
/** Names of models that never respond with text alone. */
const ofMediaOutput = { imageOutputPicoUsd: /image/i, audioOutputPicoUsd: /tts|realtime|live/i };
/** Names of models whose searches have prices of their own. */
const ofSearch = /search/i;

/**
 * @param name   the model's own name
 * @param entry  one entry may be for a model and for its variants
 */
function pricingFor(name: string, { id, title }: { id: string; title: string }, listed: ModelPrice): Pricing | null {
  const tasks = tasksByName(name) ?? tasksByName(title);
  if (tasks?.includes('transcriptions')) {
    const bySecond = pricingOfSeconds(listed);
    if (bySecond !== null) return withUnknownKinds(bySecond, false);
  }
  const found = pricingOf(listed, tasks?.includes('chat') === false);
  const pricing = found === null ? null : withMediaOutput(found, tasks);
  if (pricing === null) return null;
  for (const [price, pattern] of Object.entries(ofMediaOutput))
    if (pattern.test(name) && pricing[price as keyof typeof ofMediaOutput] === undefined) return null;
  // A price of searches belongs to the model without search in its name.
  if (ofSearch.test(name) && !ofSearch.test(id)) delete pricing.webSearchPicoUsd;
  return withUnknownKinds(withCacheWrites(pricing, name), !ofOtherMedia.test(name));
}

/** Returns prices in which the one price of output is that of the medium, where a model makes that alone. */
function withMediaOutput(pricing: Pricing, tasks: readonly TaskName[] | null): Pricing {
  const { completionPicoUsd, isInputOnly } = pricing;
  const [task, ...others] = tasks ?? [];
  if (others.length > 0 || isInputOnly === true) return pricing;
  if (task === 'images') return { imageOutputPicoUsd: completionPicoUsd, ...pricing };
  return task === 'speech' ? { audioOutputPicoUsd: completionPicoUsd, ...pricing } : pricing;
}

/** Prices per hour of sound. */
const ofHours = ['audio_hours', 'input_audio_hours'];
const secondsPerHour = 3_600;

/** Returns the prices of a model that sells seconds of sound, and nothing else; null: it does not. */
function pricingOfSeconds(listed: ModelPrice): Pricing | null {
  const prices = Object.entries(listed as Prices).filter(([, price]) => price !== undefined);
  let second = 0;
  for (const [kind, price] of prices) {
    if (!ofHours.includes(kind) || typeof price !== 'number' || price <= 0) return null;
    second = Math.max(second, Math.ceil(picoUsd(price, 0) / secondsPerHour));
  }
  return second === 0 ? null : { promptPicoUsd: 0, completionPicoUsd: 0, isInputOnly: true, unitsPicoUsd: { second } };
}

type Prices = Record<string, number | TieredPrices | undefined>;

/** Maps the list's names of priced tokens to ours; the list has prices per million tokens. */
const tokenKinds = {
  input_mtok: 'promptPicoUsd',
  output_mtok: 'completionPicoUsd',
  cache_read_mtok: 'cacheReadPicoUsd',
  cache_write_mtok: 'cacheWritePicoUsd',
  cache_write_1h_mtok: 'cacheWriteHourPicoUsd',
  input_audio_mtok: 'audioPicoUsd',
  cache_audio_read_mtok: 'audioCacheReadPicoUsd',
  input_image_mtok: 'imageTokenPicoUsd',
  output_reasoning_mtok: 'reasoningPicoUsd',
  output_audio_mtok: 'audioOutputPicoUsd',
  output_image_mtok: 'imageOutputPicoUsd',
} as const satisfies Record<string, keyof TokenPricing>;

/** Prices per thousand. */
const countKinds = { requests_kcount: 'requestPicoUsd', web_searches_kcount: 'webSearchPicoUsd' } as const;

/** Prices that no chat request needs, or that are never more than the price we charge instead. */
const beside = new Set(['cache_image_read_mtok', 'storage_searches_kcount']);

/**
 * @param isWithoutOutput  true: the name of the model says that its task has no output
 * @returns null: a token price is missing, or the entry has prices of things we do not count. Unlisted is never free.
 */
function pricingOf(listed: ModelPrice, isWithoutOutput: boolean): Pricing | null {
  const prices: Prices = listed;
  const pricing: Partial<Pricing> = {};
  const tiered: [keyof TokenPricing, TieredPrices][] = [];
  for (const [kind, price] of Object.entries(prices)) {
    if (price === undefined || beside.has(kind)) continue;
    const base = typeof price === 'number' ? price : price.base;
    if (isKey(tokenKinds, kind)) {
      pricing[tokenKinds[kind]] = picoUsd(base, 6);
      if (typeof price !== 'number') tiered.push([tokenKinds[kind], price]);
    } else if (isKey(countKinds, kind) && typeof price === 'number') {
      pricing[countKinds[kind]] = picoUsd(base, 3);
    } else return null;
  }
  const { promptPicoUsd, completionPicoUsd } = pricing;
  if (!promptPicoUsd) return null;
  const longPrompts = longPromptsOf(tiered);
  if (!completionPicoUsd) {
    if (!isWithoutOutput) return null;
    const onlyInput = { ...pricing, promptPicoUsd, completionPicoUsd: 0, isInputOnly: true } as const;
    return longPrompts.length > 0 ? { ...onlyInput, longPrompts } : onlyInput;
  }
  return { ...pricing, promptPicoUsd, completionPicoUsd, ...(longPrompts.length > 0 ? { longPrompts } : {}) };
}

/** The list's tiers apply to the complete request, as ours do: above a start, every token has the price of the tier. */
function longPromptsOf(tiered: readonly [keyof TokenPricing, TieredPrices][]): LongPromptPricing[] {
  const starts = new Set(tiered.flatMap(([, { tiers }]) => tiers.map(({ start }) => start)));
  return [...starts]
    .sort((a, b) => a - b)
    .map((abovePromptTokens) => {
      const pricing: LongPromptPricing = { abovePromptTokens };
      for (const [kind, { base, tiers }] of tiered) {
        const holding = tiers.filter(({ start }) => start <= abovePromptTokens).sort((a, b) => b.start - a.start)[0];
        pricing[kind] = picoUsd(holding?.price ?? base, 6);
      }
      return pricing;
    });
}

function isKey<T extends object>(of: T, key: PropertyKey): key is keyof T {
  return Object.hasOwn(of, key);
}

/**
 * The price of one unit, from the price in USD of 10^`power` units. Calculates with the decimal notation of the number,
 * so that no binary fraction causes an error.
 */
function picoUsd(usd: number, power: number): number {
  const [digits = '', exponent = '0'] = String(usd).split('e');
  // An invalid price counts as higher than every valid one.
  return parsePrice(`${digits}e${Number(exponent) - power}`) ?? Number.MAX_SAFE_INTEGER;
}
