import { isObject, type Loose } from '../../base/values.ts';
import type { Usage } from '../../schema/chat.ts';
import { implausibleSearches, tokenCount } from '../shared/counts.ts';

/** A count of a part: absent or nonsense is 0, and it can't be more than the total. */
function part(value: unknown, total: number): number {
  return Math.min(tokenCount(value) ?? 0, total);
}

function objectIn(value: unknown): Loose | null {
  return isObject(value) ? value : null;
}

/**
 * Reads the usage that a provider reports. Negative, fractional, textual or huge counts are no usage: they never become
 * a cost.
 * @returns null where prompt or completion tokens are missing or nonsense
 */
export function readUsage(raw: unknown): Usage | null {
  if (!isObject(raw)) return null;
  let promptTokens = tokenCount(raw.prompt_tokens);
  let completionTokens = tokenCount(raw.completion_tokens);
  if (promptTokens === null || completionTokens === null) return null;
  const inDetails = objectIn(raw.prompt_tokens_details ?? raw.prompt_token_details);
  const outDetails = objectIn(raw.completion_tokens_details);
  const cached = cachedTokens(raw, inDetails);
  let reasoning = tokenCount(outDetails === null ? raw.reasoning_tokens : outDetails.reasoning_tokens) ?? 0;
  const total = tokenCount(raw.total_tokens);
  let missing = total === null ? 0 : total - promptTokens - completionTokens;
  // Some leave cached tokens out of the prompt, though not out of the total.
  if (cached > 0 && (total === null ? cached > promptTokens : missing === cached + reasoning)) {
    promptTokens += cached;
    missing -= cached;
  }
  // Google counts reasoning in the total only.
  if (reasoning === 0 && missing > 0) reasoning = missing;
  // Some leave reasoning out of the completion, though not out of the total.
  if (reasoning > 0 && missing === reasoning) completionTokens += reasoning;
  const written = writtenTokens(inDetails, promptTokens);
  const read: Counts = { cached_tokens: Math.min(cached, promptTokens) };
  note(read, 'cache_write_tokens', written.all);
  note(read, 'cache_write_1h_tokens', written.forAnHour);
  note(read, 'audio_tokens', part(inDetails?.audio_tokens, promptTokens));
  note(read, 'image_tokens', part(inDetails?.image_tokens, promptTokens));
  note(read, 'video_tokens', part(inDetails?.video_tokens, promptTokens));
  const produced: Counts = { reasoning_tokens: Math.min(reasoning, completionTokens) };
  note(produced, 'audio_tokens', part(outDetails?.audio_tokens, completionTokens));
  note(produced, 'image_tokens', part(outDetails?.image_tokens, completionTokens));
  note(produced, 'accepted_prediction_tokens', part(outDetails?.accepted_prediction_tokens, completionTokens));
  note(produced, 'rejected_prediction_tokens', part(outDetails?.rejected_prediction_tokens, completionTokens));
  const usage: Usage = {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: read,
    completion_tokens_details: produced,
  };
  const searches = searchesIn(raw);
  if (searches > 0) usage.server_tool_use_details = { web_search_requests: searches };
  return usage;
}

type Counts = Record<string, number>;

/** A count that is 0 is left out. */
function note(counts: Counts, key: string, value: number): void {
  if (value !== 0) counts[key] = value;
}

function cachedTokens(raw: Loose, details: Loose | null): number {
  return (
    tokenCount(details?.cached_tokens) ??
    tokenCount(raw.cached_tokens) ??
    tokenCount(raw.prompt_cache_hit_tokens) ??
    // Mistral
    tokenCount(raw.num_cached_tokens) ??
    0
  );
}

/** Ours and OpenRouter's word, and those of Anthropic, which others that resell its models keep. */
function writtenTokens(details: Loose | null, promptTokens: number): { all: number; forAnHour: number } {
  if (details === null) return { all: 0, forAnHour: 0 };
  const forAnHour = part(objectIn(details.cache_creation)?.ephemeral_1h_input_tokens, promptTokens);
  const all = Math.max(
    part(details.cache_write_tokens, promptTokens),
    part(details.cache_creation_input_tokens, promptTokens),
    forAnHour,
  );
  return { all, forAnHour };
}

/** Searches that the provider ran by itself. It charges each, and nobody else can count them. */
function searchesIn(raw: Loose): number {
  const requests =
    tokenCount(objectIn(raw.server_tool_use_details ?? raw.server_tool_use)?.web_search_requests) ??
    // Perplexity
    tokenCount(raw.num_search_queries);
  return requests === null || requests > implausibleSearches ? 0 : requests;
}
