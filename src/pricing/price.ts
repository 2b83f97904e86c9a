import { definedOnly } from '../base/defined-only.ts';
import { add, multiply, nanoToUsd, type Pico, picoToNano } from '../base/money.ts';
import type { CostKinds, CostParts } from '../call/generation.ts';
import type { Pricing, TokenPricing } from '../call/model.ts';
import type { Usage } from '../schema/chat/chat.ts';
import { halfDayWritePrice, hourWritePrice, longHour, writePrice } from './cache-writes.ts';

/** Integer nano-USD. The parts add up exactly to the total. */
export interface Cost extends CostParts {
  totalNanoUsd: number;
}

export type TokenKind =
  | 'plain'
  | 'cacheRead'
  | 'cacheWrite'
  | 'cacheWriteHour'
  | 'cacheWrite12h'
  | 'audio'
  | 'audioCacheRead'
  | 'image'
  | 'reasoning';

/** Tokens with the same price. */
export interface PricedTokens {
  kind: TokenKind;
  tokens: number;
  /** The price of each token. */
  picoUsd: number;
}

/**
 * The cost of usage: counts every token once, at the price of its kind.
 * @param promptImages  images in the prompt, for models with a price for each
 */
export function priceUsage(usage: Usage, pricing: Pricing, promptImages = 0): Cost {
  const prices = tokenPrices(pricing, usage.prompt_tokens);
  const kinds = noCost();
  const sum = new RunningSum();
  for (const part of splitPrompt(usage, prices)) kinds[promptKinds[part.kind]] += sum.add(part.tokens, part.picoUsd);
  if (pricing.imagePicoUsd !== undefined) kinds.inputMediaNanoUsd += sum.add(promptImages, pricing.imagePicoUsd);
  const promptNanoUsd = sum.nanoUsd;
  for (const part of splitCompletion(usage, prices))
    kinds[completionKinds[part.kind]] += sum.add(part.tokens, part.picoUsd);
  const completionNanoUsd = sum.nanoUsd - promptNanoUsd;
  if (pricing.requestPicoUsd !== undefined) kinds.requestNanoUsd = sum.add(1, pricing.requestPicoUsd);
  const searches = count(usage.server_tool_use_details?.web_search_requests);
  if (pricing.webSearchPicoUsd !== undefined) kinds.searchesNanoUsd = sum.add(searches, pricing.webSearchPicoUsd);
  const totalNanoUsd = sum.nanoUsd;
  const otherNanoUsd = totalNanoUsd - promptNanoUsd - completionNanoUsd;
  return { totalNanoUsd, promptNanoUsd, completionNanoUsd, otherNanoUsd, kinds };
}

/** Returns the kinds of a cost of nothing. */
export function noCost(): CostKinds {
  return {
    inputNanoUsd: 0,
    cachedNanoUsd: 0,
    cacheWritesNanoUsd: 0,
    inputMediaNanoUsd: 0,
    outputNanoUsd: 0,
    reasoningNanoUsd: 0,
    outputMediaNanoUsd: 0,
    requestNanoUsd: 0,
    searchesNanoUsd: 0,
  };
}

/** The kinds of cost of a prompt's tokens, and of a completion's. */
const promptKinds: Readonly<Record<TokenKind, keyof CostKinds>> = {
  plain: 'inputNanoUsd',
  reasoning: 'inputNanoUsd',
  cacheRead: 'cachedNanoUsd',
  audioCacheRead: 'cachedNanoUsd',
  cacheWrite: 'cacheWritesNanoUsd',
  cacheWriteHour: 'cacheWritesNanoUsd',
  cacheWrite12h: 'cacheWritesNanoUsd',
  audio: 'inputMediaNanoUsd',
  image: 'inputMediaNanoUsd',
};
const completionKinds: Readonly<Record<TokenKind, keyof CostKinds>> = {
  ...promptKinds,
  plain: 'outputNanoUsd',
  reasoning: 'reasoningNanoUsd',
  audio: 'outputMediaNanoUsd',
  image: 'outputMediaNanoUsd',
};

/** An exact sum. Its running amounts are rounded up, so that the parts add up and the total is never too low. */
class RunningSum {
  #pico: Pico = 0;
  /** The sum so far, integer nano-USD. */
  nanoUsd = 0;

  /** Adds `units` of a price. @returns the integer nano-USD by which the sum has grown */
  add(units: number, picoUsd: number): number {
    this.#pico = add(this.#pico, multiply(units, picoUsd));
    const before = this.nanoUsd;
    this.nanoUsd = picoToNano(this.#pico);
    return this.nanoUsd - before;
  }
}

/** Splits the prompt's tokens by kind. The parts always add up to `prompt_tokens`, whatever the provider reports. */
export function splitPrompt({ prompt_tokens, prompt_tokens_details: details }: Usage, prices: TokenPricing) {
  const plain = prices.promptPicoUsd;
  const cacheRead = prices.cacheReadPicoUsd ?? plain;
  const hour = count(details?.cache_write_1h_tokens);
  const halfDay = count(details?.cache_write_12h_tokens);
  let read = count(details?.cached_tokens);
  let audio = count(details?.audio_tokens);
  let readAudio = 0;
  if (prices.audioCacheReadPicoUsd !== undefined) {
    // If both kinds together exceed the prompt, the surplus tokens must be of both kinds.
    readAudio = Math.min(Math.max(read + audio - prompt_tokens, 0), read, audio);
    read -= readAudio;
    audio -= readAudio;
  }
  const kinds: PricedTokens[] = [];
  take(kinds, 'cacheRead', read, cacheRead);
  // Tokens cached for longer are also counted in `cache_write_tokens`.
  take(kinds, 'cacheWrite', Math.max(count(details?.cache_write_tokens) - hour - halfDay, 0), writePrice(prices));
  take(kinds, 'cacheWriteHour', hour, hourWritePrice(prices));
  take(kinds, 'cacheWrite12h', halfDay, halfDayWritePrice(prices));
  take(kinds, 'audio', audio, prices.audioPicoUsd ?? plain);
  take(kinds, 'audioCacheRead', readAudio, prices.audioCacheReadPicoUsd ?? cacheRead);
  take(kinds, 'image', count(details?.image_tokens), prices.imageTokenPicoUsd ?? plain);
  return split(prompt_tokens, plain, kinds);
}

/** Splits the completion's tokens by kind. The parts always add up to `completion_tokens`. */
export function splitCompletion(
  { completion_tokens, completion_tokens_details: details }: Usage,
  prices: TokenPricing,
) {
  const plain = prices.completionPicoUsd;
  const kinds: PricedTokens[] = [];
  take(kinds, 'reasoning', count(details?.reasoning_tokens), prices.reasoningPicoUsd ?? plain);
  take(kinds, 'audio', count(details?.audio_tokens), prices.audioOutputPicoUsd ?? plain);
  take(kinds, 'image', count(details?.image_tokens), prices.imageOutputPicoUsd ?? plain);
  return split(completion_tokens, plain, kinds);
}

/** Adds a kind that has tokens. Most usage has one kind beside the plain tokens, or none. */
function take(kinds: PricedTokens[], kind: TokenKind, tokens: number, picoUsd: number): void {
  if (tokens > 0) kinds.push({ kind, tokens, picoUsd });
}

/**
 * In some providers' reports, kinds overlap (tokens that were written to a cache and then read from it), or their sum
 * exceeds the total. The more expensive kind takes its tokens first, and the others share the remainder. So no token
 * counts twice, and a cost is not booked too low.
 */
function split(total: number, plainPicoUsd: number, kinds: PricedTokens[]): PricedTokens[] {
  let left = total;
  const parts: PricedTokens[] = [];
  if (kinds.length > 1) kinds.sort((a, b) => b.picoUsd - a.picoUsd);
  for (const part of kinds) {
    const tokens = Math.min(part.tokens, left);
    if (tokens === 0) continue;
    left -= tokens;
    parts.push(tokens === part.tokens ? part : { ...part, tokens });
  }
  if (left > 0) parts.push({ kind: 'plain', tokens: left, picoUsd: plainPicoUsd });
  return parts;
}

/** Some details are not in the interface and may have any type. */
function count(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0;
}

/** The prices of tokens for a prompt of this length. */
export function tokenPrices(pricing: Pricing, promptTokens: number): TokenPricing {
  return pricing.longPrompts ? (pricesUpTo(pricing, promptTokens).at(-1) as TokenPricing) : pricing;
}

/** All prices for prompts of up to this length, from the shortest prompts to the longest. */
export function pricesUpTo(pricing: Pricing, promptTokens: number): TokenPricing[] {
  if (!pricing.longPrompts) return [pricing];
  const reached = pricing.longPrompts
    .filter(({ abovePromptTokens }) => promptTokens > abovePromptTokens)
    .sort((a, b) => a.abovePromptTokens - b.abovePromptTokens)
    .map((prices) => ({ ...pricing, ...longHour(pricing, definedOnly(prices)), ...definedOnly(prices) }));
  return [pricing, ...reached];
}

/**
 * The usage that the client gets. Includes the cost, if the price is known.
 * @param failedNanoUsd  the cost of failed attempts; it is part of the cost, but not of this response's own cost
 */
export function usageWithCost(
  usage: Usage,
  cost: Omit<Cost, 'kinds'> | null,
  isByok: boolean,
  failedNanoUsd = 0,
): Usage {
  if (!cost) return { ...usage, is_byok: isByok };
  return {
    ...usage,
    cost: nanoToUsd(cost.totalNanoUsd + failedNanoUsd),
    is_byok: isByok,
    cost_details: {
      upstream_inference_cost: isByok ? nanoToUsd(cost.totalNanoUsd) : null,
      upstream_inference_prompt_cost: nanoToUsd(cost.promptNanoUsd),
      upstream_inference_completions_cost: nanoToUsd(cost.completionNanoUsd),
    },
  };
}
