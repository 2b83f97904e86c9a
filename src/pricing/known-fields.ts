/**
 * Fields that may make a provider search the web itself, which costs more than tokens of the request: those of OpenAI,
 * xAI, Alibaba, Baidu, Groq, Perplexity and Venice.
 */
const searchFields: ReadonlySet<string> = new Set([
  'web_search_options',
  'search_parameters',
  'enable_search',
  'search_options',
  'web_search',
  'search_settings',
  'search_mode',
  'search_domain_filter',
  'search_recency_filter',
  'search_after_date_filter',
  'search_before_date_filter',
  'search_language_filter',
  'last_updated_after_filter',
  'last_updated_before_filter',
  'enable_search_classifier',
  'return_images',
  'return_related_questions',
]);

/** The known inner fields of a field. An unknown inner field may cost more, such as another kind of search. */
const innerFields: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['web_search_options', new Set(['search_context_size', 'user_location', 'filters'])],
  [
    'venice_parameters',
    new Set([
      'include_venice_system_prompt',
      'disable_thinking',
      'strip_thinking_response',
      'prompt_cache_key',
      'prompt_cache_retention',
      'enable_web_search',
      'enable_web_citations',
      'include_search_results_in_stream',
      'return_search_results_as_documents',
    ]),
  ],
]);

/** Fields that cost no more than the tokens of their text, and the output up to its limit. */
const textFields: ReadonlySet<string> = new Set([
  'tool_choice',
  // Steers the sandbox. Other providers know no such field.
  'sandbox',
  'functions',
  'function_call',
  'documents',
  'citation_options',
  'audio',
  'verbosity',
  'store',
  'prediction',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'safety_identifier',
  'safe_prompt',
  // Google's
  'safetySettings',
  'safety_settings',
  'prompt_mode',
  'request_id',
  'user_id',
  'do_sample',
  'tool_stream',
  'thinking',
  'enable_thinking',
  'thinking_budget',
  'thinking_token_budget',
  'clear_thinking',
  'reasoning_format',
  'reasoning_split',
  'reasoning_history',
  'reasoning_budget',
  'separate_reasoning',
  'chat_template',
  'chat_template_args',
  'chat_template_kwargs',
  'add_generation_prompt',
  'continue_final_message',
  'add_special_tokens',
  'skip_special_tokens',
  'spaces_between_special_tokens',
  'include_stop_str_in_output',
  'stop_token_ids',
  'bad_words',
  'allowed_token_ids',
  'min_tokens',
  'ignore_eos',
  'guided_json',
  'guided_regex',
  'guided_choice',
  'guided_grammar',
  'guided_decoding_backend',
  'guided_whitespace_pattern',
  'structured_outputs',
  'json_schema',
  'regex',
  'ebnf',
  'truncate_prompt_tokens',
  'return_token_ids',
  'return_tokens_as_token_ids',
  'prompt_logprobs',
  'length_penalty',
  'no_repeat_ngram_size',
  'typical_p',
  'tfs',
  'eta_cutoff',
  'epsilon_cutoff',
  'mirostat',
  'mirostat_mode',
  'mirostat_tau',
  'mirostat_eta',
  'dry_multiplier',
  'dry_base',
  'dry_allowed_length',
  'xtc_probability',
  'xtc_threshold',
  'repeat_penalty',
  'repeat_last_n',
  'random_seed',
]);

/** Fields of a message, a content part and a tool that cost no more than their text and their media. */
const messageFields: ReadonlySet<string> = new Set([
  'role',
  'content',
  'name',
  'tool_calls',
  'tool_call_id',
  'function_call',
  'refusal',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'annotations',
  'images',
  'audio',
  'cache_control',
  'prefix',
  'partial',
  'id',
  'type',
  'status',
  'citations',
  'thinking',
  'thinking_blocks',
  'tool_name',
  'tool_plan',
  'is_error',
]);
const partFields: ReadonlySet<string> = new Set([
  'type',
  'text',
  'image_url',
  'input_audio',
  'video_url',
  'file',
  'cache_control',
  'annotations',
  'title',
  'context',
  'citations',
  'index',
  'id',
  'fps',
  'min_pixels',
  'max_pixels',
  'total_pixels',
  'uuid',
]);

/** Tells whether a field of the request asks the provider to search the web. */
export function asksForSearch(name: string, value: unknown): boolean {
  if (!value) return false;
  return name === 'venice_parameters'
    ? Object.keys(value).some((key) => key.includes('search'))
    : searchFields.has(name);
}

/**
 * The field, or its inner field, whose cost is unknown.
 * @param name  none of `silentFields`, which cost nothing
 * @returns null: the field costs no more than is held for its text, or for searches
 */
export function unknownField(name: string, value: unknown): string | null {
  const inner = innerFields.get(name);
  if (inner === undefined) return textFields.has(name) || searchFields.has(name) ? null : name;
  if (typeof value !== 'object' || value === null) return null;
  const further = Object.keys(value).find((key) => !inner.has(key));
  return further === undefined ? null : `${name}.${further}`;
}

/** Does the same for a field of a message. */
export function unknownMessageField(name: string): string | null {
  return messageFields.has(name) ? null : `messages[].${name}`;
}

/** Does the same for a field of a content part. */
export function unknownPartField(name: string): string | null {
  return partFields.has(name) ? null : `messages[].content[].${name}`;
}
