import { isObject } from '../../base/values.ts';
import type { Logprobs } from '../../schema/chat/chat.ts';

/**
 * Returns probabilities in our shape; null where there are none. Cohere counts by pieces of text, which may be several
 * tokens: the probability of a piece is that of all its tokens. It lists no other tokens.
 * @see https://docs.cohere.com/reference/chat "LogprobItem"
 */
export function readLogprobs(raw: unknown): Logprobs | null {
  const items = Array.isArray(raw) ? raw : [raw];
  const content = items.flatMap((item) => {
    if (!isObject(item) || typeof item.text !== 'string' || !isNumbers(item.logprobs)) return [];
    const logprob = item.logprobs.reduce((sum, one) => sum + one, 0);
    return [{ token: item.text, logprob, bytes: [...new TextEncoder().encode(item.text)], top_logprobs: [] }];
  });
  return content.length === 0 ? null : { content, refusal: null };
}

function isNumbers(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'number');
}
