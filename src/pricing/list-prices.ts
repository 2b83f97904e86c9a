import type { calcPrice, ModelInfo, ModelPrice, TieredPrices } from '@pydantic/genai-prices';
import { LRUCache } from 'lru-cache';
import { parsePrice } from '../base/money.ts';
import type { LongPromptPricing, Pricing, TokenPricing } from '../call/model.ts';

/** What providers publish. */
export interface ListPrices {
  /** @returns null: not known, or not known well enough to hold money against it */
  find(providerSlug: string, upstreamModel: string, nowMs: number): Pricing | null;
}

/** What was found is remembered; callers make up names, so that it is so many at most. */
const maxRemembered = 2_000;

/** Our slugs to those of the price list. Who is not here, such as a server of your own, has no list price. */
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

/** Whether a list price is worth looking for. Names that long are nobody's, and are matched against patterns. */
export function mayHaveListPrice(providerSlug: string, upstreamModel: string): boolean {
  return upstreamModel.length <= 200 && listedProviders.has(providerSlug);
}

/** Reads the list, which takes some 50 ms and 20 MB. */
export async function loadListPrices(): Promise<ListPrices> {
  const { calcPrice } = await import('@pydantic/genai-prices');
  return listPrices(calcPrice);
}

/** @param calculate  of `@pydantic/genai-prices`, or of its form */
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
      const pricing = entry && pricingOf(entry.price);
      // What changes with the date or the time of day is looked up each time.
      if (!entry?.isDated) remembered.set(key, { pricing });
      return pricing;
    },
  };
}

/** The entry of this very model at this very provider, with the price of the moment. */
function entryOf(calculate: typeof calcPrice, providerId: string, upstreamModel: string, nowMs: number) {
  const found = look(calculate, providerId, upstreamModel, nowMs);
  if (!found) return null;
  const { model, model_price: price, provider } = found;
  // It also looks among the models of other providers, which may sell them for another price.
  if (provider.id !== providerId || !provider.models.includes(model)) return null;
  return isNamed(model, upstreamModel.toLowerCase()) ? { price, isDated: Array.isArray(model.prices) } : null;
}

function look(calculate: typeof calcPrice, providerId: string, model: string, nowMs: number) {
  try {
    return calculate({}, model, { providerId, timestamp: new Date(nowMs) });
  } catch {
    // An entry that contradicts itself.
    return null;
  }
}

/** What tells one release of a model from another of the same price: a date, a number, or that it is the latest. */
const release = /^(?:-latest|[-@](?:20\d{6}|20\d\d-\d\d-\d\d)|-\d{3}|-v\d+(?::\d+)?|:\d+)*$/;

/**
 * Whether an entry of the list is this model and no relative of it. The list matches by beginnings and by parts, so that
 * a model that is newer than the list may be taken for a cheaper one: `claude-sonnet-5.5` begins as `claude-sonnet-5`.
 */
function isNamed({ id, match }: ModelInfo, name: string): boolean {
  return [id, ...literals(match)].some((known) => {
    const literal = known.toLowerCase();
    return name.startsWith(literal) && release.test(name.slice(literal.length));
  });
}

function literals(match: ModelInfo['match']): string[] {
  if ('or' in match) return match.or.flatMap(literals);
  // Conditions that have to hold together, and patterns, name nothing.
  if ('and' in match || 'regex' in match) return [];
  return Object.values(match);
}

type Prices = Record<string, number | TieredPrices | undefined>;

/** The list's names of what is charged, to ours; per million tokens. */
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

/** Per thousand. */
const countKinds = { requests_kcount: 'requestPicoUsd', web_searches_kcount: 'webSearchPicoUsd' } as const;

/** Charged for what no chat request asks for, or never more than what is charged here instead. */
const beside = new Set(['cache_image_read_mtok', 'storage_searches_kcount']);

/** null: tokens without a price, or prices of what is not counted here. What is not on the list is never free. */
function pricingOf(listed: ModelPrice): Pricing | null {
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
  if (!promptPicoUsd || !completionPicoUsd) return null;
  const longPrompts = longPromptsOf(tiered);
  return { ...pricing, promptPicoUsd, completionPicoUsd, ...(longPrompts.length > 0 ? { longPrompts } : {}) };
}

/** The list's tiers are of the whole request, as ours are: beyond a start every token has the tier's price. */
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
 * What one costs where 10^`power` cost so many USD. By the decimal a number is written as: no binary fraction comes in
 * between.
 */
function picoUsd(usd: number, power: number): number {
  const [digits = '', exponent = '0'] = String(usd).split('e');
  // What is no price is beyond any.
  return parsePrice(`${digits}e${Number(exponent) - power}`) ?? Number.MAX_SAFE_INTEGER;
}
