import * as z from 'zod';
import { lazily } from '../base/lazily.ts';
import { parsePrice } from '../base/money.ts';
import { modalities } from '../call/model.ts';
import { expectation } from '../schema/expectations.ts';
import { count } from '../schema/settings.ts';

export const slug = lazily(() =>
  z
    .string()
    .regex(
      /^[a-z0-9]+(?:[-.][a-z0-9]+)*$/,
      expectation('expected a slug: lower-case letters, digits, single hyphens or dots'),
    ),
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

/** What a token costs, in USD, where it does not cost the same as others of its side. */
const tokenKinds = lazily(() => ({
  /** Read from, or written to, a prompt cache; written to one that keeps it for an hour. Default: as `prompt`; as `inputCacheWrite`. */
  inputCacheRead: optionalPrice(),
  inputCacheWrite: optionalPrice(),
  inputCacheWrite1h: optionalPrice(),
  /** Audio of the prompt, also read from a cache, and of the completion. Default: as text. */
  audio: optionalPrice(),
  inputAudioCache: optionalPrice(),
  audioOutput: optionalPrice(),
  /** Images of the prompt, of the completion. Default: as text. */
  imageToken: optionalPrice(),
  imageOutput: optionalPrice(),
  /** Reasoning. Default: as `completion`. */
  internalReasoning: optionalPrice(),
}));

const pricingOptions = lazily(() =>
  z.strictObject({
    /** USD per token. */
    prompt: price(),
    completion: price(),
    ...tokenKinds(),
    /** USD per image of the prompt, beside its tokens. */
    image: optionalPrice(),
    /** USD per search of the web that the provider reports. */
    webSearch: optionalPrice(),
    /** USD per request. */
    request: optionalPrice(),
    /** Prices of requests with longer prompts; what is left out stays as it is. */
    longPrompts: z
      .array(
        z.strictObject({
          /** They hold for prompts of more tokens than this. */
          abovePromptTokens: count(),
          prompt: optionalPrice(),
          completion: optionalPrice(),
          ...tokenKinds(),
        }),
      )
      .optional(),
  }),
);

export const dataPolicyOptions = lazily(() =>
  z.strictObject({
    /** true: the provider keeps nothing of a request. */
    zeroRetention: z.boolean().nullable().default(null),
    /** true: the provider may store requests or train on them. */
    trains: z.boolean().nullable().default(null),
  }),
);

const dateForm = /^\d{4}-\d{2}-\d{2}$/;

/**
 * Reads a moment as the options write it.
 * @param value  an ISO 8601 date, with or without a time, or Unix seconds
 * @returns Unix seconds, or null for anything else
 */
export function unixSeconds(value: unknown): number | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : null;
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:\d{2}))?$/.test(value)) return null;
  const ms = Date.parse(value);
  return Number.isNaN(ms) || ms < 0 ? null : Math.floor(ms / 1000);
}

const date = lazily(() =>
  z
    .string()
    .refine(
      (value) => dateForm.test(value) && unixSeconds(value) !== null,
      expectation('expected a date such as 2026-11-21'),
    ),
);
const parameters = lazily(() => z.array(z.string().min(1)));

const endpointOptions = lazily(() =>
  z.strictObject({
    /** Slug of a configured provider. */
    provider: slug(),
    /** The provider's own name for the model. */
    model: z.string().min(1),
    /** Distinguishes endpoints of one provider: `only: ["provider/variant"]`. */
    variant: slug().optional(),
    pricing: pricingOptions().optional(),
    contextLength: count().optional(),
    /** The longest prompt, where it is shorter than the context. */
    maxPromptTokens: count().optional(),
    maxCompletionTokens: count().optional(),
    quantization: z.enum(['int4', 'int8', 'fp4', 'fp6', 'fp8', 'fp16', 'bf16', 'fp32', 'unknown']).optional(),
    /** Request fields the endpoint acts on, such as `tools`. Default: the model's. */
    supportedParameters: parameters().optional(),
    /** A tier of its own, for those who ask for it. Default: the variant, where it is called `flex` or `priority`. */
    serviceTier: z.enum(['flex', 'priority']).optional(),
    /** true: it caches prompts without being asked to. */
    implicitCaching: z.boolean().optional(),
    /** true: it is listed, and never used. */
    disabled: z.boolean().optional(),
    /**
     * Its share of the requests, among the endpoints of the model that have a weight; those without one are tried after
     * them. Not with `order: 'price'`.
     */
    weight: z.number().positive().max(1_000_000).optional(),
    /** Default: the provider's. */
    dataPolicy: dataPolicyOptions().optional(),
  }),
);

export const modelOptions = lazily(() =>
  z.strictObject({
    /** `author/model`. */
    slug: z.string().regex(/^[^\s/]+\/\S+$/, expectation('expected author/model')),
    name: z.string().min(1).optional(),
    description: z.string().min(1).optional(),
    /** When it came out. */
    created: z
      .custom<string | number>(
        (value) => unixSeconds(value) !== null,
        expectation('expected an ISO 8601 date or Unix seconds'),
      )
      .optional(),
    contextLength: count().optional(),
    inputModalities: z.array(z.enum(modalities)).min(1).optional(),
    outputModalities: z.array(z.enum(modalities)).min(1).optional(),
    /** Of its endpoints that do not say themselves. */
    supportedParameters: parameters().optional(),
    /** true: its author allows others to be trained on what it writes. */
    distillable: z.boolean().optional(),
    /** Of `~author/family-latest`. */
    family: slug().optional(),
    /** How good its answers are, as you see it. */
    quality: z.number().min(0).max(1).optional(),
    huggingFaceId: z
      .string()
      .regex(/^[^\s/]+\/[^\s/]+$/, expectation('expected owner/name'))
      .optional(),
    knowledgeCutoff: date().optional(),
    expirationDate: date().optional(),
    /** Where requests name neither `order` nor a sort: `listed`, in the order of `endpoints`; `price`, the cheaper more often. */
    order: z.enum(['listed', 'price']).optional(),
    /** At least one. */
    endpoints: z.array(endpointOptions()).min(1),
  }),
);

/** What a catalogue document holds. */
export const catalogDocument = lazily(() => z.strictObject({ models: z.array(modelOptions()) }));

/** Reads the document anew each time it is called; the signal says when nobody waits for it any more. */
export type CatalogSource = string | URL | ((signal: AbortSignal) => unknown);

export const catalogOptions = lazily(() =>
  z.strictObject({
    /** The document: an http, https or file URL, a path, or a function that returns it. */
    source: z
      .custom<CatalogSource>(
        (value) => (typeof value === 'string' && value !== '') || value instanceof URL || typeof value === 'function',
        expectation('expected a URL, a path or a function'),
      )
      .optional(),
    /** So long it is believed. */
    refreshMs: count().default(300_000),
    /** How long reading it may take. */
    timeoutMs: count().default(10_000),
    /** The document, decompressed. */
    maxBytes: count().default(16 * 1024 * 1024),
    /** false: only models that you name, or that start with a provider's slug. */
    builtInModels: z.boolean().default(true),
    /** false: prices are unknown unless you name them. */
    builtInPrices: z.boolean().default(true),
  }),
);

export type ModelSettings = z.output<ReturnType<typeof modelOptions>>;
export type PricingSettings = z.output<ReturnType<typeof pricingOptions>>;
export type CatalogSettings = z.output<ReturnType<typeof catalogOptions>>;
