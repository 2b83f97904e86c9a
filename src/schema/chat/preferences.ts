import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { list } from '../bounded.ts';
import { flagOrNull, text } from '../scalars.ts';
import { expectations } from './expectations.ts';

const slugs = lazily(() => list(text()).nullish());

/** USD; a decimal string without sign or exponent, or a number. */
const price = lazily(() =>
  z.union([
    z
      .string()
      .max(40)
      .regex(/^(?:\d+(?:\.\d*)?|\.\d+)$/, { error: expectations.decimal }),
    z.number().nonnegative(),
  ]),
);

const cutoff = lazily(() => z.number().nonnegative().nullish());

/** A number is a limit on the median. An object sets limits per percentile; all of them must hold. */
const cutoffs = lazily(() =>
  z.union([z.number().nonnegative(), z.strictObject({ p50: cutoff(), p75: cutoff(), p90: cutoff(), p99: cutoff() })]),
);

/** The order of endpoints. */
export const sortBy = lazily(() => z.enum(['price', 'throughput', 'latency', 'exacto']));
export type ProviderSort = z.infer<ReturnType<typeof sortBy>>;

/**
 * The providers that may serve a request, and their order. Unknown keys are refused, also in inner objects: if a
 * misspelt limit or filter were ignored, the gateway could spend money or send data against the caller's will.
 * @see interface document, "rulings: Defaults"; defaults and meaning of each field: docs/decisions.md
 */
export const providerPreferencesSchema = lazily(() =>
  z.strictObject({
    /** These providers come first, in this order; the others follow unless `allow_fallbacks` is false. */
    order: slugs(),
    /** Only these providers or endpoints. */
    only: slugs(),
    /** None of these providers or endpoints. */
    ignore: slugs(),
    /** Default true. */
    allow_fallbacks: flagOrNull(),
    /** Default false. */
    require_parameters: flagOrNull(),
    /** Default `allow`. */
    data_collection: z.enum(['allow', 'deny']).nullish(),
    /** false has no effect. */
    zdr: flagOrNull(),
    /** true: only models whose output may train others. */
    enforce_distillable_text: flagOrNull(),
    /** Only endpoints with one of these quantizations. */
    quantizations: list(z.enum(['int4', 'int8', 'fp4', 'fp6', 'fp8', 'fp16', 'bf16', 'fp32', 'unknown'])).nullish(),
    /** The criterion for the order of the endpoints. */
    sort: z
      .union([sortBy(), z.strictObject({ by: sortBy().nullish(), partition: z.enum(['model', 'none']).nullish() })])
      .nullish(),
    /** `prompt` and `completion` in USD per million tokens, the others in USD per unit. */
    max_price: z
      .strictObject({
        /** USD per million tokens of the prompt. */
        prompt: price().optional(),
        /** USD per million tokens of the response. */
        completion: price().optional(),
        /** USD per image. */
        image: price().optional(),
        /** USD per unit of audio. */
        audio: price().optional(),
        /** USD per request. */
        request: price().optional(),
      })
      .optional(),
    /** Tokens per second. */
    preferred_min_throughput: cutoffs().nullish(),
    /** Seconds. */
    preferred_max_latency: cutoffs().nullish(),
  }),
);
export interface ProviderPreferences extends z.infer<ReturnType<typeof providerPreferencesSchema>> {}
