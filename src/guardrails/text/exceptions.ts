/**
 * All parts that a guardrail does not check, with the reasons. Everything else of a request and a response is checked:
 * values, names of members, numbers. docs/guardrails.md has the same list.
 */
export const exceptions = {
  routing:
    'they choose among the models and endpoints that the catalogue knows; no model, plugin or provider gets them',
  words:
    'the words of the wire formats themselves: the same for everybody, and a pattern such as `user` would refuse every request',
  counts:
    'numbers of at most six digits in members that are numbers by the wire format, such as `max_tokens`: a pattern of four digits would refuse every request',
  media: 'images, sound, video and files that are no text, as base64: nobody reads the letters',
  sealed: 'what a provider has sealed for itself, as base64: nobody else can read it',
  usage: 'the gateway counts and checks it',
} as const;

/** Fields of a request (`routing`). */
export const routingFields: ReadonlySet<string> = new Set(['model', 'models', 'provider', 'route']);

/** Members of settings of plugins that name models (`routing`). */
export const namesModels = /(?:^|_)models?$/;

/** Base64 that is shorter is looked at like any text (`media`, `sealed`). */
export const leastEncodedChars = 128;

/** Members with files and media, as a data URL or as base64 (`media`). */
export const mediaMembers: ReadonlySet<string> = new Set([
  'url',
  'image_url',
  'video_url',
  'file_url',
  'file_data',
  'data',
  'bytes',
  'b64_json',
  'partial_image_b64',
  'result',
]);

/** Members with what only a provider can read (`sealed`). */
export const sealedMembers: ReadonlySet<string> = new Set([
  'data',
  'signature',
  'thought_signature',
  'thoughtSignature',
  'encrypted_content',
]);

/** Members that are numbers by the wire formats (`counts`). */
export const countMembers: ReadonlySet<string> = new Set(
  `index output_index content_index summary_index annotation_index sequence_number start_index end_index created created_at
  completed_at expires_at max_tokens max_completion_tokens max_output_tokens max_tool_calls temperature top_p top_k min_p
  top_a top_logprobs logprob seed n best_of frequency_penalty presence_penalty repetition_penalty step_count
  max_tokens_used max_cost_in_dollars max_results max_total_results max_characters partial_images output_compression
  minLength maxLength minItems maxItems minProperties maxProperties minimum maximum exclusiveMinimum exclusiveMaximum
  multipleOf`.split(/\s+/),
);

/** Words that stand for themselves where a member has one of these names (`words`). */
export const wordMembers: ReadonlySet<string> = new Set(
  `type role status object format finish_reason native_finish_reason effort reasoning_effort summary detail mode verbosity
  ttl service_tier tool_choice truncation modalities include quality size background input_fidelity moderation
  output_format search_context_size engine phase syntax execution`.split(/\s+/),
);

const words = new Set(
  `user assistant model system developer tool function text image image_url input_audio video_url input_video file json_object
  json_schema grammar python ephemeral 5m 1h auto none required max xhigh high medium low minimal concise detailed default
  flex priority scale original audio content message input_text input_image input_file output_text output_audio refusal
  summary_text reasoning_text reasoning function_call function_call_output custom custom_tool_call
  custom_tool_call_output item_reference compaction compaction_summary reasoning.text reasoning.summary
  reasoning.encrypted url_citation file_citation container_file_citation file_path image_generation_call
  web_search_call file_search_call computer_call computer_call_output code_interpreter_call local_shell_call
  local_shell_call_output mcp_call mcp_list_tools mcp_approval_request mcp_approval_response namespace tool_search
  local_shell web_search web_search_preview completed in_progress incomplete failed searching queued cancelled stop
  length tool_calls content_filter error wav mp3 flac opus pcm16 aac ogg m4a aiff pcm24 mp4 webm png jpeg webp gif object
  array string number integer boolean null disabled approximate allowed_tools step_count_is has_tool_call
  max_tokens_used max_cost finish_reason_is fallback sort unknown anthropic-claude-v1 openai-responses-v1
  azure-openai-responses-v1 google-gemini-v1 xai-responses-v1 end_turn stop_sequence max_output_tokens STOP MAX_TOKENS
  tool_use regex lark chat.completion chat.completion.chunk response`.split(/\s+/),
);

/** Tells whether a text is a word of the wire formats (`words`). */
export function isWord(text: string, member: string): boolean {
  return wordMembers.has(member) && words.has(text);
}

const memberNames = new Set(
  `messages role content name tool_calls tool_call_id function arguments refusal reasoning reasoning_details images audio
  annotations text image_url url detail input_audio data format video_url file file_data filename file_id cache_control
  ttl id type index summary signature transcript expires_at tools parameters description strict tool_choice
  response_format json_schema schema grammar stream stream_options include_usage logprobs top_logprobs
  parallel_tool_calls modalities image_config effort exclude enabled reasoning_effort service_tier session_id user
  metadata debug echo_upstream_body plugins stop_server_tools_when step_count tool_name reason trace trace_id trace_name
  span_name generation_name parent_span_id stop logit_bias prediction verbosity structured_outputs safety_identifier
  prompt_cache_key url_citation title start_index end_index token bytes logprob tokens delta choices finish_reason
  native_finish_reason input instructions output call_id status encrypted_content item_id input_schema input_text
  file_url image_file_id properties items required enum const default anyOf oneOf allOf not additionalProperties
  patternProperties prefixItems pattern examples definitions include truncation store background
  previous_response_id conversation prompt variables version search_context_size user_location allowed_domains
  excluded_domains engine filters syntax definition action query queries sources command env working_directory
  timeout_ms namespace phase object error code message caller model models contents parts systemInstruction
  functionDeclarations functionCall functionResponse args response inlineData fileData mimeType fileUri displayName thought
  thoughtSignature executableCode codeExecutionResult parametersJsonSchema toolConfig functionCallingConfig
  generationConfig safetySettings serviceTier googleSearch urlContext codeExecution`.split(/\s+/),
);

/** Tells whether a member's name is one of the wire formats (`words`, `counts`). */
export function isMemberName(name: string): boolean {
  return (
    memberNames.has(name) ||
    countMembers.has(name) ||
    wordMembers.has(name) ||
    /^\$(?:ref|defs|schema|comment|id)$/.test(name)
  );
}
