import { isObject } from '../../base/values.ts';
import type { Usage } from '../../schema/chat/chat.ts';
import { tokenCount, tokensOrZero } from '../shared/response/counts.ts';
import { usageOf } from '../shared/response/usage.ts';

/**
 * Reads the usage that the provider reports. Its `inputTokens` leave out the tokens that were read from a cache or
 * written to one; ours have all of them. It does not report the tokens of reasoning.
 * @returns null where input or output tokens are missing or nonsense
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_TokenUsage.html
 */
export function readUsage(raw: unknown): Usage | null {
  if (!isObject(raw)) return null;
  const input = tokenCount(raw.inputTokens);
  const output = tokenCount(raw.outputTokens);
  if (input === null || output === null) return null;
  const read = tokensOrZero(raw.cacheReadInputTokens);
  const written = tokensOrZero(raw.cacheWriteInputTokens);
  // The prompt would be counted too low without them.
  if (read === null || written === null) return null;
  return usageOf({
    prompt: input + read + written,
    completion: output,
    cached: read,
    written,
    writtenForHour: Math.min(writtenForAnHour(raw.cacheDetails), written),
    reasoning: null,
  });
}

function writtenForAnHour(details: unknown): number {
  if (!Array.isArray(details)) return 0;
  let tokens = 0;
  for (const detail of details)
    if (isObject(detail) && detail.ttl === '1h') tokens += tokenCount(detail.inputTokens) ?? 0;
  return tokens;
}
