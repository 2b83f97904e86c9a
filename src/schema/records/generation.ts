import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { exclusionSchema } from '../chat/envelope.ts';
import { expectation } from '../chat/expectations.ts';
import { fromText, toTextOrPlace } from '../instant.ts';
import { limitParameter, offsetParameter, type QueryFields, uuidText } from '../page.ts';
import { count } from '../scalars.ts';

const texts = lazily(() => z.string().nullable());
const counts = lazily(() => count().nullable());
const numbers = lazily(() => z.number().nullable());

/** The outcomes of a client call. `cut`: failed after the first token. `cancelled`: the client left. */
export const outcomes = ['ok', 'failed', 'cut', 'cancelled', 'lost'] as const;
const generationOutcomes = ['ok', 'failed', 'cut', 'cancelled'] as const;

/** The parts of a cost, in the order in which people read them. */
export const costPartNames = [
  'input',
  'cached',
  'cache_writes',
  'input_media',
  'output',
  'reasoning',
  'output_media',
  'request',
  'searches',
  'failed_attempts',
  'plugins',
  'guardrails',
  'tools',
] as const;
export type CostPartName = (typeof costPartNames)[number];

const nanoUsd = lazily(() => z.int().optional());
const millis = lazily(() => z.number().nullable());

/** The parts of a booked cost, integer nano-USD. A part that is absent is 0. */
const costPartsSchema = lazily(() =>
  z.object({
    /** Tokens of the prompt but cached ones. */
    input: nanoUsd(),
    /** Tokens of the prompt that were read from a cache. */
    cached: nanoUsd(),
    /** Tokens of the prompt that were written to a cache. */
    cache_writes: nanoUsd(),
    /** Images and audio of the prompt. */
    input_media: nanoUsd(),
    /** Tokens of the response but reasoning. */
    output: nanoUsd(),
    /** Reasoning. */
    reasoning: nanoUsd(),
    /** Images and audio of the response. */
    output_media: nanoUsd(),
    /** Prices per request. */
    request: nanoUsd(),
    /** Searches that providers made. */
    searches: nanoUsd(),
    /** Attempts that failed, and may be charged all the same. */
    failed_attempts: nanoUsd(),
    /** Spent by plugins beside models. */
    plugins: nanoUsd(),
    /** Spent by guardrails beside models. */
    guardrails: nanoUsd(),
    /** Spent by server tools. */
    tools: nanoUsd(),
  } satisfies Record<CostPartName, z.ZodType>),
);

/** One upstream response of a call. Times are milliseconds since the request arrived; null: not reached. */
const generationDetailSchema = lazily(() =>
  z.object({
    /** Slug as this generation asked for it. */
    requested: z.string(),
    /** Slug of the model that served. */
    model: texts(),
    /** Display name of the provider that served. */
    provider: texts(),
    /** Name of the endpoint that served. */
    endpoint: texts(),
    /** The outcome. */
    outcome: z.enum(generationOutcomes),
    /** HTTP status of its end. */
    status: z.int(),
    /** The number of its attempts. They follow each other in `attempts`. */
    attempts: count(),
    /** The beginning. */
    started_ms: z.number(),
    /** The route was planned. */
    planned_ms: millis(),
    /** The money was held. */
    held_ms: millis(),
    /** The first attempt was sent. */
    sent_ms: millis(),
    /** The first token, or the complete response, was there. */
    first_token_ms: millis(),
    /** The end. */
    ended_ms: millis(),
    /** The most that was held for it, integer nano-USD. */
    held_nano_usd: z.int(),
    /** The booked cost, integer nano-USD; null: a price is not known. */
    cost_nano_usd: z.int().nullable(),
  }),
);

/** Work of a plugin, a guardrail or a server tool for which the request waited. */
const workSchema = lazily(() =>
  z.object({
    /** The kind of worker. */
    kind: z.enum(['plugin', 'guardrail', 'server_tool']),
    /** Its name, or the id of the guardrail. */
    name: z.string(),
    /** The hook of a plugin or guardrail, such as `before`; null for a tool. */
    hook: texts(),
    /** Milliseconds from the arrival of the request to its beginning. */
    started_ms: z.number(),
    /** Its length, in milliseconds. */
    ms: z.number(),
    /** The outcome. `refused`: with an error for the client. */
    outcome: z.enum(['ok', 'refused', 'cancelled', 'failed']),
  }),
);

/**
 * The record of one client call for a completion: the fields of the public wire, then our own. Fields of the wire that
 * this gateway has no value for are null. It contains no prompt, no response and no key.
 * @see interface document, "GET /generation"
 */
export const generationSchema = lazily(() =>
  z.object({
    /** `gen-…`, as in the response. */
    id: z.string(),
    /** The provider's own id of the request that served. */
    upstream_id: texts(),
    /** USD; null: the price is not known. */
    total_cost: numbers(),
    /** Always null. */
    cache_discount: numbers(),
    /** USD at the provider of a workspace's own credential. */
    upstream_inference_cost: numbers(),
    /** ISO 8601: when the request arrived. */
    created_at: z.string(),
    /** Slug of the model that served; what was asked for where none did. */
    model: z.string(),
    /** Always null. */
    app_id: z.null(),
    /** true: the request asked for a stream. */
    streamed: z.boolean().nullable(),
    /** The workspace's switch `is_data_discount_logging_enabled`; null: not known. */
    data_discount_logging: z.boolean().nullable().default(null),
    /** true: the client left. */
    cancelled: z.boolean().nullable(),
    /** Display name of the provider that served. */
    provider_name: texts(),
    /** Milliseconds to the first token, or to the complete response. */
    latency: numbers(),
    /** Always null. */
    moderation_latency: numbers(),
    /** Milliseconds from then to the end. */
    generation_time: numbers(),
    /** The reason why the response ended. */
    finish_reason: texts(),
    /** As the provider named it; null: it named none. */
    service_tier: texts(),
    /** Tokens of the prompt. */
    tokens_prompt: counts(),
    /** Tokens of the response. */
    tokens_completion: counts(),
    /** The same, as the provider counts. */
    native_tokens_prompt: counts(),
    /** The same, as the provider counts. */
    native_tokens_completion: counts(),
    /** Image tokens of the response. */
    native_tokens_completion_images: counts(),
    /** Reasoning tokens of the response. */
    native_tokens_reasoning: counts(),
    /** Tokens of the prompt that were read from a cache. */
    native_tokens_cached: counts(),
    /** Images, videos and files in the prompt. */
    num_media_prompt: counts(),
    /** Pieces of audio in the prompt. */
    num_input_audio_prompt: counts(),
    /** Always null. */
    num_media_completion: counts(),
    /** Searches of the web. */
    num_search_results: counts(),
    /** Calls of the tool that fetches pages; null: none. */
    num_fetches: counts(),
    /** Engine of the plugin `web`; null: it did not search. */
    web_search_engine: texts(),
    /** Origin of that page or app; empty: it did not say. */
    origin: z.string(),
    /** As `total_cost`. */
    usage: numbers(),
    /** true: a workspace's own provider credential served. */
    is_byok: z.boolean(),
    /** The finish reason as the provider named it. */
    native_finish_reason: texts(),
    /** The host app's id of the user, else the request's field `user`. */
    external_user: texts(),
    /** The host app's id of the user: it alone decides which of its users may read the record. */
    user_id: texts().optional(),
    /** The request's field `user`. */
    user: texts().optional(),
    /** Always `completions`. */
    api_type: z.string().nullable(),
    /** Always null. */
    preset_id: texts(),
    /** The router model that was asked, such as `service/auto`. */
    router: texts(),
    /** One for each attempt, in order. */
    provider_responses: z
      .array(
        z.object({
          status: z.int().nullable(),
          latency: z.number(),
          is_byok: z.boolean(),
          model_permaslug: z.string(),
        }),
      )
      .nullable(),
    /** The header `User-Agent` of the request. */
    user_agent: texts(),
    /** The header `HTTP-Referer` of the request, else `Referer`, without its query. */
    http_referer: texts(),
    /** Always `global`. */
    data_region: z.string(),
    /** The caller's own grouping key. */
    session_id: texts(),
    /** Id of the workspace. */
    workspace_id: z.string(),
    /** SHA-256 of the API key, hex. */
    api_key_hash: texts(),
    /** Labels of the API key. */
    tags: z.array(z.string()),
    /** `createChatCompletion`, `createResponse` or `compactResponse`. */
    operation: z.string(),
    /** Slug as sent. */
    requested: z.string(),
    /** The outcome. `lost`: the process that served it died, and its holds were booked. */
    outcome: z.enum(outcomes),
    /** HTTP status of the response; 499 where the client left. */
    status: z.int(),
    /** The error that was reported to the client. */
    error: z.object({ type: z.string(), message: z.string() }).nullable(),
    /** Milliseconds from the arrival to the end. */
    total_ms: z.number(),
    /** The booked cost, integer nano-USD; null: nothing was booked, because a price is not known. */
    cost_nano_usd: z.int().nullable(),
    /** The part of the cost that was booked for lost holds, integer nano-USD. Absent: none. */
    lost_nano_usd: z.int().optional(),
    /** The most that was held, integer nano-USD. */
    held_nano_usd: z.int(),
    /** true: a provider reported no usage; counted here. */
    is_estimated: z.boolean(),
    /** The number of upstream responses of the call. */
    generations: count(),
    /** Every attempt, in order. */
    attempts: z.array(
      z.object({
        provider: z.string(),
        /** Name of the endpoint; absent in records of older versions. */
        endpoint: z.string().optional(),
        model: z.string(),
        status: z.int(),
        /** Kind of the failure. */
        error: texts(),
        started_at: z.string(),
        ms: z.number(),
        is_byok: z.boolean(),
        /** The cost of a failed attempt, integer nano-USD. */
        cost_nano_usd: z.int(),
        upstream_id: texts(),
      }),
    ),
    /** Endpoints that were not candidates, each with the rule that removed it; at most 100. */
    excluded: z.array(exclusionSchema()),
    /** Names of the plugins and guardrails that did something, in order. */
    pipeline: z.array(z.string()),
    /** Names of the request's field `trace`. */
    trace: z.record(z.string(), z.string()).nullable(),
    /**
     * The parts of the booked cost, integer nano-USD, which add up to it; null: it is not known. Absent: the record is
     * of an older version, or of a lost request.
     */
    cost_parts_nano_usd: costPartsSchema().nullish(),
    /** One for each upstream response, in the order they began; at most 100. Absent: as before. */
    generation_details: z.array(generationDetailSchema()).optional(),
    /** The work of plugins, guardrails and server tools, in the order in which it ended; at most 100. Absent: as before. */
    stages: z.array(workSchema()).optional(),
  }),
);
export interface Generation extends z.infer<ReturnType<typeof generationSchema>> {}

/** Query of GET /generation and of GET /generation/content. */
export const generationQuery = lazily(() => z.strictObject({ id: z.string().min(1).max(200) }));
export interface GenerationQuery extends z.infer<ReturnType<typeof generationQuery>> {}
export interface GenerationFields extends QueryFields<z.input<ReturnType<typeof generationQuery>>> {}

/** Query of GET /generations. */
export const listGenerationsQuery = lazily(() =>
  z.strictObject({
    offset: offsetParameter(),
    limit: limitParameter(),
    workspace_id: uuidText().optional(),
    api_key_hash: z.string().min(1).max(64).optional(),
    model: z.string().min(1).max(256).optional(),
    provider: z.string().min(1).max(256).optional(),
    user: z.string().min(1).max(256).optional(),
    tag: z.string().min(1).max(256).optional(),
    session: z.string().min(1).max(512).optional(),
    outcome: z.enum(outcomes).optional(),
    from: fromText().optional(),
    to: toTextOrPlace().optional(),
  }),
);
export interface ListGenerationsQuery extends z.infer<ReturnType<typeof listGenerationsQuery>> {}
export interface ListGenerationsFields extends QueryFields<z.input<ReturnType<typeof listGenerationsQuery>>> {}

/** Query of GET /requests/stream. */
export const generationStreamQuery = lazily(() =>
  z.strictObject({
    workspace_id: uuidText().optional(),
    /** The stream ends after so many records, 1 to 100. */
    limit: z
      .string()
      .regex(/^(?:[1-9]\d?|100)$/, expectation('expected an integer from 1 to 100'))
      .transform(Number)
      .optional(),
  }),
);
export interface GenerationStreamQuery extends z.infer<ReturnType<typeof generationStreamQuery>> {}
