import type { Logprobs } from '../../schema/chat/chat.ts';
import type { TextLogprobs } from '../../schema/completions/result.ts';

/**
 * Writes the probabilities of tokens; null: there are none.
 * @param offset  the place of the first token in the text, in Unicode characters
 */
export function textLogprobs(
  { content }: Partial<Logprobs>,
  offset: number,
): { written: TextLogprobs; end: number } | null {
  if (!content || content.length === 0) return null;
  const written: TextLogprobs = { tokens: [], token_logprobs: [], top_logprobs: [], text_offset: [] };
  let end = offset;
  for (const { token, logprob, top_logprobs: top } of content) {
    written.tokens.push(token);
    written.token_logprobs.push(logprob);
    const likely = new Map(top.map((one) => [one.token, one.logprob]));
    // The token of the text is always in the list, likely or not.
    written.top_logprobs.push(Object.fromEntries(likely.set(token, logprob)));
    written.text_offset.push(end);
    for (const _ of token) end += 1;
  }
  return { written, end };
}
