import * as z from 'zod';
import { lazily } from '../base/lazily.ts';
import { count } from './scalars.ts';

/** The cost of a request for another task than chat. Unknown values are absent. */
export const taskCostFields = lazily(() => ({
  /** The cost of the request, in USD. */
  cost: z.number().optional(),
  /** true: a workspace's own provider credential served. */
  is_byok: z.boolean().optional(),
  /** The cost by part, in USD. */
  cost_details: z
    .object({
      /** USD at the provider, for a workspace's own credential. */
      upstream_inference_cost: z.number().nullable(),
      /** USD for the input. */
      upstream_inference_prompt_cost: z.number(),
      /** USD for the output: 0. */
      upstream_inference_completions_cost: z.number(),
    })
    .optional(),
  /** true: the provider reported no use that can be true, and the gateway counted it. */
  estimated: z.boolean().optional(),
}));

/** The use of a request without output. */
export const inputUsageSchema = lazily(() =>
  z.looseObject({
    /** Tokens of the input. */
    prompt_tokens: count(),
    /** The same. */
    total_tokens: count(),
    /** Tokens of the input that are not text. Absent: there are none. */
    prompt_tokens_details: z
      .looseObject({ image_tokens: count().optional(), audio_tokens: count().optional() })
      .optional(),
    ...taskCostFields(),
  }),
);
export interface InputUsage extends z.infer<ReturnType<typeof inputUsageSchema>> {}
