import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { jsonObject } from '../bounded.ts';
import { exclusionSchema, pipelineStageSchema, routingStrategies } from './envelope.ts';

const usd = lazily(() => z.number().nonnegative());
const percentile = lazily(() => z.number().nullable());

/** A target that the request could use. */
export const explainedCandidateSchema = lazily(() =>
  z.object({
    /** Slug of the model. */
    model: z.string(),
    /** Slug of the endpoint: `provider` or `provider/variant`. */
    provider: z.string(),
    /** Display name of the provider. */
    provider_name: z.string(),
    /** true: with a BYOK credential. */
    is_byok: z.boolean(),
    /** Label of the operator's key, where there are several at the provider. */
    key: z.string().optional(),
    /** Request fields that are not set, and get the defaults of the model. */
    defaulted: z.array(z.string()).optional(),
    /** The highest possible cost of the request; null: the endpoint's price is not known. */
    ceiling_usd: usd().nullable(),
    /** The token numbers behind `ceiling_usd`; null: the endpoint's price is not known. */
    max_prompt_tokens: z.int().nullable(),
    /** The same for the response. */
    max_completion_tokens: z.int().nullable(),
    /** The endpoint served the conversation last. */
    is_pinned: z.boolean(),
    /** The endpoint is known not to support something the request needs; it comes last. */
    lacks: z.boolean(),
    /** A large share of the latest attempts failed; the endpoint comes late. */
    has_outage: z.boolean(),
    /** The endpoint misses the latency or throughput that the request prefers. */
    is_slow: z.boolean(),
    /** USD per million tokens, three prompt tokens to one completion token; null: not known. */
    price_usd_per_million: usd().nullable(),
    /** Medians of 5 minutes: time to first token in ms, output tokens per second. */
    latency_ms: percentile(),
    /** The same in output tokens per second. */
    throughput: percentile(),
  }),
);

/** A budget or key limit that the request would count against. */
export const explainedBudgetSchema = lazily(() =>
  z.object({
    /** The owner of the budget. */
    scope: z.enum(['workspace', 'key', 'guardrail']),
    /** The interval after which it resets. */
    interval: z.enum(['daily', 'weekly', 'monthly', 'lifetime']),
    /** The limit, in USD. */
    limit_usd: usd(),
    /** The spent amount, in USD. */
    spent_usd: usd(),
    /** The amount that is held now, in USD. */
    held_usd: usd(),
    /** The hold for this request. */
    hold_usd: usd(),
    /** The amount left after this hold. */
    remaining_usd: usd(),
    /** The time of its next reset; null: never. */
    resets_at: z.string().nullable(),
  }),
);

const explainedErrorSchema = lazily(() =>
  z.object({
    /** HTTP status that the request would get. */
    code: z.int(),
    /** The message, for people. */
    message: z.string(),
    /** Seconds until the caller should retry. */
    retry_after: z.int().optional(),
    /** Further facts. */
    metadata: jsonObject().optional(),
  }),
);

/** One of several generations that a plugin would make of the request. */
export const explainedGenerationSchema = lazily(() =>
  z.object({
    /** The purpose of the generation; the last one writes the response for the client. */
    purpose: z.string(),
    /** The model that is asked for. */
    requested: z.string(),
    /** The model of the first candidate; null: there is none. */
    model: z.string().nullable(),
    /** Slug of its endpoint. */
    provider: z.string().nullable(),
    /** The highest possible cost, at the dearest candidate; null: not known. */
    ceiling_usd: usd().nullable(),
    /** The token numbers behind `ceiling_usd`. */
    max_prompt_tokens: z.int().nullable(),
    /** The same for the response. */
    max_completion_tokens: z.int().nullable(),
    /** The hold for this generation alone; null: no budget applies, or it would be refused. */
    hold_usd: usd().nullable(),
    /** The error before a provider is called; null: the first candidate would be called. */
    error: explainedErrorSchema().nullable(),
  }),
);

/** The routing and the payment that a chat request would have now. */
export const explanationSchema = lazily(() =>
  z.object({
    /** The model that the request asks for. */
    requested: z.string(),
    /** The order that the endpoints would have. */
    strategy: z.enum(routingStrategies),
    /** Values that the routing uses. */
    params: jsonObject().optional(),
    /** The option `region`. */
    region: z.string().nullable(),
    /** In the order in which the candidates would be called. */
    candidates: z.array(explainedCandidateSchema()),
    /** Endpoints that may not serve, and why. */
    excluded: z.array(exclusionSchema()),
    /** The error that the request would get; null: the first candidate would be called. */
    error: explainedErrorSchema().nullable(),
    /** Generations of a plugin that calls several models, such as `fusion`; absent: the request is one generation. */
    generations: z.array(explainedGenerationSchema()).optional(),
    /** The highest possible cost of all `generations` together; null: not known. */
    ceiling_usd: usd().nullable().optional(),
    /**
     * The stages of guardrails and plugins, each with its highest price as `cost_usd`; absent: none are known
     * beforehand.
     */
    pipeline: z.array(pipelineStageSchema()).optional(),
    /** The hold for the request, for all generations and `expenses_usd` together; null: no budget applies. */
    hold_usd: usd().nullable(),
    /** The most that plugins would pay for something else than a generation, such as a search; absent: nothing. */
    expenses_usd: usd().optional(),
    /** Budgets that limit the request. */
    budgets: z.array(explainedBudgetSchema()),
  }),
);
/** The response of the explain operations: how a request would be served, with nothing sent. */
export interface Explanation extends z.infer<ReturnType<typeof explanationSchema>> {}
