import * as z from 'zod';

const count = z.int().nonnegative();
const countOrNull = count.nullish();

/**
 * Tokens of a request. `cost` is in USD and left out when unknown, as are the details' members: a known client throws on
 * a null there.
 */
export const usageSchema = z.looseObject({
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  prompt_tokens_details: z
    .looseObject({
      cached_tokens: count.optional(),
      cache_write_tokens: count.optional(),
      audio_tokens: count.optional(),
      video_tokens: count.optional(),
    })
    .nullish(),
  completion_tokens_details: z
    .looseObject({
      reasoning_tokens: countOrNull,
      audio_tokens: countOrNull,
      image_tokens: countOrNull,
      accepted_prediction_tokens: countOrNull,
      rejected_prediction_tokens: countOrNull,
    })
    .nullish(),
  cost: z.number().optional(),
  is_byok: z.boolean().optional(),
  cost_details: z
    .looseObject({
      upstream_inference_cost: z.number().nullish(),
      upstream_inference_prompt_cost: z.number(),
      upstream_inference_completions_cost: z.number(),
    })
    .nullish(),
  server_tool_use_details: z
    .looseObject({
      web_search_requests: countOrNull,
      tool_calls_requested: countOrNull,
      tool_calls_executed: countOrNull,
    })
    .nullish(),
});
export interface Usage extends z.infer<typeof usageSchema> {}
