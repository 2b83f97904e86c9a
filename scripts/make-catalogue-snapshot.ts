// Makes src/catalog/snapshot.ts from a list of models:
// `node scripts/make-catalogue-snapshot.ts <sample-catalogue.json>`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Pricing } from '../src/call/model.ts';
import { type ListPrices, loadListPrices } from '../src/pricing/list-prices.ts';
import { tokenPrices } from '../src/pricing/price.ts';

/** Decimal USD per token; null: not known. */
interface ListedPricing {
  prompt: string;
  completion: string;
  input_cache_read?: string | null;
  input_cache_write?: string | null;
  request?: string | null;
  image?: string | null;
}

interface ListedEndpoint {
  provider: string;
  model_id: string;
  context_length: number | null;
  max_completion_tokens: number | null;
  quantization: string | null;
  pricing: ListedPricing;
  /** Prices for all tokens of a request whose prompt is longer than `above_tokens`. */
  pricing_above?: ({ above_tokens: number } & ListedPricing)[];
  source: string;
  as_of: string;
}

/** A model in the list. */
export interface ListedModel {
  slug: string;
  name: string;
  context_length: number | null;
  input_modalities: string[];
  output_modalities: string[];
  supported_parameters: string[];
  endpoints: ListedEndpoint[];
  source: string;
  as_of: string;
}

/** Returns the text of the file. */
export async function makeSnapshot(models: readonly ListedModel[]): Promise<string> {
  const published = await loadListPrices();
  // The gateway has no operation for models without text output.
  const kept = models.filter(({ output_modalities: modalities }) => modalities.includes('text'));
  const endpoints = kept.flatMap((model) => model.endpoints);
  const sources = new Map<string, string[]>();
  for (const { source, as_of } of [...kept, ...endpoints]) {
    const dates = sources.get(source) ?? [];
    sources.set(source, [...dates, as_of]);
  }
  const origin = [...sources]
    .map(([source, dates]) => `${source} (${[...new Set(dates)].sort().join(', ')})`)
    .sort()
    .join('; ');
  const lines = kept.map((model) => `  ${JSON.stringify(modelOf(model, published))}`).join(',\n');
  if (/[`\\]|\$\{/.test(lines)) throw new Error('The list holds a character that a template literal would change.');
  return [
    '/**',
    ` * ${kept.length} models with ${endpoints.length} endpoints, as the option \`models\` has them: JSON, a model a line. Made by`,
    ' * scripts/make-catalogue-snapshot.ts, not by hand. Facts and list prices in USD per token, as published:',
    ...wrapped(origin).map((line) => ` * ${line}`),
    ' */',
    `export const snapshot = \`[\n${lines}\n]\`;`,
    '',
  ].join('\n');
}

function modelOf(model: ListedModel, published: ListPrices): object {
  return {
    slug: model.slug,
    name: model.name,
    ...known({ contextLength: model.context_length }),
    inputModalities: modalitiesOf(model.input_modalities),
    outputModalities: modalitiesOf(model.output_modalities),
    supportedParameters: model.supported_parameters,
    endpoints: model.endpoints.map((endpoint) => endpointOf(model, endpoint, published)),
  };
}

/** One of the sources says `pdf` instead of `file`. */
function modalitiesOf(listed: readonly string[]): string[] {
  return [...new Set(listed.map((modality) => (modality === 'pdf' ? 'file' : modality)))];
}

/** Leaves out data policies, because those in the list are a router's own agreements. */
function endpointOf(model: ListedModel, endpoint: ListedEndpoint, list: ListPrices): object {
  const published = publishedOf(endpoint, list);
  return {
    provider: endpoint.provider,
    model: endpoint.model_id,
    ...known({
      contextLength: contextOf(model, endpoint, published),
      maxCompletionTokens: endpoint.max_completion_tokens,
      quantization: endpoint.quantization,
      pricing: isTooLow(endpoint, published) ? undefined : pricingOf(endpoint, published),
    }),
  };
}

/** Times at which prices are compared: every hour of a day, for prices by time of day, and two later dates. */
const moments = [
  ...Array.from({ length: 24 }, (_, hour) => Date.UTC(2026, 10, 21, hour)),
  Date.UTC(2027, 0, 2),
  Date.UTC(2028, 0, 2),
];

/** The published prices of exactly this model at these times. */
function publishedOf({ provider, model_id: model }: ListedEndpoint, list: ListPrices): Pricing[] {
  return moments.map((nowMs) => list.find(provider, model, nowMs)).filter((pricing) => pricing !== null);
}

/**
 * Some sources give the length up to which a model is cheap for its context. Where a dearer price begins at the context
 * or beyond it, the context is the model's.
 */
function contextOf(model: ListedModel, endpoint: ListedEndpoint, published: readonly Pricing[]): number | null {
  const starts = [
    ...(endpoint.pricing_above ?? []).map(({ above_tokens }) => above_tokens),
    ...published.flatMap(({ longPrompts = [] }) => longPrompts.map(({ abovePromptTokens }) => abovePromptTokens)),
  ];
  const isBeyond = (context: number) => starts.every((start) => start < context);
  const { context_length: context } = endpoint;
  if (context === null || isBeyond(context)) return context;
  return model.context_length !== null && isBeyond(model.context_length) ? model.context_length : null;
}

/**
 * Whether a price is below the published list's, for prompts of any length. The published list then counts, because a
 * budget needs the higher price and the published list knows prices by date.
 */
function isTooLow(endpoint: ListedEndpoint, published: readonly Pricing[]): boolean {
  return published.some((listed) =>
    [0, ...(listed.longPrompts ?? []).map(({ abovePromptTokens }) => abovePromptTokens)].some((start) => {
      // Sources differ by a token in where a price begins.
      const promptTokens = start === 0 ? 0 : start + 10;
      const { promptPicoUsd, completionPicoUsd } = tokenPrices(listed, promptTokens);
      const own = pricingFrom(endpoint, promptTokens);
      return Number(pico(own.prompt)) < promptPicoUsd || Number(pico(own.completion)) < completionPicoUsd;
    }),
  );
}

/** The list's price for a prompt of this length. */
function pricingFrom({ pricing, pricing_above: above = [] }: ListedEndpoint, promptTokens: number): ListedPricing {
  const reached = above.filter(({ above_tokens }) => promptTokens > above_tokens);
  return reached.at(-1) ?? pricing;
}

/** Prices that the published list has and ours may lack. */
const furtherPrices = {
  audioPicoUsd: 'audio',
  audioOutputPicoUsd: 'audioOutput',
  imageTokenPicoUsd: 'imageToken',
  imageOutputPicoUsd: 'imageOutput',
  cacheWritePicoUsd: 'inputCacheWrite',
  cacheWriteHourPicoUsd: 'inputCacheWrite1h',
  reasoningPicoUsd: 'internalReasoning',
  webSearchPicoUsd: 'webSearch',
  requestPicoUsd: 'request',
} as const satisfies Partial<Record<keyof Pricing, string>>;

/** The highest published price of each kind, for prompts of any length. */
function furtherOf(published: readonly Pricing[]): Record<string, string> {
  const further: Record<string, string> = {};
  for (const [kind, name] of Object.entries(furtherPrices)) {
    const prices = published
      .flatMap((pricing) => [pricing, ...(pricing.longPrompts ?? [])])
      .map((pricing) => (pricing as Pricing)[kind as keyof typeof furtherPrices] ?? 0);
    const highest = Math.max(0, ...prices);
    if (highest > 0) further[name] = decimal(BigInt(highest));
  }
  return further;
}

function pricingOf({ pricing, pricing_above: above = [] }: ListedEndpoint, published: readonly Pricing[]) {
  // A free trial is not a price: after its end, the costs would surprise the user.
  if (!(Number(pricing.prompt) > 0 && Number(pricing.completion) > 0)) return undefined;
  const further = furtherOf(published);
  const prices = pricesOf(pricing);
  const longPrompts = above.map(({ above_tokens: abovePromptTokens, ...given }) => {
    const long = pricesOf(given);
    // If the list has no price of cache writes for long prompts, it rises in proportion to the prompt price.
    if (prices.inputCacheWrite && !long.inputCacheWrite) {
      long.inputCacheWrite = scaled(prices.inputCacheWrite, long.prompt, prices.prompt);
    }
    // Prices per request and per search do not depend on the length of the prompt.
    const { webSearch: _, request: __, ...furtherTokens } = further;
    return { abovePromptTokens, ...furtherTokens, ...long };
  });
  return { ...further, ...prices, ...(longPrompts.length > 0 ? { longPrompts } : {}) };
}

interface Prices {
  prompt: string;
  completion: string;
  inputCacheRead?: string;
  inputCacheWrite?: string;
  request?: string;
  image?: string;
}

function pricesOf(listed: ListedPricing): Prices {
  const { prompt, completion, input_cache_read, input_cache_write, request, image } = listed;
  return known({
    prompt,
    completion,
    inputCacheRead: input_cache_read,
    inputCacheWrite: input_cache_write,
    request,
    image,
  }) as unknown as Prices;
}

/** Returns `price` x `numerator` / `denominator`, all as decimal text, rounded up to 1e-12. */
function scaled(price: string, numerator: string, denominator: string): string {
  const divisor = pico(denominator);
  const value = (pico(price) * pico(numerator) + divisor - 1n) / divisor;
  return decimal(value);
}

/** Returns a price as decimal text. */
function decimal(picoUsd: bigint): string {
  const digits = String(picoUsd).padStart(13, '0');
  return `${digits.slice(0, -12)}.${digits.slice(-12)}`.replace(/\.?0+$/, '');
}

/** Reads a price below one USD with at most 12 decimals, as pico-USD. */
function pico(decimal: string): bigint {
  const [, fraction] = /^0(?:\.(\d{1,12}))?$/.exec(decimal) ?? [];
  if (fraction === undefined && decimal !== '0') throw new Error(`${decimal} is no price of a token`);
  return BigInt((fraction ?? '').padEnd(12, '0'));
}

function known(facts: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null && value !== undefined));
}

function wrapped(text: string): string[] {
  return (text.match(/.{1,110}(?:\s|$)/g) ?? []).map((line) => line.trim());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const models = JSON.parse(readFileSync(process.argv[2] as string, 'utf8'));
  const target = join(import.meta.dirname, '../src/catalog/snapshot.ts');
  writeFileSync(target, await makeSnapshot(models));
}
