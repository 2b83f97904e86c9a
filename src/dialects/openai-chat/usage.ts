import type { Usage } from '../../schema/chat.ts';
import { isObject, type Loose } from './values.ts';

/** No model reads or writes this much in one call; a larger count is a mistake of the provider. */
const implausibleTokens = 100_000_000;

/** A count of tokens: a plausible non-negative integer, else null. */
function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= implausibleTokens
    ? value
    : null;
}

/** A count inside a details object: absent or nonsense is 0, and it can't be more than the whole. */
function part(details: unknown, key: string, whole: number): number {
  const value = isObject(details) ? count(details[key]) : null;
  return Math.min(value ?? 0, whole);
}

/**
 * Reads what a provider says of its usage. Negative, fractional, textual or huge counts are no usage: they never become
 * a cost.
 * @returns null where prompt or completion tokens are missing or nonsense
 */
export function readUsage(raw: unknown): Usage | null {
  if (!isObject(raw)) return null;
  const promptTokens = count(raw.prompt_tokens);
  let completionTokens = count(raw.completion_tokens);
  if (promptTokens === null || completionTokens === null) return null;
  const inDetails = raw.prompt_tokens_details;
  const outDetails = raw.completion_tokens_details;
  const total = count(raw.total_tokens);
  const cached = cachedTokens(raw, inDetails);
  let said = isObject(outDetails) ? (count(outDetails.reasoning_tokens) ?? 0) : (count(raw.reasoning_tokens) ?? 0);
  // Google counts reasoning in the total only. Others may have left cached tokens out of the prompt.
  const missing = (total ?? 0) - promptTokens - completionTokens;
  if (said === 0 && missing > 0 && missing !== cached) said = missing;
  // Some leave reasoning out of the completion, though not out of the total.
  if (said > 0 && missing === said) completionTokens += said;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: {
      cached_tokens: Math.min(cached, promptTokens),
      ...optional('cache_write_tokens', part(inDetails, 'cache_write_tokens', promptTokens)),
      ...optional('audio_tokens', part(inDetails, 'audio_tokens', promptTokens)),
      ...optional('video_tokens', part(inDetails, 'video_tokens', promptTokens)),
    },
    completion_tokens_details: {
      reasoning_tokens: Math.min(said, completionTokens),
      ...optional('audio_tokens', part(outDetails, 'audio_tokens', completionTokens)),
      ...optional('accepted_prediction_tokens', part(outDetails, 'accepted_prediction_tokens', completionTokens)),
      ...optional('rejected_prediction_tokens', part(outDetails, 'rejected_prediction_tokens', completionTokens)),
    },
  };
}

function cachedTokens(raw: Loose, details: unknown): number {
  const inDetails = isObject(details) ? count(details.cached_tokens) : null;
  return inDetails ?? count(raw.cached_tokens) ?? count(raw.prompt_cache_hit_tokens) ?? 0;
}

function optional(key: string, value: number): Record<string, number> {
  return value === 0 ? {} : { [key]: value };
}
