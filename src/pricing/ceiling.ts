import { add, multiply, type Pico, picoToNano } from '../base/money.ts';
import type { Endpoint, Pricing, TokenPricing } from '../call/model.ts';
import type { ChatMessage, ChatRequest, FilePart } from '../schema/chat.ts';
import { earlierAudioTokens, imageTokens, mediaTokens } from './media-tokens.ts';
import { pricesUpTo } from './price.ts';
import { searchFields, silentFields } from './silent-fields.ts';
import { type Effort, jsonBound, newEffort, quotedBound, textBound } from './token-bound.ts';

/** Upper bounds of a request for any endpoint. Counted once and used for every endpoint. */
export interface PromptBound {
  /** Never fewer than a provider counts. */
  tokens: number;
  /** Images in the prompt: some providers charge a price for each. */
  images: number;
  /** The number of choices that the request asks for (`n`). */
  choices: number;
  /** Tokens of a prediction. Those that a response does not use are charged as output, in addition to it. */
  predictedTokens: number;
  /** Searches that the provider itself may run: some providers charge a price for each. */
  searches: number;
  /**
   * Tokens that the provider's own tools may add to the prompt, turn by turn. Not part of `tokens`, nor of the context.
   */
  toolTokens: number;
}

/** The highest possible cost of one attempt. */
export interface Ceiling {
  promptTokens: number;
  /** For all choices together. */
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
  /** The largest output if neither the caller nor the endpoint names one. */
  defaultMaxTokens: number;
  /**
   * The provider's smallest `max_tokens`. The dialect raises a smaller value to it (quirk `minMaxTokens`). Default 0.
   */
  minMaxTokens?: number;
  /** true: `max_tokens` does not limit reasoning; only the provider's own limits do. Default false. */
  reasoningIsExtra?: boolean;
}

/**
 * Tokens that a provider adds invisibly: a system text of its own (grok-4 680 tokens, command-r7b 495, gpt-oss 75), the
 * date, and the marks around the prompt.
 */
const tokensPerRequest = 1_024;
/** The marks around a message, and its role. */
const tokensPerMessage = 16;
/** The instructions for calling tools: command-r7b 900, llama-4 690, Claude 530. */
const tokensForTools = 1_536;
const tokensPerTool = 32;
const tokensPerToolCall = 32;
/** The instructions that a response must be JSON of a certain schema. */
const tokensForFormat = 512;
/** Pages that a provider's own search or fetch reads, again in every turn. */
const tokensOfOwnTools = 200_000;
const searchesOfOwnTools = 20;

/** Counts an upper bound of the prompt's tokens. Linear in the size of the request. */
export function boundPrompt(request: ChatRequest): PromptBound {
  const effort = newEffort();
  const fields = request as Record<string, unknown>;
  const bound: PromptBound = {
    tokens: tokensPerRequest,
    images: 0,
    choices: choicesOf(fields),
    predictedTokens: fields.prediction ? jsonBound(fields.prediction, effort) : 0,
    searches: 0,
    toolTokens: 0,
  };
  for (const message of request.messages) addMessage(bound, message, effort);
  let runsTools = searchFields.some((name) => fields[name]);
  if (request.tools) {
    bound.tokens += tokensForTools;
    for (const tool of request.tools) {
      bound.tokens += tokensPerTool + jsonBound(tool, effort);
      runsTools ||= tool.type !== 'function';
    }
  }
  if (request.response_format) bound.tokens += tokensForFormat + jsonBound(request.response_format, effort);
  bound.tokens += bound.predictedTokens;
  for (const name in fields) {
    const value = fields[name];
    if (value === null || value === undefined || silentFields.has(name)) continue;
    bound.tokens += quotedBound(name, effort) + jsonBound(value, effort);
  }
  if (runsTools) {
    bound.toolTokens = tokensOfOwnTools;
    bound.searches = searchesOfOwnTools;
  }
  return bound;
}

/** `n` and similar fields reach us as unknown fields of any type. The provider refuses a value that is no number. */
function choicesOf({ n, best_of }: Record<string, unknown>): number {
  let choices = 1;
  for (const value of [n, best_of]) {
    const asked = value ? Math.ceil(Number(value)) : 1;
    if (Number.isSafeInteger(asked)) choices = Math.max(choices, asked);
  }
  return choices;
}

function addMessage(bound: PromptBound, message: ChatMessage, effort: Effort): void {
  bound.tokens += tokensPerMessage;
  for (const field in message) {
    const value = (message as Record<string, unknown>)[field];
    if (value === null || value === undefined || field === 'role') continue;
    switch (field) {
      case 'content':
        addContent(bound, message, effort);
        break;
      case 'tool_calls':
        addToolCalls(bound, value, effort);
        break;
      case 'images':
        addImages(bound, value);
        break;
      case 'audio':
        bound.tokens += earlierAudioTokens.most + jsonBound(withoutData(value), effort);
        break;
      default:
        bound.tokens += quotedBound(field, effort) + jsonBound(value, effort);
    }
  }
}

function addContent(bound: PromptBound, { role, content }: ChatMessage, effort: Effort): void {
  // Templates write the result of a tool as plain text, or as a JSON string.
  const ofText = role === 'tool' ? quotedBound : textBound;
  if (typeof content === 'string') {
    bound.tokens += ofText(content, effort);
    return;
  }
  for (const part of content ?? []) {
    bound.tokens += tokensPerMessage;
    for (const field in part) addPartField(bound, field, (part as Record<string, unknown>)[field], ofText, effort);
  }
}

function addPartField(
  bound: PromptBound,
  field: string,
  value: unknown,
  ofText: (text: string, effort: Effort) => number,
  effort: Effort,
): void {
  if (value === null || value === undefined || field === 'type' || field === 'cache_control') return;
  const media = mediaTokens(field, value);
  if (media) {
    bound.tokens += media.most;
    if (field === 'image_url') bound.images++;
    if (field === 'file') bound.tokens += jsonBound((value as FilePart['file']).filename, effort);
  } else if (field === 'text' && typeof value === 'string') bound.tokens += ofText(value, effort);
  else bound.tokens += quotedBound(field, effort) + jsonBound(value, effort);
}

function addToolCalls(bound: PromptBound, calls: unknown, effort: Effort): void {
  if (!Array.isArray(calls)) return;
  for (const call of calls) {
    bound.tokens += tokensPerToolCall + jsonBound(call, effort);
    const text: unknown = call?.function?.arguments;
    // A template may write the text as the JSON in it, with more spaces, and indented.
    if (typeof text === 'string') bound.tokens += quotedBound(text, effort);
  }
}

function addImages(bound: PromptBound, images: unknown): void {
  const count = Array.isArray(images) ? images.length : 1;
  bound.images += count;
  bound.tokens += count * imageTokens.most;
}

/** The audio data itself is not text. */
function withoutData(audio: unknown): unknown {
  if (typeof audio !== 'object' || audio === null) return audio;
  const { data: _, ...rest } = audio as Record<string, unknown>;
  return rest;
}

/**
 * The highest possible cost of one attempt at an endpoint: every token at the highest price for input or output, and
 * the largest output.
 * @returns null: the endpoint's price is not known
 */
export function ceilingOf(
  request: ChatRequest,
  prompt: PromptBound,
  endpoint: Endpoint,
  options: CeilingOptions,
): Ceiling | null {
  if (endpoint.pricing === null) return null;
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
 * The largest output of one choice whose ceiling fits into an amount; at most the largest output that `ceilingOf` uses.
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
  if (endpoint.pricing === null || !(amountNanoUsd >= 0)) return 0;
  const { fixedPico, perTokenPico } = worstCase(prompt, endpoint, endpoint.pricing, options);
  const { maxTokens } = capOf(request, prompt, endpoint, options);
  const sparePico = BigInt(Math.min(Math.floor(amountNanoUsd), Number.MAX_SAFE_INTEGER)) * 1000n - BigInt(fixedPico);
  if (sparePico < 0n) return 0;
  if (sparePico >= times(perTokenPico, maxTokens)) return maxTokens;
  const tokens = Number(sparePico / BigInt(perTokenPico));
  return tokens < (options.minMaxTokens ?? 0) ? 0 : tokens;
}

interface WorstCase {
  promptTokens: number;
  /** Output of each choice that `max_tokens` does not limit. */
  extraTokens: number;
  /** All costs that do not depend on `max_tokens`, in pico-USD. */
  fixedPico: Pico;
  /** The cost of raising `max_tokens` by one, for all choices. */
  perTokenPico: Pico;
}

function worstCase(prompt: PromptBound, endpoint: Endpoint, pricing: Pricing, options: CeilingOptions): WorstCase {
  // No prompt is longer than the context of the endpoint.
  const promptTokens = Math.min(prompt.tokens, endpoint.contextLength ?? prompt.tokens) + prompt.toolTokens;
  const extraTokens = prompt.predictedTokens + (options.reasoningIsExtra ? naturalCap(endpoint, options) : 0);
  let promptPicoUsd = 0;
  let completionPicoUsd = 0;
  for (const prices of pricesUpTo(pricing, promptTokens)) {
    promptPicoUsd = Math.max(promptPicoUsd, dearestPrompt(prices));
    completionPicoUsd = Math.max(completionPicoUsd, dearestCompletion(prices));
  }
  const perTokenPico = multiply(prompt.choices, completionPicoUsd);
  let fixedPico = multiply(promptTokens, promptPicoUsd);
  fixedPico = add(fixedPico, multiply(prompt.images, pricing.imagePicoUsd ?? 0));
  fixedPico = add(fixedPico, multiply(prompt.searches, pricing.webSearchPicoUsd ?? 0));
  fixedPico = add(fixedPico, multiply(1, pricing.requestPicoUsd ?? 0));
  fixedPico = add(fixedPico, times(perTokenPico, extraTokens));
  return { promptTokens, extraTokens, fixedPico, perTokenPico };
}

/** Multiplies an amount. */
function times(pico: Pico, count: number): Pico {
  return typeof pico === 'number' ? multiply(count, pico) : pico * BigInt(count);
}

function dearestPrompt(prices: TokenPricing): number {
  return Math.max(
    prices.promptPicoUsd,
    prices.cacheReadPicoUsd ?? 0,
    prices.cacheWritePicoUsd ?? 0,
    prices.cacheWriteHourPicoUsd ?? 0,
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
  if (asked !== null && (!isKnown || asked <= natural)) {
    return { maxTokens: Math.max(asked, least), mustSend: false, source: 'caller' };
  }
  const maxTokens = Math.max(natural, least);
  if (!isKnown) return { maxTokens, mustSend: true, source: 'default' };
  // Many servers refuse a cap for which the context has no room beside the prompt.
  const room = contextLength === null ? maxTokens : contextLength - prompt.tokens;
  if (room >= maxTokens) return { maxTokens, mustSend: true, source: 'endpoint' };
  if (room >= least && room >= maxTokens / 2) return { maxTokens: room, mustSend: true, source: 'endpoint' };
  // The prompt may be far shorter than its bound, and leave more room: the provider decides.
  return { maxTokens, mustSend: asked !== null, source: 'endpoint' };
}

/** The cap that a provider applies by itself, if it is known. */
function naturalCap({ maxCompletionTokens, contextLength }: Endpoint, { defaultMaxTokens }: CeilingOptions): number {
  if (maxCompletionTokens === null) return contextLength ?? defaultMaxTokens;
  return Math.min(maxCompletionTokens, contextLength ?? maxCompletionTokens);
}
