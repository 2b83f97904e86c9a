import { isObject, type Loose } from '../../base/values.ts';
import { tokenCount } from '../shared/response/counts.ts';

/**
 * What servers that speak chat completions call a count. Names of one list name the same tokens; the first that is there
 * counts.
 */
export const usageNames = {
  prompt: [
    'prompt_tokens',
    // Anthropic's and the Responses API's, which some servers keep
    'input_tokens',
    // Ollama
    'prompt_eval_count',
    // watsonx
    'input_token_count',
    // Google, and SDKs in JavaScript
    'promptTokenCount',
    'promptTokens',
    'inputTokens',
  ],
  completion: [
    'completion_tokens',
    'output_tokens',
    // Ollama
    'eval_count',
    // llama.cpp, in `timings`
    'predicted_n',
    // watsonx
    'generated_token_count',
    // Google, and SDKs in JavaScript
    'candidatesTokenCount',
    'completionTokens',
    'outputTokens',
  ],
  total: ['total_tokens', 'totalTokenCount', 'totalTokens'],
  /** Read from a cache; a part of the prompt by the rule of the provider. */
  cached: [
    // OpenAI, xAI, Z.AI, Groq in the details; Moonshot beside them
    'cached_tokens',
    // DeepSeek
    'prompt_cache_hit_tokens',
    // Mistral
    'num_cached_tokens',
    // Codex, and servers that follow it
    'cached_input_tokens',
    'cached_prompt_tokens',
    // Google, and SDKs in JavaScript
    'cachedContentTokenCount',
    'cachedInputTokens',
    'cachedTokens',
  ],
  /** The same in a word of Anthropic: there, the prompt leaves it out. */
  cachedBeside: ['cache_read_input_tokens', 'cache_read_tokens', 'cacheReadInputTokens'],
  /** Written to a cache. The word of Anthropic: there, the prompt leaves it out. */
  written: ['cache_write_tokens', 'cache_creation_tokens'],
  writtenBeside: ['cache_creation_input_tokens', 'cacheWriteInputTokens'],
  reasoning: [
    'reasoning_tokens',
    'thinking_tokens',
    // Google, and SDKs in JavaScript
    'thoughtsTokenCount',
    'reasoningTokens',
  ],
  searches: [
    // Perplexity
    'num_search_queries',
    // xAI charges each source of a search.
    'num_sources_used',
  ],
} as const satisfies Record<string, readonly string[]>;

/** Where servers put the parts of a count. */
export const detailNames = {
  prompt: [
    'prompt_tokens_details',
    // Mistral
    'prompt_token_details',
    // The Responses API's, and LangChain's
    'input_tokens_details',
    'input_token_details',
  ],
  completion: [
    'completion_tokens_details',
    'completion_token_details',
    'output_tokens_details',
    'output_token_details',
  ],
} as const satisfies Record<string, readonly string[]>;

/** Writes to a cache by how long it keeps them: where they are, and the class that they are charged as. */
export const writesByLife = {
  hour: [
    ['cache_creation', 'ephemeral_1h_input_tokens'],
    ['cache_write_tokens_details', 'ttl_1h_tokens'],
  ],
  halfDay: [['cache_write_tokens_details', 'ttl_12h_tokens']],
  short: [
    ['cache_creation', 'ephemeral_5m_input_tokens'],
    ['cache_write_tokens_details', 'ttl_30m_tokens'],
  ],
} as const;

/**
 * Tokens that a provider charges beside its totals, which say nothing of them. `citation_tokens` is read as a prompt,
 * and where it is there, reasoning is beside the output too.
 * @see https://docs.perplexity.ai/getting-started/pricing "Sonar Deep Research"
 */
export const besideTotals = 'citation_tokens';

/** The first of the names that is a count; null: none is. */
export function countIn(from: Loose | null, names: readonly string[]): number | null {
  if (from !== null)
    for (const name of names) {
      const tokens = tokenCount(from[name]);
      if (tokens !== null) return tokens;
    }
  return null;
}

/** llama.cpp counts what it has read anew, and what it had in its cache. It has always both. */
function usageOfTimings({ prompt_n, cache_n, predicted_n }: Loose): Loose {
  const cached = tokenCount(cache_n) ?? 0;
  const read = tokenCount(prompt_n);
  return {
    prompt_tokens: read === null ? undefined : read + cached,
    completion_tokens: predicted_n,
    prompt_tokens_details: { cached_tokens: cached },
  };
}

/** Where servers put usage: all places of a response or an event. */
export function usagePlaces(body: Loose, choices: readonly unknown[]): unknown[] {
  const places: unknown[] = [];
  if (isObject(body.usage)) places.push(body.usage);
  if (isObject(body.x_groq) && isObject(body.x_groq.usage)) places.push(body.x_groq.usage);
  for (const choice of choices) if (isObject(choice) && isObject(choice.usage)) places.push(choice.usage);
  if (places.length > 0) return places;
  if (isObject(body.timings)) places.push(usageOfTimings(body.timings));
  if (body.prompt_eval_count !== undefined) places.push(body);
  return places;
}
