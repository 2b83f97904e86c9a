import type { Usage } from '../../../schema/chat/chat.ts';

/** The tokens of a response, as a dialect has read them. */
export interface Counts {
  /** The tokens of the prompt, with those of a cache and those that tools added. */
  prompt: number;
  /** The tokens of the response, with its reasoning. */
  completion: number;
  /** The tokens of the prompt that were read from a cache. */
  cached: number;
  /** The tokens of the prompt that were written to a cache, and the part of them that is kept for long. Default 0. */
  written?: number;
  writtenForHour?: number;
  writtenForHalfDay?: number;
  /** The tokens of the completion that are reasoning. null: the provider does not report them. */
  reasoning: number | null;
  /** Further parts of the prompt and of the completion, by our names, such as `audio_tokens`. */
  ofPrompt?: Readonly<Record<string, number>>;
  ofCompletion?: Readonly<Record<string, number>>;
  /** Searches of the web that the provider charges. Default 0. */
  searches?: number;
}

/** Makes usage in our wire shape. No part is more than its total; parts that are 0 are left out. */
export function usageOf(counts: Counts): Usage {
  const { prompt, completion, reasoning, searches = 0 } = counts;
  const read: Record<string, number> = { cached_tokens: Math.min(counts.cached, prompt) };
  note(read, 'cache_write_tokens', counts.written, prompt);
  note(read, 'cache_write_1h_tokens', counts.writtenForHour, prompt);
  note(read, 'cache_write_12h_tokens', counts.writtenForHalfDay, prompt);
  for (const name in counts.ofPrompt) note(read, name, counts.ofPrompt[name], prompt);
  const produced: Record<string, number> = {};
  if (reasoning !== null) produced.reasoning_tokens = Math.min(reasoning, completion);
  for (const name in counts.ofCompletion) note(produced, name, counts.ofCompletion[name], completion);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: read,
    ...(Object.keys(produced).length > 0 ? { completion_tokens_details: produced } : {}),
    ...(searches > 0 ? { server_tool_use_details: { web_search_requests: searches } } : {}),
  };
}

function note(parts: Record<string, number>, name: string, tokens = 0, whole: number): void {
  if (tokens > 0) parts[name] = Math.min(tokens, whole);
}
