import type { FinishReason } from '../../../schema/chat/chat.ts';

/** A reason for the end of a response, as servers name it. */
export interface FinishWord {
  readonly means: FinishReason;
  /** Their words, in lower case, with `_` between parts. */
  readonly words: readonly string[];
  /** The providers and servers that say so. */
  readonly of: string;
}

/**
 * The reason why a response ended, by the words of all servers. Servers translate from one another: any of these words
 * may come in any wire format.
 */
export const finishWords: readonly FinishWord[] = [
  { means: 'stop', words: ['stop'], of: 'OpenAI, Google and most others' },
  { means: 'stop', words: ['end_turn', 'stop_sequence', 'pause_turn', 'compaction'], of: 'Anthropic, Bedrock' },
  { means: 'stop', words: ['complete'], of: 'Cohere' },
  {
    means: 'stop',
    words: ['eos', 'eos_token', 'end_of_sequence', 'eos_found'],
    of: 'TGI, Together, watsonx, LM Studio',
  },
  {
    means: 'stop',
    words: ['stop_token', 'stop_string', 'stop_str', 'stop_word', 'matched_stop'],
    of: 'SGLang, LM Studio',
  },
  { means: 'stop', words: ['end_of_text', 'eot', 'end', 'end_of_message'], of: 'AI21, Llama' },
  {
    means: 'stop',
    words: ['completed', 'done', 'finish', 'finished', 'success', 'succeeded', 'normal'],
    of: 'Responses, Ollama, Titan',
  },
  { means: 'length', words: ['length', 'max_length'], of: 'OpenAI, Ollama and most others' },
  { means: 'length', words: ['max_tokens', 'model_context_window_exceeded'], of: 'Anthropic, Google, Bedrock, Z.AI' },
  { means: 'length', words: ['max_output_tokens', 'max_completion_tokens', 'max_new_tokens'], of: 'Responses, TGI' },
  { means: 'length', words: ['model_length'], of: 'Mistral' },
  {
    means: 'length',
    words: [
      'context_length_exceeded',
      'context_window_exceeded',
      'context_length',
      'context_limit',
      'context_overflow',
    ],
    of: 'vLLM, SGLang, llama.cpp',
  },
  { means: 'length', words: ['context_length_reached', 'max_predicted_tokens_reached'], of: 'LM Studio' },
  { means: 'length', words: ['token_limit', 'time_limit', 'not_finished'], of: 'watsonx' },
  { means: 'length', words: ['error_limit'], of: 'Cohere, in its older interface' },
  { means: 'length', words: ['incomplete', 'truncated', 'limit', 'cut_off'], of: 'servers of open models' },
  { means: 'length', words: ['repetition', 'repetition_detected', 'repetition_truncation'], of: 'vLLM, DashScope' },
  { means: 'tool_calls', words: ['tool_calls', 'function_call'], of: 'OpenAI' },
  { means: 'tool_calls', words: ['tool_use'], of: 'Anthropic, Bedrock' },
  {
    means: 'tool_calls',
    words: ['tool_call', 'function_calls', 'tool', 'tools'],
    of: 'Cohere, Qianfan, servers of open models',
  },
  { means: 'content_filter', words: ['content_filter', 'content_filtered'], of: 'OpenAI, Azure, Bedrock' },
  { means: 'content_filter', words: ['guardrail_intervened', 'guardrail'], of: 'Bedrock' },
  { means: 'content_filter', words: ['refusal'], of: 'Anthropic' },
  {
    means: 'content_filter',
    words: ['safety', 'recitation', 'blocklist', 'prohibited_content', 'spii', 'model_armor'],
    of: 'Google',
  },
  {
    means: 'content_filter',
    words: ['image_safety', 'image_prohibited_content', 'image_recitation'],
    of: 'Google, images',
  },
  { means: 'content_filter', words: ['sensitive'], of: 'Z.AI' },
  { means: 'content_filter', words: ['error_toxic'], of: 'Cohere, in its older interface' },
  {
    means: 'content_filter',
    words: ['content_policy', 'content_policy_violation', 'risk'],
    of: 'Moonshot, MiniMax, gateways',
  },
  // The response was broken off, or is of no use: calling it complete would be a lie.
  { means: 'error', words: ['error', 'timeout', 'user_cancel'], of: 'Cohere, OpenRouter' },
  { means: 'error', words: ['abort', 'aborted', 'cancel', 'cancelled', 'canceled'], of: 'vLLM, SGLang, watsonx' },
  { means: 'error', words: ['network_error'], of: 'Z.AI' },
  { means: 'error', words: ['insufficient_system_resource'], of: 'DeepSeek' },
  { means: 'error', words: ['malformed_model_output', 'malformed_tool_use'], of: 'Bedrock' },
  {
    means: 'error',
    words: [
      'malformed_function_call',
      'unexpected_tool_call',
      'too_many_tool_calls',
      'malformed_response',
      'missing_thought_signature',
      'finish_reason_unspecified',
      'no_image',
      'image_other',
    ],
    of: 'Google',
  },
  { means: 'error', words: ['interrupted', 'failed', 'server_error', 'internal_error'], of: 'AI SDK, Responses' },
  {
    means: 'error',
    words: ['rate_limit', 'rate_limited', 'rate_limit_exceeded', 'overloaded', 'unavailable'],
    of: 'gateways',
  },
];

/** Parts of words that nobody knows, and their meaning; the first that fits counts. A cut response must not look whole. */
const stems: readonly { readonly part: RegExp; readonly means: FinishReason }[] = [
  {
    part: /filter|safety|policy|refus|sensitiv|moderat|prohibit|violat|censor|guardrail|recitation|blocked/,
    means: 'content_filter',
  },
  {
    part: /error|fail|abort|cancel|time_?out|interrupt|disconnect|network|unavailable|overload|malformed|crash|preempt|evict/,
    means: 'error',
  },
  {
    part: /length|max|limit|window|context|exceed|overflow|budget|exhaust|quota|trunc|incomplete|unfinished|not_finish|partial|cut/,
    means: 'length',
  },
  { part: /tool|function/, means: 'tool_calls' },
];

const meanings: ReadonlyMap<string, FinishReason> = new Map(
  finishWords.flatMap(({ means, words }) => words.map((word): [string, FinishReason] => [word, means])),
);

/** Ours for a word that is written as it stands in the table; null: another. */
export function writtenMeaningOf(native: string): FinishReason | null {
  return meanings.get(native) ?? null;
}

/** `MAX_TOKENS`, `max-tokens`, `maxTokens` and `FinishReason.MAX_TOKENS` are one word. */
export function finishWordOf(native: string): string {
  return native
    .slice(0, 200)
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
    .replace(/^finish_reason_(?!unspecified)/, '');
}

/** Ours for a word as `finishWordOf` has it; null: nobody knows the word, and it says nothing. */
export function meaningOf(word: string): FinishReason | null {
  return meanings.get(word) ?? stems.find(({ part }) => part.test(word))?.means ?? null;
}
