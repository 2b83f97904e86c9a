import type { chatRequestSchema } from './request.ts';

/**
 * The use of a field of a chat request.
 * - `gateway`: the gateway acts on it, and no provider gets it
 * - `prompt`: a part of the prompt that is counted by a rule of its own
 * - `sampling`: the choice of tokens
 * - `limit`: the size or the number of the responses
 * - `setting`: another property of the response; no model reads it
 * - `label`: a name of the user or of the request; no model reads it
 * - `text`: may become text of the prompt, and costs no more than this text
 * - `search`: may make the provider search the web, which costs more than the tokens of the request
 */
export type FieldRole = 'gateway' | 'prompt' | 'sampling' | 'limit' | 'setting' | 'label' | 'text' | 'search';

/** The facts about a field of a chat request that more than one part of the gateway needs. */
export interface FieldRow {
  role: FieldRole;
  /** The name in spans and records; absent: they do not have the field as a number. */
  telemetry?: string;
  /**
   * Present: endpoints may ignore or refuse it. `listed`: listings have its name in `supported_parameters`;
   * `unlisted`: listings have no name for it.
   */
  parameter?: 'listed' | 'unlisted';
  /** true: a default of a model may set it. Not for fields that decide about routing, money or tools. */
  isDefaultable?: true;
  /** The name of another field that says the same. */
  sameAs?: string;
  /** true: a list or a map of settings; its size has a limit. */
  isList?: true;
  /**
   * The way in which guardrails read it, where it is not an ordinary field. `free`: names and values are the caller's
   * own. `fixed`: it was acted on before, so that a redaction would have no effect.
   */
  guarded?: 'free' | 'fixed';
  /**
   * The generations that get it, where a plugin makes several for one request. `all`: it says who pays, who may serve or
   * whose request it is. `answers`: it says how a model thinks and how much it may say. Absent: only the one that the
   * client gets the response of.
   */
  generations?: 'all' | 'answers';
  /** The known fields in its value. Others may cost more. Absent: no field in it costs more. */
  inner?: readonly string[];
  /** A word in names of fields in its value. With it they ask for a search; absent: any value does. Only for `search`. */
  searchesBy?: string;
}

const sampling = { role: 'sampling', parameter: 'listed', isDefaultable: true, generations: 'answers' } as const;

/** A row for each field of the schema, and for further fields that several parts of the gateway know. */
const rows = {
  messages: { role: 'prompt' },
  model: { role: 'gateway' },
  models: { role: 'gateway' },
  stream: { role: 'gateway' },
  stream_options: { role: 'gateway' },
  max_tokens: { role: 'limit', telemetry: 'maxTokens', isDefaultable: true, generations: 'answers' },
  max_completion_tokens: {
    role: 'limit',
    telemetry: 'maxTokens',
    isDefaultable: true,
    sameAs: 'max_tokens',
    generations: 'answers',
  },
  temperature: { ...sampling, telemetry: 'temperature' },
  top_p: { ...sampling, telemetry: 'topP' },
  top_k: { ...sampling, telemetry: 'topK' },
  min_p: sampling,
  top_a: sampling,
  frequency_penalty: { ...sampling, telemetry: 'frequencyPenalty' },
  presence_penalty: { ...sampling, telemetry: 'presencePenalty' },
  repetition_penalty: sampling,
  logit_bias: { role: 'sampling', parameter: 'listed', isDefaultable: true, isList: true, guarded: 'free' },
  seed: { ...sampling, telemetry: 'seed' },
  stop: { role: 'sampling', parameter: 'listed', isDefaultable: true },
  logprobs: { role: 'setting', parameter: 'listed' },
  top_logprobs: { role: 'setting', parameter: 'listed' },
  tools: { role: 'prompt', parameter: 'listed', isList: true },
  tool_choice: { role: 'text', parameter: 'listed', guarded: 'fixed' },
  parallel_tool_calls: { role: 'setting', parameter: 'listed', isDefaultable: true },
  response_format: { role: 'prompt', parameter: 'listed' },
  modalities: { role: 'setting', isList: true },
  image_config: { role: 'setting', parameter: 'unlisted', isList: true, guarded: 'free' },
  reasoning: { role: 'setting', parameter: 'listed', isDefaultable: true, generations: 'answers' },
  reasoning_effort: {
    role: 'setting',
    parameter: 'listed',
    isDefaultable: true,
    sameAs: 'reasoning',
    generations: 'answers',
  },
  service_tier: { role: 'setting', parameter: 'unlisted', generations: 'all' },
  session_id: { role: 'gateway', generations: 'all' },
  user: { role: 'label', generations: 'all' },
  metadata: { role: 'label', guarded: 'free', generations: 'all' },
  cache_control: { role: 'setting', generations: 'answers' },
  debug: { role: 'gateway' },
  plugins: { role: 'gateway', isList: true, guarded: 'fixed', generations: 'all' },
  provider: { role: 'gateway', generations: 'all' },
  route: { role: 'gateway' },
  stop_server_tools_when: { role: 'gateway', isList: true, guarded: 'fixed' },
  trace: { role: 'gateway', guarded: 'free', generations: 'all' },

  // Fields of older clients.
  usage: { role: 'gateway' },
  transforms: { role: 'gateway' },
  include_reasoning: { role: 'gateway', generations: 'answers' },

  // Fields that the schema lets pass.
  n: { role: 'limit', telemetry: 'choices', parameter: 'listed' },
  best_of: { role: 'limit' },
  prediction: { role: 'prompt', parameter: 'unlisted' },
  verbosity: { role: 'text', parameter: 'listed', generations: 'answers' },
  audio: { role: 'text', parameter: 'unlisted' },
  store: { role: 'text', generations: 'all' },
  safety_identifier: { role: 'text', generations: 'all' },
  prompt_cache_key: { role: 'text', generations: 'answers' },
  web_search_options: {
    role: 'search',
    parameter: 'listed',
    inner: ['search_context_size', 'user_location', 'filters'],
  },
  venice_parameters: {
    role: 'search',
    searchesBy: 'search',
    inner: [
      'include_venice_system_prompt',
      'disable_thinking',
      'strip_thinking_response',
      'prompt_cache_key',
      'prompt_cache_retention',
      'enable_web_search',
      'enable_web_citations',
      'include_search_results_in_stream',
      'return_search_results_as_documents',
    ],
  },
} as const satisfies Record<SchemaField, FieldRow> & Record<string, FieldRow>;

type SchemaField = keyof ReturnType<typeof chatRequestSchema>['shape'];

/** A field with facts beside its role. Others may be set too. */
export type ChatField = keyof typeof rows;

type FieldWith<Facts> = { [Name in ChatField]: (typeof rows)[Name] extends Facts ? Name : never }[ChatField];
export type DefaultableField = FieldWith<{ isDefaultable: true }>;
export type ListedParameter = FieldWith<{ parameter: 'listed' }>;
export type CountedField = FieldWith<{ telemetry: string }>;

/** Fields of OpenAI, xAI, Alibaba, Baidu, Groq and Perplexity that make the provider search. */
const searching = [
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
];

/** Fields of single providers that cost no more than the tokens of their text, and the output up to its limit. */
const textual = [
  // Steers the sandbox. Other providers know no such field.
  'sandbox',
  'functions',
  'function_call',
  'documents',
  'citation_options',
  'prompt_cache_retention',
  'prompt_cache_options',
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
];

const known: ReadonlyMap<string, FieldRow> = new Map<string, FieldRow>([
  ...Object.entries(rows),
  ...searching.map((name) => [name, { role: 'search' }] as const),
  ...textual.map((name) => [name, { role: 'text' }] as const),
]);

/** @returns null: nobody here knows the field, so it may do and cost anything */
export function fieldRow(name: string): FieldRow | null {
  return known.get(name) ?? null;
}

/** The names of the fields with these facts, in the order of the table. */
export function fieldsWith<Facts extends Partial<FieldRow>>(facts: Facts): readonly FieldWith<Facts>[] {
  const wanted = Object.entries(facts) as [keyof FieldRow, unknown][];
  const names = Object.keys(rows) as ChatField[];
  const found = names.filter((name) => {
    const row: FieldRow = rows[name];
    return wanted.every(([fact, value]) => row[fact] === value);
  });
  return found as FieldWith<Facts>[];
}

/** The names in spans and records, by field. */
export const telemetryNames: ReadonlyMap<CountedField, (typeof rows)[CountedField]['telemetry']> = new Map(
  (Object.keys(rows) as ChatField[]).flatMap((name) => {
    const row: (typeof rows)[ChatField] = rows[name];
    return 'telemetry' in row ? [[name as CountedField, row.telemetry] as const] : [];
  }),
);
