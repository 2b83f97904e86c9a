import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { count, countOrNull, number, numberOrNull, optionalCount, optionalFlag } from '../scalars.ts';

/**
 * Tokens of a request. `cost` is in USD. Unknown values of `cost` and of the details are absent, not null: a known
 * client throws on a null there.
 */
export const usageSchema = lazily(() =>
  z.looseObject({
    /** Tokens of the prompt, cached ones included. */
    prompt_tokens: count(),
    /** Tokens of the response, reasoning included. */
    completion_tokens: count(),
    /** Both together. */
    total_tokens: count(),
    /** Tokens of the prompt, by kind. */
    prompt_tokens_details: z
      .looseObject({
        /** Read from a prompt cache. */
        cached_tokens: optionalCount(),
        /** Written to a prompt cache. */
        cache_write_tokens: optionalCount(),
        /** Sound. */
        audio_tokens: optionalCount(),
        /** Video. */
        video_tokens: optionalCount(),
      })
      .nullish(),
    /** Tokens of the response, by kind. */
    completion_tokens_details: z
      .looseObject({
        /** Reasoning. */
        reasoning_tokens: countOrNull(),
        /** Sound. */
        audio_tokens: countOrNull(),
        /** Images. */
        image_tokens: countOrNull(),
        /** The used tokens of a prediction. */
        accepted_prediction_tokens: countOrNull(),
        /** The unused tokens of a prediction. */
        rejected_prediction_tokens: countOrNull(),
      })
      .nullish(),
    /** The cost of the request, in USD. */
    cost: z.number().optional(),
    /** true: a workspace's own provider credential served. */
    is_byok: optionalFlag(),
    /** The cost by part. */
    cost_details: z
      .looseObject({
        /** USD at the provider, together. */
        upstream_inference_cost: numberOrNull(),
        /** USD for the prompt. */
        upstream_inference_prompt_cost: number(),
        /** USD for the response. */
        upstream_inference_completions_cost: number(),
      })
      .nullish(),
    /** Use of the provider's tools. */
    server_tool_use_details: z
      .looseObject({
        /** Searches of the web. */
        web_search_requests: countOrNull(),
        /** Calls that the model asked for. */
        tool_calls_requested: countOrNull(),
        /** Calls that were made. */
        tool_calls_executed: countOrNull(),
      })
      .nullish(),
  }),
);
/** The tokens of a generation, and its cost in USD. */
export interface Usage extends z.infer<ReturnType<typeof usageSchema>> {}
