import type { Usage } from '../../../schema/chat/chat.ts';

/** Usage under the names of the Messages wire. The three counts of the input add up to the prompt. */
export interface MessagesUsage {
  input_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
  cache_creation: { ephemeral_5m_input_tokens: number; ephemeral_1h_input_tokens: number };
  output_tokens: number;
  output_tokens_details: { thinking_tokens: number };
  server_tool_use: { web_search_requests: number; web_fetch_requests: number } | null;
  service_tier: string | null;
  [field: string]: unknown;
}

/** Returns usage in the words of the Messages wire: its `input_tokens` leave out what a cache was read for or written to. */
export function messagesUsage(
  usage: Usage,
  serviceTier: string | null,
  own = { searches: 0, fetches: 0 },
): MessagesUsage {
  const { cached_tokens: cached = 0, cache_write_tokens: told = 0 } = usage.prompt_tokens_details ?? {};
  // Some providers count tokens as both read and written. Clients add the counts up, and compact by the sum.
  const written = Math.min(told, Math.max(0, usage.prompt_tokens - cached));
  const searches = Math.max(usage.server_tool_use_details?.web_search_requests ?? 0, own.searches);
  return {
    input_tokens: Math.max(0, usage.prompt_tokens - cached - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    cache_creation: { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: 0 },
    output_tokens: usage.completion_tokens,
    output_tokens_details: { thinking_tokens: usage.completion_tokens_details?.reasoning_tokens ?? 0 },
    server_tool_use:
      searches + own.fetches > 0 ? { web_search_requests: searches, web_fetch_requests: own.fetches } : null,
    service_tier: tierOf(serviceTier),
    ...(usage.cost === undefined ? {} : { cost: usage.cost }),
  };
}

/** Returns the usage at the start of a stream, where the prompt is an estimate. */
export function startUsage(promptTokens: number): MessagesUsage {
  return messagesUsage({ prompt_tokens: promptTokens, completion_tokens: 0, total_tokens: promptTokens }, null);
}

function tierOf(tier: string | null): string | null {
  return tier === 'default' ? 'standard' : tier;
}
