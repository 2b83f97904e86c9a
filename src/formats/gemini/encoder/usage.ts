import type { Loose } from '../../../base/values.ts';
import type { Usage } from '../../../schema/chat/chat.ts';

/** Writes the tokens of a response: thoughts stand beside the other tokens of the output, cached ones among the prompt's. */
export function usageMetadata({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: total,
  prompt_tokens_details: ofPrompt,
  completion_tokens_details: ofCompletion,
}: Usage): Loose {
  const thoughts = Math.min(ofCompletion?.reasoning_tokens ?? 0, completion);
  const cached = ofPrompt?.cached_tokens ?? 0;
  return {
    promptTokenCount: prompt,
    ...(cached > 0 ? { cachedContentTokenCount: cached } : {}),
    candidatesTokenCount: completion - thoughts,
    ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
    totalTokenCount: total,
  };
}
