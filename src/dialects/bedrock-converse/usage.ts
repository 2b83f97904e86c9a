import type { Usage } from '../../schema/chat.ts';
import { isObject } from '../shared/values.ts';

/** No model reads or writes this much in one call; a larger count is a mistake of the provider. */
const implausibleTokens = 100_000_000;

/** A count of tokens: a plausible non-negative integer, else null. */
function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= implausibleTokens
    ? value
    : null;
}

/** null: nonsense. */
function countOrZero(value: unknown): number | null {
  return value === undefined || value === null ? 0 : count(value);
}

/**
 * Reads the usage that the provider reports. Its `inputTokens` leave out what was read from a cache or written to one;
 * ours have it all. How much of the response was reasoning it does not say.
 * @returns null where input or output tokens are missing or nonsense
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_TokenUsage.html
 */
export function readUsage(raw: unknown): Usage | null {
  if (!isObject(raw)) return null;
  const input = count(raw.inputTokens);
  const output = count(raw.outputTokens);
  if (input === null || output === null) return null;
  const read = countOrZero(raw.cacheReadInputTokens);
  const written = countOrZero(raw.cacheWriteInputTokens);
  // Without them, the prompt would be counted too low.
  if (read === null || written === null) return null;
  const forAnHour = Math.min(writtenForAnHour(raw.cacheDetails), written);
  const promptTokens = input + read + written;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: output,
    total_tokens: promptTokens + output,
    prompt_tokens_details: {
      cached_tokens: read,
      ...(written === 0 ? {} : { cache_write_tokens: written }),
      ...(forAnHour === 0 ? {} : { cache_write_1h_tokens: forAnHour }),
    },
  };
}

function writtenForAnHour(details: unknown): number {
  if (!Array.isArray(details)) return 0;
  let tokens = 0;
  for (const detail of details) if (isObject(detail) && detail.ttl === '1h') tokens += count(detail.inputTokens) ?? 0;
  return tokens;
}
