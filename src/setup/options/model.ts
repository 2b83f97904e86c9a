import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { isClean } from '../../base/text/clean-text.ts';
import { modalities, outputKinds } from '../../call/model.ts';
import { expectation } from '../../schema/chat/expectations.ts';
import { type LateFields, madeFields, partFor } from '../../schema/late-fields.ts';
import { modelDefaults } from '../../schema/models/model-defaults.ts';
import { count } from '../../schema/settings/settings.ts';
import { endpointOptions, endpointPart, parameters, slug } from './endpoint.ts';

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

const maxNameChars = 256;

/** A name that requests may use instead of a slug: `gpt-4o`, or one with an author. */
export const modelAlias = lazily(() =>
  z
    .string()
    .max(maxNameChars)
    .refine((name) => isClean(name) && /^[^\s~][^\s]*$/.test(name), expectation('expected a name without spaces')),
);

/** The model of a request: a slug, also with a suffix, a router, or `~author/family-latest`. */
export const modelTarget = lazily(() =>
  z
    .string()
    .max(maxNameChars)
    .regex(/^[^\s/]+\/\S+$/, expectation('expected author/model')),
);

const modelFields = {
  /** `author/model`: the name that callers ask for; unique; a suffix such as `:free` makes a separate model. */
  slug: () => z.string().regex(/^[^\s/]+\/\S+$/, expectation('expected author/model')),
  /**
   * For display.
   * @default the slug
   */
  name: () => z.string().min(1).optional(),
  /**
   * For display.
   * @default not known
   */
  description: () => z.string().min(1).optional(),
  /**
   * The release date: an ISO 8601 date, with or without a time; used by `~author/family-latest`.
   * @default not known
   */
  created: () =>
    z
      .custom<string | number>(
        (value) => unixSeconds(value) !== null,
        expectation('expected an ISO 8601 date or Unix seconds'),
      )
      .optional(),
  /**
   * Tokens, for display; routing uses the value of the endpoints.
   * @default not known
   */
  contextLength: () => count().optional(),
  /**
   * Input modalities of the model.
   * @default not known
   */
  inputModalities: () => z.array(z.enum(modalities)).min(1).optional(),
  /**
   * Output modalities of the model.
   * @default not known
   */
  outputModalities: () => z.array(z.enum(outputKinds)).min(1).optional(),
  /**
   * Used for endpoints that have no list of their own.
   * @default not known
   */
  supportedParameters: () => parameters().optional(),
  /**
   * true: the author allows training other models on its output; used by `provider.enforce_distillable_text`.
   * @default not known
   */
  distillable: () => z.boolean().optional(),
  /**
   * The family for `~author/family-latest`.
   * @default the slug's name without its version
   */
  family: () => slug().optional(),
  /**
   * 0 to 1: your own rating of the model's responses; used by `service/auto`.
   * @default not known
   */
  quality: () => z.number().min(0).max(1).optional(),
  /**
   * 0 to 1: how well the model writes code, such as a hundredth of a coding index; used by `service/pareto-code`.
   * @default `quality`, else a guess from the price
   */
  codingScore: () => z.number().min(0).max(1).optional(),
  /**
   * The `owner/name` under which the model is published.
   * @default not known
   */
  huggingFaceId: () =>
    z
      .string()
      .regex(/^[^\s/]+\/[^\s/]+$/, expectation('expected owner/name'))
      .optional(),
  /**
   * A date such as `2026-11-21`.
   * @default not known
   */
  knowledgeCutoff: () => date().optional(),
  /**
   * A date such as `2026-11-21`: when the model will be removed.
   * @default not known
   */
  expirationDate: () => date().optional(),
  /** Further names of the model, as in the option `aliases`; at most 100. */
  aliases: () => z.array(modelAlias()).max(100).optional(),
  /**
   * Slugs of the models that are called, in order, when this one fails, where the request sends no `models` and
   * allows fallbacks; at most 20; see docs/routing.md#fallbacks-of-a-model.
   */
  fallbacks: () => z.array(modelTarget()).max(20).optional(),
  /** Values of request fields, for requests that do not set them. */
  defaults: () => modelDefaults().optional(),
  /**
   * The order in which endpoints are tried where the request names none: as they are listed, or by price
   * (docs/routing.md#the-default); models of a document (docs/catalogue.md) are `price` unless they say otherwise.
   * @default `listed`
   */
  order: () => z.enum(['listed', 'price']).optional(),
  /** The endpoints that serve the model; tried in this order, unless `order` says otherwise. At least one. */
  endpoints: () => z.array(endpointOptions()).min(1),
} satisfies LateFields;

export const modelOptions = lazily(() => z.strictObject(madeFields(modelFields)));

/** The part of the schema of a list of models that some lists need. */
export function modelsPart(given: readonly unknown[]): z.ZodType {
  const endpointsPart = (values: readonly unknown[]) => z.array(endpointPart(values.flat())).min(1);
  const models = given.flat();
  return z.array(
    partFor(modelFields, models, { required: ['slug', 'endpoints'], smaller: { endpoints: endpointsPart } }),
  );
}

/** The content of a catalogue document. */
export const catalogDocument = lazily(() => z.strictObject({ models: z.array(modelOptions()) }));

/**
 * A source of the document. A function reads the document anew in each call; its signal is aborted when no request
 * waits for the document any more.
 */
export type CatalogSource = string | URL | ((signal: AbortSignal) => unknown);

export const catalogOptions = lazily(() =>
  z.strictObject({
    /**
     * A document of further models: an `https:`, `http:` or `file:` URL, a path from the working directory, or a
     * function that returns the document.
     */
    source: z
      .custom<CatalogSource>(
        (value) => (typeof value === 'string' && value !== '') || value instanceof URL || typeof value === 'function',
        expectation('expected a URL, a path or a function'),
      )
      .optional(),
    /** The time for which the document is used; the next request after that reloads it. */
    refreshMs: count().default(300_000),
    /** The longest time for loading the document. */
    timeoutMs: count().default(10_000),
    /** The largest document, decompressed; does not apply to the result of a function. */
    maxBytes: count().default(16 * 1024 * 1024),
    /** false: only models that you or the document name, or whose slug starts with a provider's slug. */
    builtInModels: z.boolean().default(true),
    /** false: models without a price from you or the document have no price. */
    builtInPrices: z.boolean().default(true),
    /**
     * true: a name without an author, such as `gpt-4o`, means the one model that has it; see
     * docs/routing.md#other-names-of-a-model.
     */
    bareNames: z.boolean().default(true),
  }),
);

export type ModelSettings = z.output<ReturnType<typeof modelOptions>>;
export type CatalogSettings = z.output<ReturnType<typeof catalogOptions>>;
