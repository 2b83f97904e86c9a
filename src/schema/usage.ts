import * as z from 'zod';
import { lazily } from '../base/lazily.ts';
import { count, countOrNull, number, numberOrNull, optionalCount, optionalFlag } from './scalars.ts';

/**
 * Tokens of a request. `cost` is in USD. Unknown values of `cost` and of the details are absent, not null: a known
 * client throws on a null there.
 */
export const usageSchema = lazily(() =>
  z.looseObject({
    prompt_tokens: count(),
    completion_tokens: count(),
    total_tokens: count(),
    prompt_tokens_details: z
      .looseObject({
        cached_tokens: optionalCount(),
        cache_write_tokens: optionalCount(),
        audio_tokens: optionalCount(),
        video_tokens: optionalCount(),
      })
      .nullish(),
    completion_tokens_details: z
      .looseObject({
        reasoning_tokens: countOrNull(),
        audio_tokens: countOrNull(),
        image_tokens: countOrNull(),
        accepted_prediction_tokens: countOrNull(),
        rejected_prediction_tokens: countOrNull(),
      })
      .nullish(),
    cost: z.number().optional(),
    is_byok: optionalFlag(),
    cost_details: z
      .looseObject({
        upstream_inference_cost: numberOrNull(),
        upstream_inference_prompt_cost: number(),
        upstream_inference_completions_cost: number(),
      })
      .nullish(),
    server_tool_use_details: z
      .looseObject({
        web_search_requests: countOrNull(),
        tool_calls_requested: countOrNull(),
        tool_calls_executed: countOrNull(),
      })
      .nullish(),
  }),
);
export interface Usage extends z.infer<ReturnType<typeof usageSchema>> {}
