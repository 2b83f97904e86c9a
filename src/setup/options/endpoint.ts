import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { parsePrice } from '../../base/money.ts';
import type { ProviderSlug } from '../../providers/index.ts';
import { expectation } from '../../schema/chat/expectations.ts';
import { type LateFields, madeFields, partFor } from '../../schema/late-fields.ts';
import { count } from '../../schema/settings/settings.ts';
import { slugForm } from '../../schema/slug-form.ts';
import { taskNames } from '../../schema/tasks.ts';

export const slug = lazily(() =>
  z.string().regex(slugForm, expectation('expected a slug: lower-case letters, digits, single hyphens or dots')),
);
const price = lazily(() =>
  z
    .union([z.string(), z.number()])
    .refine(
      (value) => parsePrice(value) !== null,
      expectation('expected USD as a non-negative decimal, such as "0.0000025"'),
    ),
);

const optionalPrice = lazily(() => price().optional());

/** 10,000 USD per million tokens. The dearest model so far costs 600: nobody sells tokens at such a price. */
const dearestTokenPico = 1e10;

/** A price of one token. One that only makes sense for a million tokens is a slip, which would refuse every request. */
const tokenPrice = lazily(() =>
  price().refine((value) => (parsePrice(value) ?? 0) < dearestTokenPico, {
    error: ({ input }) => perMillion(input as string | number),
  }),
);
const optionalTokenPrice = lazily(() => tokenPrice().optional());

function perMillion(given: string | number): string {
  const meant = (Number(given) / 1e6).toFixed(12).replace(/\.?0+$/, '');
  return expectation(`expected USD per token; if ${given} is meant per million tokens, write "${meant}"`);
}

/** Prices in USD of tokens that cost more or less than others of the prompt or the response. */
const tokenKinds = {
  /**
   * USD per token read from a prompt cache.
   * @default as `prompt`; in `longPrompts`, as for shorter prompts
   */
  inputCacheRead: optionalTokenPrice,
  /**
   * USD per token written to a prompt cache.
   * @default as `prompt`; for Claude, and from GPT-5.6 on, 1.25 times that; in `longPrompts`, as for shorter prompts
   */
  inputCacheWrite: optionalTokenPrice,
  /**
   * USD per token written to a prompt cache that keeps it for an hour.
   * @default twice `prompt`, or 1.6 times `inputCacheWrite` where that is more: the rule of the only maker of models that
   *   sells it
   */
  inputCacheWrite1h: optionalTokenPrice,
  /**
   * USD per token written to a prompt cache that keeps it for twelve hours or longer.
   * @default not known: where money is limited, a request that asks for it is refused; else the price for an hour
   */
  inputCacheWrite12h: optionalTokenPrice,
  /**
   * USD per audio token of the prompt.
   * @default as `prompt`; in `longPrompts`, as for shorter prompts
   */
  audio: optionalTokenPrice,
  /**
   * USD per audio token read from a prompt cache.
   * @default the higher of `audio` and `inputCacheRead`; in `longPrompts`, as for shorter prompts
   */
  inputAudioCache: optionalTokenPrice,
  /**
   * USD per audio token of the response.
   * @default as `completion`; in `longPrompts`, as for shorter prompts
   */
  audioOutput: optionalTokenPrice,
  /**
   * USD per image token of the prompt.
   * @default as `prompt`; in `longPrompts`, as for shorter prompts
   */
  imageToken: optionalTokenPrice,
  /**
   * USD per image token of the response.
   * @default as `completion`; in `longPrompts`, as for shorter prompts
   */
  imageOutput: optionalTokenPrice,
  /**
   * USD per reasoning token.
   * @default as `completion`; in `longPrompts`, as for shorter prompts
   */
  internalReasoning: optionalTokenPrice,
} satisfies LateFields;

const pricingFields = {
  /** USD per token of the prompt. */
  prompt: () => tokenPrice(),
  /**
   * USD per token of the response. A model that writes none, such as one of embeddings, needs none.
   * @default not known: the endpoint serves no chat where money is limited
   */
  completion: () => optionalTokenPrice(),
  ...tokenKinds,
  /** USD per image of the prompt, in addition to its tokens; compared with `max_price.image` of a request. */
  image: () => optionalPrice(),
  /** USD per web search that the provider reports. */
  webSearch: () => optionalPrice(),
  /** USD per request. */
  request: () => optionalPrice(),
  /** USD per search unit of a reranker: one query with up to 100 documents. */
  searchUnit: () => optionalPrice(),
  /** USD per image that is made, for the interface of images; in `outputImages`, by size and quality. */
  outputImage: () => optionalPrice(),
  /**
   * Prices of images by size and quality. Of an image that may be several of them, the dearest is held; one that is none
   * of them costs `outputImage`.
   */
  outputImages: () =>
    z
      .array(
        z.strictObject({
          /** The size, such as `1024x1024`. Absent: any. */
          size: z.string().min(1).optional(),
          /** The quality, such as `high`. Absent: any. */
          quality: z.string().min(1).optional(),
          /** USD per image. */
          price: price(),
        }),
      )
      .optional(),
  /** USD per megapixel of an image that is made; a part of one counts as one. */
  outputMegapixel: () => optionalPrice(),
  /** USD per character of a text that is spoken. */
  character: () => optionalPrice(),
  /** USD per second of audio that is transcribed; a part of one counts as one. */
  second: () => optionalPrice(),
  /**
   * Other prices for requests with longer prompts; where several entries apply, the one with the highest threshold
   * is used.
   */
  longPrompts: () =>
    z
      .array(
        z.strictObject({
          /** The prices apply to prompts with more tokens than this, cached tokens included. */
          abovePromptTokens: count(),
          /**
           * USD per token of the prompt.
           * @default as for shorter prompts
           */
          prompt: optionalTokenPrice(),
          /**
           * USD per token of the response.
           * @default as for shorter prompts
           */
          completion: optionalTokenPrice(),
          ...madeFields(tokenKinds),
        }),
      )
      .optional(),
} satisfies LateFields;

export const pricingOptions = lazily(() => z.strictObject(madeFields(pricingFields)));

export const dataPolicyOptions = lazily(() =>
  z.strictObject({
    /** true: the provider retains nothing of a request; null: not known. */
    zeroRetention: z.boolean().nullable().default(null),
    /** true: the provider may store requests or train on them; null: not known. */
    trains: z.boolean().nullable().default(null),
  }),
);

export const parameters = lazily(() => z.array(z.string().min(1)));

const endpointFields = {
  /** Slug of a configured provider. */
  provider: () => slug() as z.ZodType<string, ProviderSlug>,
  /** The provider's own name for the model. */
  model: () => z.string().min(1),
  /**
   * The name under which the catalogue knows the model, where `model` is a name of your own, such as a deployment of
   * Azure or the ARN of a profile of Bedrock: for prices, limits, and what the model refuses.
   * @default `model`
   */
  baseModel: () => z.string().min(1).optional(),
  /** Distinguishes endpoints of one provider: `only: ["provider/variant"]`. */
  variant: () => slug().optional(),
  /**
   * Tells the endpoint from others of the model, such as replicas, in records, spans and metrics; unique in the model. Up to
   * 64 letters, digits and `-_.:/@`; see docs/self-hosted.md#replicas.
   * @default `provider` or `provider/variant`; where several endpoints of the model share that, with `:` and `model`
   */
  name: () =>
    z
      .string()
      .regex(/^[\w.:/@-]{1,64}$/, expectation('expected up to 64 letters, digits and -_.:/@'))
      .optional(),
  /**
   * Without it, and without a built-in price, responses contain no cost.
   * @default not known
   */
  pricing: () => pricingOptions().optional(),
  /**
   * Tokens.
   * @default not known
   */
  contextLength: () => count().optional(),
  /**
   * The longest prompt, where it is shorter than the context.
   * @default not known
   */
  maxPromptTokens: () => count().optional(),
  /**
   * Tokens.
   * @default not known
   */
  maxCompletionTokens: () => count().optional(),
  /**
   * Used by `provider.quantizations` of a request.
   * @default `unknown`
   */
  quantization: () => z.enum(['int4', 'int8', 'fp4', 'fp6', 'fp8', 'fp16', 'bf16', 'fp32', 'unknown']).optional(),
  /**
   * Request fields that the endpoint supports, such as `tools`; used by `provider.require_parameters`.
   * @default the model's
   */
  supportedParameters: () => parameters().optional(),
  /**
   * The tier of the endpoint; the endpoint serves only requests that ask for this tier.
   * @default the variant of that name
   */
  serviceTier: () => z.enum(['flex', 'priority']).optional(),
  /**
   * true: the endpoint caches prompts without being asked.
   * @default not known
   */
  implicitCaching: () => z.boolean().optional(),
  /**
   * The tasks that it serves, such as `embeddings`; see docs/embeddings.md#models.
   * @default by the output modalities of the model, else by its name
   */
  tasks: () => z.array(z.enum(taskNames)).min(1).optional(),
  /**
   * true: the endpoint is listed but never used.
   * @default false
   */
  disabled: () => z.boolean().optional(),
  /**
   * The endpoint's share of the requests, among the endpoints of the model that have a weight; an endpoint without
   * one is tried after them. Not together with `order: 'price'`.
   */
  weight: () => z.number().positive().max(1_000_000).optional(),
  /**
   * The provider's treatment of the data of requests at this endpoint.
   * @default the provider's
   */
  dataPolicy: () => dataPolicyOptions().optional(),
} satisfies LateFields;

/** The part of the schema of endpoints that some of them need. */
export function endpointPart(given: readonly unknown[]): z.ZodType {
  return partFor(endpointFields, given, {
    required: ['provider', 'model'],
    smaller: { pricing: (values) => partFor(pricingFields, values, { required: ['prompt'] }).optional() },
  });
}

export const endpointOptions = lazily(() => z.strictObject(madeFields(endpointFields)));

export type PricingSettings = z.output<ReturnType<typeof pricingOptions>>;
