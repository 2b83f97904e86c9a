import { add, multiply, type Pico, picoToNano } from '../base/money.ts';
import type { ImageForm, PricedKind, PriceUnit, Pricing, TokenPricing } from '../call/model.ts';
import type { Usage } from '../schema/chat/chat.ts';
import { type Cost, pricesUpTo, priceUsage } from './price.ts';

/** The most that one request of a task uses at a provider, as it is counted before it is sent. */
export interface TaskBound {
  /** Tokens of the input, at least as many as a provider counts. */
  tokens: number;
  /** The least tokens that can be true: a provider that reports fewer has not counted. */
  leastTokens: number;
  /** The usual number of tokens. */
  typicalTokens: number;
  /** The kinds of content beside text, of the output too. */
  kinds: ReadonlySet<PricedKind>;
  /** Pictures: some providers charge a price for each. */
  images: number;
  /** The most units other than tokens. */
  units: Readonly<Partial<Record<PriceUnit, number>>>;
  /** The form of the images that are asked for, where they are sold by the image. Absent: any. */
  imageForm?: ImageForm;
  /** The output that is sold by tokens. Absent: there is none. */
  output?: { readonly tokens: number; readonly typicalTokens: number };
}

/** The use that is booked. */
export interface TaskUse {
  tokens: number;
  imageTokens: number;
  audioTokens: number;
  images: number;
  units: TaskBound['units'];
  /** The form of the images that were made. Absent: not known, so the dearest counts. */
  imageForm?: ImageForm;
  /** Tokens of the output. Absent: none. */
  output?: TaskOutput;
}

/** Tokens of an output, and those among them that are no text. */
export interface TaskOutput {
  tokens: number;
  imageTokens: number;
  audioTokens: number;
}

/** The words for kinds of content whose price is not known. */
const kindWords: Partial<Record<PricedKind, string>> = {
  audio: 'audio in the input',
  image: 'images in the input',
  audioOutput: 'audio in the output',
  imageOutput: 'images in the output',
};

/**
 * Returns the part of the price that a request needs and that is not known; null: all of it is known.
 * @returns '': the price of the endpoint; else a text that completes "the price of … is not known"
 */
export function unknownTaskPart(pricing: Pricing | null, { kinds, output }: TaskBound): string | null {
  if (pricing === null) return '';
  const kind = pricing.unknownKinds?.find((one) => kinds.has(one));
  if (kind !== undefined) return kindWords[kind] ?? kind;
  // A list without a price of output says nothing of what a model makes.
  return output !== undefined && output.tokens > 0 && !hasOutputPrice(pricing, kinds) ? 'the output' : null;
}

/** true: what is made has a price, if only that of its kind. */
function hasOutputPrice(pricing: Pricing, kinds: TaskBound['kinds']): boolean {
  if (pricing.isInputOnly !== true) return true;
  if (kinds.has('imageOutput')) return pricing.imageOutputPicoUsd !== undefined;
  return kinds.has('audioOutput') && pricing.audioOutputPicoUsd !== undefined;
}

/** Returns the highest cost of one request, integer nano-USD; null: its price is not known. */
export function taskCeiling(pricing: Pricing | null, bound: TaskBound): number | null {
  if (pricing === null || unknownTaskPart(pricing, bound) !== null) return null;
  const { kinds, output } = bound;
  let dearest = 0;
  let dearestOutput = 0;
  for (const prices of pricesUpTo(pricing, bound.tokens)) {
    dearest = Math.max(dearest, dearestInput(prices, kinds));
    dearestOutput = Math.max(dearestOutput, dearestOf(prices, kinds));
  }
  return picoToNano(
    add(
      add(
        add(multiply(bound.tokens, dearest), multiply(output?.tokens ?? 0, dearestOutput)),
        multiply(bound.images, pricing.imagePicoUsd ?? 0),
      ),
      add(multiply(1, pricing.requestPicoUsd ?? 0), unitsPico(pricing, bound)),
    ),
  );
}

function dearestInput(prices: TokenPricing, kinds: TaskBound['kinds']): number {
  return Math.max(
    prices.promptPicoUsd,
    kinds.has('image') ? (prices.imageTokenPicoUsd ?? 0) : 0,
    kinds.has('audio') ? (prices.audioPicoUsd ?? 0) : 0,
  );
}

function dearestOf(prices: TokenPricing, kinds: TaskBound['kinds']): number {
  return Math.max(
    prices.completionPicoUsd,
    kinds.has('imageOutput') ? (prices.imageOutputPicoUsd ?? 0) : 0,
    kinds.has('audioOutput') ? (prices.audioOutputPicoUsd ?? 0) : 0,
  );
}

/** Returns the cost of one request; null: its price is not known. */
export function taskCost(pricing: Pricing | null, use: TaskUse): Cost | null {
  if (pricing === null) return null;
  const { tokens, imageTokens, audioTokens, images } = use;
  const output = ofPricedKind(use.output ?? noOutput, pricing);
  const usage: Usage = {
    prompt_tokens: tokens,
    completion_tokens: output.tokens,
    total_tokens: tokens + output.tokens,
    prompt_tokens_details: { image_tokens: imageTokens, audio_tokens: audioTokens },
    completion_tokens_details: { image_tokens: output.imageTokens, audio_tokens: output.audioTokens },
  };
  const cost = priceUsage(usage, pricing, images);
  const ofUnits = picoToNano(unitsPico(pricing, use));
  if (ofUnits === 0) return cost;
  const isMade = isOfOutput(use.units);
  return {
    ...cost,
    totalNanoUsd: cost.totalNanoUsd + ofUnits,
    promptNanoUsd: cost.promptNanoUsd + (isMade ? 0 : ofUnits),
    completionNanoUsd: cost.completionNanoUsd + (isMade ? ofUnits : 0),
    kinds: isMade
      ? { ...cost.kinds, outputMediaNanoUsd: cost.kinds.outputMediaNanoUsd + ofUnits }
      : { ...cost.kinds, inputNanoUsd: cost.kinds.inputNanoUsd + ofUnits },
  };
}

const noOutput: TaskOutput = { tokens: 0, imageTokens: 0, audioTokens: 0 };

/** Returns an output as it is charged: all of it as the one kind that has a price, where text has none. */
function ofPricedKind(output: TaskOutput, { isInputOnly, imageOutputPicoUsd }: Pricing): TaskOutput {
  if (isInputOnly !== true) return output;
  const { tokens } = output;
  return imageOutputPicoUsd === undefined
    ? { tokens, imageTokens: 0, audioTokens: tokens }
    : { tokens, imageTokens: tokens, audioTokens: 0 };
}

/** true: the units are of what is made, and not of what is read. */
function isOfOutput(units: TaskBound['units']): boolean {
  return 'image' in units || 'megapixel' in units;
}

/** Units, and the form of those that are images. */
interface Sold {
  units: TaskBound['units'];
  imageForm?: ImageForm;
}

function unitsPico(pricing: Pricing, { units, imageForm }: Sold): Pico {
  let sum: Pico = 0;
  for (const [unit, count] of Object.entries(units)) {
    const each = unit === 'image' ? imagePrice(pricing, imageForm) : (pricing.unitsPicoUsd?.[unit as PriceUnit] ?? 0);
    sum = add(sum, multiply(count, each));
  }
  return sum;
}

/**
 * Returns the price of an image: the dearest of the variants that it may be, where the list has any of them; else that of
 * any image.
 */
function imagePrice({ unitsPicoUsd, imageVariants = [] }: Pricing, form: ImageForm = anyForm): number {
  const mayBe = (asked: string | null, variant: string | undefined) =>
    asked === null || variant === undefined || asked === variant;
  const prices = imageVariants
    .filter(({ size, quality }) => mayBe(form.size, size) && mayBe(form.quality, quality))
    .map(({ picoUsd }) => picoUsd);
  const isAny = form.size === null || form.quality === null;
  const usual = unitsPicoUsd?.image ?? 0;
  if (prices.length > 0) return isAny ? Math.max(usual, ...prices) : Math.max(...prices);
  // A size that no list names is no cheaper than the dearest one that it does.
  return Math.max(usual, ...(usual > 0 ? [] : imageVariants.map(({ picoUsd }) => picoUsd)));
}

const anyForm: ImageForm = { size: null, quality: null };
