import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { list } from '../bounded.ts';

/** Decimal USD per token; `request` per request, `image` per image, `web_search` per search. `-1`: not known. */
const priceText = lazily(() => z.string());

/** Prices of an endpoint. An absent field has no price of its own. */
export const pricingSchema = lazily(() =>
  z.object({
    prompt: priceText(),
    completion: priceText(),
    request: priceText(),
    image: priceText(),
    image_token: priceText().optional(),
    image_output: priceText().optional(),
    audio: priceText().optional(),
    audio_output: priceText().optional(),
    input_audio_cache: priceText().optional(),
    input_cache_read: priceText().optional(),
    input_cache_write: priceText().optional(),
    input_cache_write_1h: priceText().optional(),
    input_cache_write_12h: priceText().optional(),
    internal_reasoning: priceText().optional(),
    web_search: priceText().optional(),
    /** USD per query of a reranker with up to 100 documents. */
    search_unit: priceText().optional(),
    /** USD per image that is made; of several sizes and qualities, the dearest. */
    output_image: priceText().optional(),
    /** USD per megapixel of an image that is made. */
    output_megapixel: priceText().optional(),
    /** USD per character of a text that is spoken. */
    character: priceText().optional(),
    /** USD per second of audio that is transcribed. */
    second: priceText().optional(),
  }),
);
export interface ShownPricing extends z.infer<ReturnType<typeof pricingSchema>> {}

const percentilesSchema = lazily(() =>
  z.object({ p50: z.number(), p75: z.number(), p90: z.number(), p99: z.number() }).nullable(),
);

/** Status of an endpoint: healthy, failing sometimes, in cooldown, switched off. */
export const endpointStatuses = ['default', 'degraded', 'down', 'disabled'] as const;
export type EndpointStatus = (typeof endpointStatuses)[number];

/**
 * One model at one provider in responses. null: not known.
 * @see interface document, "Zero-data-retention endpoint record"
 */
export const endpointSchema = lazily(() =>
  z.object({
    model_id: z.string(),
    model_name: z.string(),
    /** `Provider | model`. */
    name: z.string(),
    provider_name: z.string(),
    /** The slug that `order`, `only` and `ignore` match. */
    tag: z.string(),
    /** Tokens; 0: not known. */
    context_length: z.int(),
    max_completion_tokens: z.int().nullable(),
    max_prompt_tokens: z.int().nullable(),
    /** `unknown`: not known. */
    quantization: z.string(),
    /** An integer with a compatibility preset. */
    status: z.union([z.enum(endpointStatuses), z.int()]),
    supported_parameters: list(z.string()),
    supports_implicit_caching: z.boolean(),
    pricing: pricingSchema(),
    /** Time to first token, ms. */
    latency_last_30m: percentilesSchema(),
    /** Output tokens per second. */
    throughput_last_30m: percentilesSchema(),
    /** Percent. */
    uptime_last_5m: z.number().nullable(),
    uptime_last_30m: z.number().nullable(),
    uptime_last_1d: z.number().nullable(),
  }),
);
export interface ShownEndpoint extends z.infer<ReturnType<typeof endpointSchema>> {}

/** An endpoint in `GET /endpoints`, with facts that the public wire does not have. */
export const endpointWithStateSchema = lazily(() =>
  endpointSchema().extend({
    /** true: a request with `provider.zdr` could use it. */
    is_zdr: z.boolean(),
    /** The time until which the endpoint is left alone; null: it is not. ISO 8601. */
    cooldown_until: z.iso.datetime().nullable(),
  }),
);
export interface ShownEndpointWithState extends z.infer<ReturnType<typeof endpointWithStateSchema>> {}
