import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { jsonObject, list } from '../bounded.ts';
import { expectation } from '../chat/expectations.ts';
import { partOfList, type QueryFields } from '../page.ts';
import { endpointSchema, pricingSchema } from './endpoint.ts';

/** The input and output of a model. */
export const architectureSchema = lazily(() =>
  z.object({
    /** Such as `text+image->text`. */
    modality: z.string(),
    input_modalities: list(z.string()),
    output_modalities: list(z.string()),
    /** The model's family; `Other`: not known. */
    tokenizer: z.string(),
    instruct_type: z.null(),
  }),
);
export interface ShownArchitecture extends z.infer<ReturnType<typeof architectureSchema>> {}

/** A model in listings. null: not known. */
export const modelSchema = lazily(() =>
  z.object({
    id: z.string(),
    /** Clients of OpenAI's interface ask for it, and for `owned_by`. */
    object: z.literal('model'),
    /** The model's author. */
    owned_by: z.string(),
    canonical_slug: z.string(),
    name: z.string(),
    /** Unix seconds; 0: not known. */
    created: z.int(),
    description: z.string(),
    context_length: z.int().nullable(),
    architecture: architectureSchema(),
    /** The prices of the cheapest endpoint. */
    pricing: pricingSchema(),
    /** Facts about the cheapest endpoint. */
    top_provider: z.object({
      context_length: z.int().nullable(),
      max_completion_tokens: z.int().nullable(),
      is_moderated: z.boolean(),
    }),
    per_request_limits: z.null(),
    /** Request fields that at least one endpoint supports. */
    supported_parameters: list(z.string()),
    /** Defaults for requests that do not set these fields; null: none. */
    default_parameters: jsonObject().nullable(),
    supported_voices: z.null(),
    hugging_face_id: z.string().nullable(),
    knowledge_cutoff: z.string().nullable(),
    expiration_date: z.string().nullable(),
    /** `details`: the path of the list of its endpoints. */
    links: z.object({ details: z.string() }),
  }),
);
export interface ShownModel extends z.infer<ReturnType<typeof modelSchema>> {}

export const modelListSchema = lazily(() => z.object({ object: z.literal('list'), data: list(modelSchema()) }));
export interface ModelList {
  object: 'list';
  data: ShownModel[];
}

export const modelEndpointsSchema = lazily(() =>
  z.object({
    data: z.object({
      id: z.string(),
      name: z.string(),
      created: z.int(),
      description: z.string(),
      architecture: architectureSchema(),
      endpoints: list(endpointSchema()),
    }),
  }),
);

export interface ModelEndpoints extends z.infer<ReturnType<typeof modelEndpointsSchema>> {}

/** Reads names separated by commas, in lower case. */
const names = lazily(() =>
  z.string().transform((text) =>
    text
      .toLowerCase()
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  ),
);

/** USD per million tokens. */
const price = lazily(() =>
  z
    .string()
    .regex(/^(?:\d{1,12}(?:\.\d{1,20})?|null)$/, expectation('expected USD per million tokens, such as 2.5'))
    .transform((text) => (text === 'null' ? undefined : Number(text))),
);

/** A parameter without a value counts as absent. */
function withoutEmpty(query: unknown): unknown {
  const isEmpty = (value: unknown) => typeof value === 'string' && value.trim() === '';
  return Object.fromEntries(Object.entries(query as Record<string, unknown>).filter(([, value]) => !isEmpty(value)));
}

/** Kinds of output to list; null: all kinds. Default: text. */
export const outputModalities = lazily(() =>
  names()
    .transform((kinds) => (kinds.includes('all') ? null : kinds))
    .prefault('text'),
);

export const modelSorts = [
  'most-popular',
  'newest',
  'top-weekly',
  'pricing-low-to-high',
  'pricing-high-to-low',
  'context-high-to-low',
  'throughput-high-to-low',
  'latency-low-to-high',
  'intelligence-high-to-low',
  'design-arena-elo-high-to-low',
] as const;
export type ModelSort = (typeof modelSorts)[number];

const categories = [
  'programming',
  'roleplay',
  'marketing',
  'marketing/seo',
  'technology',
  'science',
  'translation',
  'legal',
  'finance',
  'health',
  'trivia',
  'academia',
] as const;

const lowerCase = lazily(() => z.string().transform((text) => text.trim().toLowerCase()));

const modelsFilters = lazily(() =>
  z.strictObject({
    /** Id of the model before the page, of clients that speak Messages. */
    after_id: z.string().optional(),
    /** Id of the model behind the page, of clients that speak Messages. */
    before_id: z.string().optional(),
    /** The most models of a page, of clients that speak Gemini. Default: 50. */
    pageSize: z
      .string()
      .regex(/^0*[1-9]\d{0,14}$/, expectation('expected an integer of at least 1'))
      .transform(Number)
      .optional(),
    /** `nextPageToken` of the page before, of clients that speak Gemini. */
    pageToken: z.string().optional(),
    /** A part of the name or slug. */
    q: lowerCase().optional(),
    /** One endpoint must support all of them. */
    supported_parameters: names().optional(),
    /** The model must accept all of them. */
    input_modalities: names().optional(),
    /** The model must produce one of them; null: any. */
    output_modalities: outputModalities(),
    /** The smallest context length, in tokens. */
    context: z
      .string()
      .regex(/^0*[1-9]\d{0,14}$/, expectation('expected an integer of at least 1'))
      .transform(Number)
      .optional(),
    /** Limits on the prompt's price. */
    min_price: price().optional(),
    max_price: price().optional(),
    /** The model's author must be one of them. */
    model_authors: names().optional(),
    /** Slugs or names; one of them must serve the model. */
    providers: names().optional(),
    /** The family of models. */
    arch: lowerCase().optional(),
    distillable: z.enum(['true', 'false']).optional(),
    zdr: z.enum(['true', 'false']).optional(),
    sort: z.enum(modelSorts).optional(),
    category: z.enum(categories).optional(),
    region: z.enum(['eu']).optional(),
    use_rss: z.enum(['false', '0'], { error: expectation('expected nothing: there is no feed, only JSON') }).optional(),
    /** A parameter of the feed. */
    use_rss_chat_links: z.enum(['true', 'false', '1', '0']).optional(),
    ...partOfList(),
  }),
);

/** Query of GET /models. */
export const modelsQuery = lazily(() => z.preprocess(withoutEmpty, modelsFilters()));
export interface ModelsQuery extends z.infer<ReturnType<typeof modelsQuery>> {}
/** The same, as a function takes it. */
export interface ModelsFields extends QueryFields<z.input<ReturnType<typeof modelsFilters>>> {}

const countFilters = lazily(() => z.strictObject({ output_modalities: outputModalities() }));

/** Query of GET /models/count. */
export const modelsCountQuery = lazily(() => z.preprocess(withoutEmpty, countFilters()));
export interface ModelsCountQuery extends z.infer<ReturnType<typeof modelsCountQuery>> {}
export interface ModelsCountFields extends QueryFields<z.input<ReturnType<typeof countFilters>>> {}
