import { isObject, type Loose, without } from '../../../base/values.ts';
import type { Usage } from '../../../schema/chat/chat.ts';
import type { ResponsesUsage } from '../../../schema/responses/result.ts';

const renamed = [
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'prompt_tokens_details',
  'completion_tokens_details',
  'cost_details',
] as const;

/**
 * Returns usage under the names of Responses. Both objects with details are there, known or not: clients require them.
 */
export function responsesUsage(usage: Usage): ResponsesUsage {
  return {
    input_tokens: usage.prompt_tokens,
    input_tokens_details: { cached_tokens: 0, ...known(usage.prompt_tokens_details) },
    output_tokens: usage.completion_tokens,
    output_tokens_details: { reasoning_tokens: 0, ...known(usage.completion_tokens_details) },
    total_tokens: usage.total_tokens,
    ...known(without(renamed, usage)),
    ...costDetails(usage.cost_details),
  };
}

function costDetails(details: Usage['cost_details']): Loose {
  if (!details) return {};
  const {
    upstream_inference_cost: cost,
    upstream_inference_prompt_cost: input,
    upstream_inference_completions_cost: output,
    ...others
  } = details;
  return {
    cost_details: {
      upstream_inference_cost: cost ?? null,
      upstream_inference_input_cost: input,
      upstream_inference_output_cost: output,
      ...others,
    },
  };
}

/** Returns the fields that are known: clients expect no null there. */
function known(fields: unknown): Loose {
  if (!isObject(fields)) return {};
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}
