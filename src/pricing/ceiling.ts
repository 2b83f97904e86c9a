import { add, multiply, type Pico, picoToNano } from '../base/money.ts';
import type { Endpoint, PricedKind, Pricing, TokenPricing } from '../call/model.ts';
import type { ChatRequest } from '../schema/chat/chat.ts';
import { dearestWrite } from './cache-writes.ts';
import { pricesUpTo } from './price.ts';
import { ownSearches, type PromptBound } from './prompt-bound.ts';

/** The highest possible cost of one attempt. */
export interface Ceiling {
  promptTokens: number;
  /** The tokens of all choices together. */
  completionTokens: number;
  nanoUsd: number;
  /** The largest output of one choice that the ceiling is based on. The provider knows this cap or must be sent it. */
  maxTokens: number;
  /** true: the cap is not the caller's own. The cap is only certain when it is sent upstream as the largest output. */
  mustSend: boolean;
  /** The origin of the cap. */
  source: 'caller' | 'endpoint' | 'default';
}

export interface CeilingOptions {
  /** The largest output if the caller names none; the endpoint's may be less. */
  defaultMaxTokens: number;
  /**
   * The provider's smallest `max_tokens`. The dialect raises a smaller value to it (quirk `minMaxTokens`). Default 0.
   */
  minMaxTokens?: number;
  /**
   * The reasoning that `max_tokens` does not limit. true: only the context limits reasoning. false: `max_tokens` limits
   * it. A number: at most so many tokens. Default: not known, which counts as true for an endpoint that lists reasoning
   * among its parameters.
   */
  reasoningBeside?: boolean | number | undefined;
  /** true: the provider honours `detail: "low"` of an image. Default false. */
  lowDetail?: boolean | undefined;
  /** true: the provider searches the web for every request. Default: if the name of the model says so. */
  alwaysSearches?: boolean | undefined;
  /** The number of times that the provider reads the prompt, and its own text, when it searches. Default 1. */
  searchTurns?: number | undefined;
  /** true: the provider speaks the client's own format, and gets its search tool where searches have a price. Default false. */
  isOwnFormat?: boolean;
  /** true: the largest output is sent even if the prompt may leave no room for it. Default false. */
  alwaysSend?: boolean;
}

/** Names of models that search the web for every request. */
const searchingModel = /(?:^|[/:._-])(?:sonar|search|online|compound|browse)(?:[/:._-]|$)|deep-?research/i;

function searches({ upstreamModel }: Endpoint, { alwaysSearches }: CeilingOptions): boolean {
  return alwaysSearches ?? searchingModel.test(upstreamModel);
}

const nameOfKind: Record<PricedKind, string> = {
  audio: 'audio in the prompt',
  image: 'images in the prompt',
  audioOutput: 'audio in the response',
  imageOutput: 'images in the response',
  search: 'web searches',
  cacheWrite12h: 'prompt cache writes that are kept for 12 hours or longer',
};

/**
 * The part whose price or limit is not known, so that there is no ceiling.
 * @returns null: none; '': the price of the endpoint; else a text that completes "the price of … is not known"
 */
export function unknownPart(prompt: PromptBound, endpoint: Endpoint, options: CeilingOptions): string | null {
  const { pricing } = endpoint;
  if (pricing === null || pricing.isInputOnly === true) return '';
  const kind = pricing.unknownKinds?.find(
    (one) => prompt.kinds.has(one) || (one === 'search' && searches(endpoint, options)),
  );
  if (kind !== undefined) return nameOfKind[kind];
  if (prompt.kinds.has('search') && isSearchUnpriced(endpoint)) return nameOfKind.search;
  if (prompt.kinds.has('cacheWrite12h') && pricing.cacheWrite12hPicoUsd === undefined) return nameOfKind.cacheWrite12h;
  return reasoningBeside(endpoint, options) === null
    ? 'reasoning beside max_tokens, which nothing limits without a context length,'
    : null;
}

/**
 * Tells whether the price of searches is missing where the gateway itself adds a search tool: such providers charge for
 * each search.
 */
function isSearchUnpriced({ searchesWeb, pricing }: Endpoint): boolean {
  return searchesWeb === true && pricing?.webSearchPicoUsd === undefined && pricing?.requestPicoUsd === undefined;
}

/** true: the price of a search is known, so that the searches of a provider can be held. */
export function pricesSearches({ pricing }: Endpoint): boolean {
  return pricing?.webSearchPicoUsd !== undefined && pricing.unknownKinds?.includes('search') !== true;
}

/** Tokens of reasoning that `max_tokens` does not limit; null: nothing limits them. */
function reasoningBeside(endpoint: Endpoint, { reasoningBeside: beside }: CeilingOptions): number | null {
  if (typeof beside === 'number') return beside;
  return (beside ?? takesReasoning(endpoint)) ? endpoint.contextLength : 0;
}

const reasoningParameters: ReadonlySet<string> = new Set(['reasoning', 'reasoning_effort', 'include_reasoning']);

/** Tells whether an endpoint lists a parameter of reasoning. */
export function takesReasoning({ supportedParameters }: Endpoint): boolean {
  return supportedParameters?.some((name) => reasoningParameters.has(name)) ?? false;
}

/**
 * The highest possible cost of one attempt at an endpoint: every token at the highest price for input or output, and
 * the largest output.
 * @returns null: a price is not known, or nothing limits the output: `unknownPart` says which
 */
export function ceilingOf(
  request: ChatRequest,
  prompt: PromptBound,
  endpoint: Endpoint,
  options: CeilingOptions,
): Ceiling | null {
  if (endpoint.pricing === null || unknownPart(prompt, endpoint, options) !== null) return null;
  const { promptTokens, extraTokens, fixedPico, perTokenPico } = worstCase(prompt, endpoint, endpoint.pricing, options);
  const { maxTokens, mustSend, source } = capOf(request, prompt, endpoint, options);
  return {
    promptTokens,
    completionTokens: prompt.choices * (maxTokens + extraTokens),
    nanoUsd: picoToNano(add(fixedPico, times(perTokenPico, maxTokens))),
    maxTokens,
    mustSend,
    source,
  };
}

/**
 * The largest output of one choice that fits into an amount if it is sent; if the ceiling fits as it is, its own.
 * @returns 0: the amount does not pay for the prompt, or the affordable output is below the provider's minimum, or the
 *          price is not known
 */
export function affordableTokens(
  request: ChatRequest,
  prompt: PromptBound,
  endpoint: Endpoint,
  amountNanoUsd: number,
  options: CeilingOptions,
): number {
  if (endpoint.pricing === null || !(amountNanoUsd >= 0) || unknownPart(prompt, endpoint, options) !== null) return 0;
  const { fixedPico, perTokenPico } = worstCase(prompt, endpoint, endpoint.pricing, options);
  const { maxTokens } = capOf(request, prompt, endpoint, options);
  const sparePico = BigInt(Math.min(Math.floor(amountNanoUsd), Number.MAX_SAFE_INTEGER)) * 1000n - BigInt(fixedPico);
  if (sparePico < 0n) return 0;
  if (sparePico >= times(perTokenPico, maxTokens)) return maxTokens;
  // If the endpoint's own cap is unknown, the request has the only cap.
  const isKnown = endpoint.maxCompletionTokens !== null || endpoint.contextLength !== null;
  const own = isKnown ? Math.max(naturalCap(endpoint, options), options.minMaxTokens ?? 0) : maxTokens;
  const natural = Math.min(maxTokens, own);
  const tokens = Math.min(Number(sparePico / BigInt(perTokenPico)), natural);
  return tokens < (options.minMaxTokens ?? 0) ? 0 : tokens;
}

interface WorstCase {
  promptTokens: number;
  /** The output of each choice that `max_tokens` does not limit. */
  extraTokens: number;
  /** All costs that do not depend on `max_tokens`, in pico-USD. */
  fixedPico: Pico;
  /** The cost of raising `max_tokens` by one, for all choices. */
  perTokenPico: Pico;
}

function worstCase(prompt: PromptBound, endpoint: Endpoint, pricing: Pricing, options: CeilingOptions): WorstCase {
  const isOwn = prompt.searchesInOwnFormat && options.isOwnFormat === true && pricesSearches(endpoint);
  const isSearching = isOwn || searches(endpoint, options);
  const toolTokens = isSearching ? Math.max(prompt.toolTokens, ownSearches.tokens) : prompt.toolTokens;
  const searchCount = isSearching ? Math.max(prompt.searches, ownSearches.searches) : prompt.searches;
  const turns = prompt.searches > 0 ? (options.searchTurns ?? 1) : 1;
  const promptTokens = longestPrompt(prompt, endpoint, options) * turns + toolTokens;
  const extraTokens = prompt.predictedTokens + (reasoningBeside(endpoint, options) ?? 0);
  let promptPicoUsd = 0;
  let completionPicoUsd = 0;
  for (const prices of pricesUpTo(pricing, promptTokens)) {
    promptPicoUsd = Math.max(promptPicoUsd, dearestPrompt(prices));
    completionPicoUsd = Math.max(completionPicoUsd, dearestCompletion(prices));
  }
  // Text that the model writes before a search becomes a part of the prompt after it.
  const writtenPico = multiply(turns - 1, promptPicoUsd);
  const perTokenPico = add(multiply(prompt.choices, completionPicoUsd), writtenPico);
  let fixedPico = multiply(promptTokens, promptPicoUsd);
  fixedPico = add(fixedPico, multiply(prompt.images, pricing.imagePicoUsd ?? 0));
  fixedPico = add(fixedPico, multiply(searchCount, pricing.webSearchPicoUsd ?? 0));
  fixedPico = add(fixedPico, multiply(1, pricing.requestPicoUsd ?? 0));
  fixedPico = add(fixedPico, times(perTokenPico, extraTokens));
  return { promptTokens, extraTokens, fixedPico, perTokenPico };
}

/**
 * The prompt in tokens, without those of tools. Text counts in full: a catalogue may give a context that is too short,
 * and the provider then bills what is longer. Media count for no more than the context, since their bound fits any
 * model; but not if a dearer price begins beyond the context, which shows that the context is longer.
 */
function longestPrompt(prompt: PromptBound, { contextLength, pricing }: Endpoint, options: CeilingOptions): number {
  const media = prompt.mediaTokens - (options.lowDetail ? prompt.lowDetailTokens : 0);
  const isLonger = pricing?.longPrompts?.some(({ abovePromptTokens }) => abovePromptTokens >= (contextLength ?? 0));
  const text = prompt.tokens - prompt.mediaTokens;
  return text + (contextLength === null || isLonger ? media : Math.min(media, contextLength));
}

/** Multiplies an amount. */
function times(pico: Pico, count: number): Pico {
  return typeof pico === 'number' ? multiply(count, pico) : pico * BigInt(count);
}

function dearestPrompt(prices: TokenPricing): number {
  return Math.max(
    prices.promptPicoUsd,
    prices.cacheReadPicoUsd ?? 0,
    dearestWrite(prices),
    prices.audioPicoUsd ?? 0,
    prices.audioCacheReadPicoUsd ?? 0,
    prices.imageTokenPicoUsd ?? 0,
  );
}

function dearestCompletion(prices: TokenPricing): number {
  return Math.max(
    prices.completionPicoUsd,
    prices.reasoningPicoUsd ?? 0,
    prices.audioOutputPicoUsd ?? 0,
    prices.imageOutputPicoUsd ?? 0,
  );
}

type Cap = Pick<Ceiling, 'maxTokens' | 'mustSend' | 'source'>;

/** If the caller sends both fields for the cap, the newer one wins, as in the dialect. */
function capOf(request: ChatRequest, prompt: PromptBound, endpoint: Endpoint, options: CeilingOptions): Cap {
  const least = Math.max(options.minMaxTokens ?? 0, 1);
  const asked = request.max_completion_tokens ?? request.max_tokens ?? null;
  const { contextLength, maxCompletionTokens } = endpoint;
  const isKnown = maxCompletionTokens !== null || contextLength !== null;
  const natural = naturalCap(endpoint, options);
  // Without a cap of the caller, a short question would hold the longest output of the model.
  const usual = asked === null ? Math.min(natural, options.defaultMaxTokens) : natural;
  if (asked !== null && (!isKnown || asked <= natural)) {
    return { maxTokens: Math.max(asked, least), mustSend: false, source: 'caller' };
  }
  const maxTokens = Math.max(usual, least);
  const toSend: Cap = { maxTokens, mustSend: true, source: isKnown && usual === natural ? 'endpoint' : 'default' };
  if (contextLength === null) return toSend;
  // The bound of a prompt is far above the prompt: beside nearly every prompt there is room for a small part.
  if (usual < natural && maxTokens <= contextLength / 4) return toSend;
  // Many servers refuse a cap for which the context has no room beside the prompt.
  const room = contextLength - longestPrompt(prompt, endpoint, options);
  if (room >= maxTokens) return toSend;
  if (room >= least && room >= maxTokens / 2) return { ...toSend, maxTokens: room };
  if (asked !== null || options.alwaysSend) return toSend;
  // The prompt may be far shorter than its bound, and leave more room. Without a cap, only the context limits the
  // output.
  return { maxTokens: Math.max(contextLength, least), mustSend: false, source: 'endpoint' };
}

/** The cap that a provider applies by itself, if it is known. */
function naturalCap({ maxCompletionTokens, contextLength }: Endpoint, { defaultMaxTokens }: CeilingOptions): number {
  if (maxCompletionTokens === null) return contextLength ?? defaultMaxTokens;
  return Math.min(maxCompletionTokens, contextLength ?? maxCompletionTokens);
}
