import * as z from 'zod';
import { lazily } from '../base/lazily.ts';
import { jsonObject } from './bounded.ts';
import { routingStrategies } from './envelope.ts';

const usd = lazily(() => z.number().nonnegative());
const percentile = lazily(() => z.number().nullable());

/** An endpoint that would be tried. */
export const explainedCandidateSchema = lazily(() =>
  z.object({
    /** Slug of the model, and of the endpoint: `provider` or `provider/variant`. */
    model: z.string(),
    provider: z.string(),
    provider_name: z.string(),
    /** true: with a credential of the workspace's own. */
    is_byok: z.boolean(),
    /** The most it can cost; null: its price is not known. */
    ceiling_usd: usd().nullable(),
    /** What that rests on; null: its price is not known. */
    max_prompt_tokens: z.int().nullable(),
    max_completion_tokens: z.int().nullable(),
    /** It served the conversation last. */
    is_pinned: z.boolean(),
    /** It is known not to do what the request needs: tried last. */
    lacks: z.boolean(),
    /** A good part of its latest attempts failed: tried late. */
    has_outage: z.boolean(),
    /** It misses the latency or throughput the request prefers. */
    is_slow: z.boolean(),
    /** USD per million tokens, three of the prompt to one of the answer; null: not known. */
    price_usd_per_million: usd().nullable(),
    /** Medians of 5 minutes: time to first token in ms, output tokens per second. */
    latency_ms: percentile(),
    throughput: percentile(),
  }),
);

/** Of a limit that the request would count against. */
export const explainedBudgetSchema = lazily(() =>
  z.object({
    scope: z.enum(['workspace', 'key']),
    interval: z.enum(['daily', 'weekly', 'monthly', 'lifetime']),
    limit_usd: usd(),
    spent_usd: usd(),
    held_usd: usd(),
    /** What would be held of it for this request. */
    hold_usd: usd(),
    /** What would then be left. */
    remaining_usd: usd(),
    resets_at: z.string().nullable(),
  }),
);

/** How a chat request would be routed and paid for now. */
export const explanationSchema = lazily(() =>
  z.object({
    requested: z.string(),
    strategy: z.enum(routingStrategies),
    params: jsonObject().optional(),
    region: z.string().nullable(),
    /** In the order in which they would be tried. */
    candidates: z.array(explainedCandidateSchema()),
    excluded: z.array(z.object({ model: z.string(), provider: z.string(), filter: z.string() })),
    /** What the request would be refused with; null: it would be sent to the first candidate. */
    error: z
      .object({
        code: z.int(),
        message: z.string(),
        /** Seconds after which to try again. */
        retry_after: z.int().optional(),
        metadata: jsonObject().optional(),
      })
      .nullable(),
    /** What would be held for it; null: nothing is limited. */
    hold_usd: usd().nullable(),
    budgets: z.array(explainedBudgetSchema()),
  }),
);
export interface Explanation extends z.infer<ReturnType<typeof explanationSchema>> {}
