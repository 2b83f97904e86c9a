import { isObject } from '../../base/values.ts';
import type { Usage } from '../../schema/chat/chat.ts';
import { readUsage as readChatUsage } from '../openai-chat/usage.ts';

/**
 * Reads the usage of a response: the counts of chat completions under other names. Cached tokens count among the input,
 * reasoning among the output.
 * @param searches  the number of the provider's searches of the web, which it charges by the search
 * @returns null where the counts are missing or nonsense
 */
export function readUsage(raw: unknown, searches: number): Usage | null {
  if (!isObject(raw)) return null;
  return readChatUsage({
    prompt_tokens: raw.input_tokens,
    completion_tokens: raw.output_tokens,
    total_tokens: raw.total_tokens,
    prompt_tokens_details: raw.input_tokens_details,
    completion_tokens_details: raw.output_tokens_details,
    cache_write_tokens_details: raw.cache_write_tokens_details,
    ...(searches > 0 ? { server_tool_use_details: { web_search_requests: searches } } : {}),
  });
}
