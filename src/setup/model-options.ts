import * as z from 'zod';
import { parsePrice } from '../base/money.ts';
import { expectation } from '../schema/expectations.ts';

export const count = z.int().min(1);
export const slug = z
  .string()
  .regex(
    /^[a-z0-9]+(?:[-.][a-z0-9]+)*$/,
    expectation('expected a slug: lower-case letters, digits, single hyphens or dots'),
  );
const price = z
  .union([z.string(), z.number()])
  .refine(
    (value) => parsePrice(value) !== null,
    expectation('expected USD as a non-negative decimal, such as "0.0000025"'),
  );

const optionalPrice = price.optional();

/** What a token costs, in USD, where it does not cost the same as others of its side. */
const tokenKinds = {
  /** Read from, or written to, a prompt cache; written to one that keeps it for an hour. Default: as `prompt`; as `inputCacheWrite`. */
  inputCacheRead: optionalPrice,
  inputCacheWrite: optionalPrice,
  inputCacheWrite1h: optionalPrice,
  /** Audio of the prompt, also read from a cache, and of the completion. Default: as text. */
  audio: optionalPrice,
  inputAudioCache: optionalPrice,
  audioOutput: optionalPrice,
  /** Images of the prompt, of the completion. Default: as text. */
  imageToken: optionalPrice,
  imageOutput: optionalPrice,
  /** Reasoning. Default: as `completion`. */
  internalReasoning: optionalPrice,
};

const pricingOptions = z.strictObject({
  /** USD per token. */
  prompt: price,
  completion: price,
  ...tokenKinds,
  /** USD per image of the prompt, beside its tokens. */
  image: optionalPrice,
  /** USD per search of the web that the provider reports. */
  webSearch: optionalPrice,
  /** USD per request. */
  request: optionalPrice,
  /** Prices of requests with longer prompts; what is left out stays as it is. */
  longPrompts: z
    .array(
      z.strictObject({
        /** They hold for prompts of more tokens than this. */
        abovePromptTokens: count,
        prompt: optionalPrice,
        completion: optionalPrice,
        ...tokenKinds,
      }),
    )
    .optional(),
});

export const dataPolicyOptions = z.strictObject({
  /** true: the provider keeps nothing of a request. */
  zeroRetention: z.boolean().nullable().default(null),
  /** true: the provider may store requests or train on them. */
  trains: z.boolean().nullable().default(null),
});

const endpointOptions = z.strictObject({
  /** Slug of a configured provider. */
  provider: slug,
  /** The provider's own name for the model. */
  model: z.string().min(1),
  /** Distinguishes endpoints of one provider: `only: ["provider/variant"]`. */
  variant: slug.optional(),
  pricing: pricingOptions.optional(),
  contextLength: count.optional(),
  maxCompletionTokens: count.optional(),
  quantization: z.enum(['int4', 'int8', 'fp4', 'fp6', 'fp8', 'fp16', 'bf16', 'fp32', 'unknown']).optional(),
  /** Request fields the endpoint acts on, such as `tools`. */
  supportedParameters: z.array(z.string()).optional(),
  /** Default: the provider's. */
  dataPolicy: dataPolicyOptions.optional(),
});

export const modelOptions = z.strictObject({
  /** `author/model`. */
  slug: z.string().regex(/^[^\s/]+\/\S+$/, expectation('expected author/model')),
  name: z.string().min(1).optional(),
  /** In order of preference. */
  endpoints: z.array(endpointOptions).min(1),
});

export type ModelSettings = z.output<typeof modelOptions>;
export type PricingSettings = z.output<typeof pricingOptions>;
