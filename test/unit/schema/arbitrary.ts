import fc from 'fast-check';

/** Generators of valid chat requests, of every field and variant, with unknown fields wherever they may stand. */

const text = fc.string({ maxLength: 12 });
const json = fc.jsonValue({ maxDepth: 2 });
const notProto = (key: string) => key !== '__proto__';
const jsonObject = fc.dictionary(text.filter(notProto), json, { maxKeys: 3 });
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const integer = fc.integer();
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (Object.is(value, -0) ? 0 : value));
const between = (min: number, max: number) =>
  fc.double({ min, max, noNaN: true }).map((value) => (Object.is(value, -0) ? 0 : value));

/** An object with the required fields, some of the optional ones, and perhaps fields of its own making. */
function loose<R extends Record<string, fc.Arbitrary<unknown>>, O extends Record<string, fc.Arbitrary<unknown>>>(
  required: R,
  optional: O,
) {
  const known = fc.record({ ...required, ...optional }, { requiredKeys: Object.keys(required) as never[] });
  const own = fc.dictionary(fc.constantFrom('x_own', 'x-other', 'X'), json, { maxKeys: 2 });
  return fc.tuple(known, own).map(([a, b]): Record<string, unknown> => ({ ...a, ...b }));
}

const cacheControl = loose({ type: fc.constant('ephemeral') }, { ttl: fc.constantFrom('5m', '1h') });

const textPart = loose({ type: fc.constant('text'), text }, { cache_control: cacheControl });
const part = fc.oneof(
  textPart,
  loose(
    {
      type: fc.constant('image_url'),
      image_url: loose({ url: text }, { detail: fc.constantFrom('auto', 'low', 'high', 'original') }),
    },
    {},
  ),
  loose({ type: fc.constant('input_audio'), input_audio: loose({ data: text, format: text }, {}) }, {}),
  loose({ type: fc.constantFrom('video_url', 'input_video'), video_url: loose({ url: text }, {}) }, {}),
  loose({ type: fc.constant('file'), file: loose({}, { file_data: text, filename: text, file_id: text }) }, {}),
);
const anyContent = fc.oneof(text, fc.array(part, { maxLength: 3 }));
const textContent = fc.oneof(text, fc.array(textPart, { maxLength: 3 }));

const toolCall = loose(
  { id: text, type: fc.constant('function'), function: loose({ name: text, arguments: text }, {}) },
  {},
);
const reasoningCommon = {
  id: maybe(text),
  index: integer,
  format: maybe(fc.constantFrom('unknown', 'openai-responses-v1', 'anthropic-claude-v1', 'google-gemini-v1')),
};
const reasoningDetail = fc.oneof(
  loose({ type: fc.constant('reasoning.summary'), summary: text }, reasoningCommon),
  loose({ type: fc.constant('reasoning.encrypted'), data: text }, reasoningCommon),
  loose({ type: fc.constant('reasoning.text') }, { text: maybe(text), signature: maybe(text), ...reasoningCommon }),
);

export const chatMessage = fc.oneof(
  loose({ role: fc.constantFrom('system', 'developer'), content: textContent }, { name: text }),
  loose({ role: fc.constant('user'), content: anyContent }, { name: text }),
  loose(
    { role: fc.constant('assistant') },
    {
      content: maybe(anyContent),
      name: text,
      tool_calls: fc.array(toolCall, { maxLength: 2 }),
      refusal: maybe(text),
      reasoning: maybe(text),
      reasoning_details: fc.array(reasoningDetail, { maxLength: 2 }),
      images: fc.array(loose({ image_url: loose({ url: text }, {}) }, {}), { maxLength: 2 }),
      audio: loose({}, { id: text, data: text, transcript: text, expires_at: integer }),
    },
  ),
  loose({ role: fc.constant('tool'), content: anyContent, tool_call_id: text }, {}),
);

const tool = fc.oneof(
  loose(
    {
      type: fc.constant('function'),
      function: loose({ name: text }, { description: text, parameters: jsonObject, strict: maybe(fc.boolean()) }),
    },
    { cache_control: cacheControl },
  ),
  loose({ type: fc.constantFrom('service:datetime', 'service:web_search', 'service:bash') }, {}),
  loose(
    { type: fc.constantFrom('web_search', 'web_search_preview', 'web_search_2025_08_26') },
    {
      max_results: integer,
      max_characters: integer,
      allowed_domains: fc.array(text, { maxLength: 2 }),
      search_context_size: fc.constantFrom('low', 'medium', 'high'),
    },
  ),
);

const toolChoice = fc.oneof(
  fc.constantFrom('none', 'auto', 'required'),
  loose({ type: fc.constant('function'), function: loose({ name: text }, {}) }, {}),
  loose({ type: fc.constantFrom('service:web_search', 'allowed_tools') }, {}),
);

const responseFormat = fc.oneof(
  loose({ type: fc.constantFrom('text', 'json_object', 'python') }, {}),
  loose({ type: fc.constant('grammar'), grammar: text }, {}),
  loose(
    {
      type: fc.constant('json_schema'),
      json_schema: loose({ name: text }, { description: text, schema: jsonObject, strict: maybe(fc.boolean()) }),
    },
    {},
  ),
);

const domains = fc.array(text, { maxLength: 2 });
const enabled = fc.boolean();
const plugin = fc.oneof(
  loose(
    { id: fc.constant('auto-router') },
    { enabled, allowed_models: domains, cost_quality_tradeoff: fc.integer({ min: 0, max: 10 }) },
  ),
  loose({ id: fc.constantFrom('moderation', 'response-healing') }, { enabled }),
  loose(
    { id: fc.constant('web') },
    {
      enabled,
      engine: fc.constantFrom('native', 'exa', 'firecrawl', 'parallel', 'perplexity'),
      max_results: fc.integer({ min: 1 }),
      max_uses: fc.integer({ min: 1 }),
      search_prompt: text,
      include_domains: domains,
      exclude_domains: domains,
      user_location: loose({ type: fc.constant('approximate') }, { city: maybe(text), country: maybe(text) }),
    },
  ),
  loose(
    { id: fc.constant('web-fetch') },
    { enabled, allowed_domains: domains, blocked_domains: domains, max_uses: fc.integer({ min: 1 }) },
  ),
  loose(
    { id: fc.constant('file-parser') },
    { enabled, pdf: loose({}, { engine: fc.constantFrom('mistral-ocr', 'native', 'cloudflare-ai', 'pdf-text') }) },
  ),
  loose({ id: fc.constant('context-compression') }, { enabled, engine: fc.constant('middle-out') }),
  loose({ id: fc.constant('pareto-router') }, { enabled, min_coding_score: between(0, 1) }),
  loose(
    { id: fc.constant('fusion') },
    {
      enabled,
      model: text,
      analysis_models: fc.array(text, { minLength: 1, maxLength: 8 }),
      max_tool_calls: fc.integer({ min: 1, max: 16 }),
      preset: fc.constantFrom('general-high', 'general-budget', 'general-fast'),
      tools: fc.array(loose({ type: text }, { parameters: jsonObject }), { maxLength: 8 }),
    },
  ),
);

const slugs = maybe(fc.array(text, { maxLength: 3 }));
const flag = maybe(fc.boolean());
const sortBy = fc.constantFrom('price', 'throughput', 'latency', 'exacto');
const price = fc.constantFrom('0', '1.5', '.25', '10.');
const percentile = maybe(fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }));
const cutoffs = maybe(
  fc.oneof(
    fc.nat(),
    fc.record({ p50: percentile, p75: percentile, p90: percentile, p99: percentile }, { requiredKeys: [] }),
  ),
);
const provider = maybe(
  fc.record(
    {
      order: slugs,
      only: slugs,
      ignore: slugs,
      allow_fallbacks: flag,
      require_parameters: flag,
      data_collection: maybe(fc.constantFrom('allow', 'deny')),
      zdr: flag,
      enforce_distillable_text: flag,
      quantizations: maybe(fc.array(fc.constantFrom('int4', 'fp8', 'bf16', 'unknown'), { maxLength: 3 })),
      sort: maybe(
        fc.oneof(
          sortBy,
          fc.record({ by: maybe(sortBy), partition: maybe(fc.constantFrom('model', 'none')) }, { requiredKeys: [] }),
        ),
      ),
      max_price: fc.record(
        { prompt: price, completion: price, image: price, audio: price, request: price },
        { requiredKeys: [] },
      ),
      preferred_min_throughput: cutoffs,
      preferred_max_latency: cutoffs,
    },
    { requiredKeys: [] },
  ),
);

const effort = maybe(fc.constantFrom('max', 'xhigh', 'high', 'medium', 'low', 'minimal', 'none'));
const key = (max: number) => fc.string({ maxLength: max }).filter(notProto);
const nonNegative = fc.integer({ min: 1 });
const stopCondition = fc.oneof(
  loose({ type: fc.constant('step_count_is'), step_count: integer }, {}),
  loose({ type: fc.constant('has_tool_call'), tool_name: fc.string({ minLength: 1, maxLength: 9 }) }, {}),
  loose({ type: fc.constant('max_tokens_used'), max_tokens: integer }, {}),
  loose({ type: fc.constant('max_cost'), max_cost_in_dollars: number }, {}),
  loose({ type: fc.constant('finish_reason_is'), reason: fc.string({ minLength: 1, maxLength: 9 }) }, {}),
);

/** Valid by the contract and by the reference: what only one of them takes is left to the tables. */
export const chatRequest = loose(
  { messages: fc.array(chatMessage, { minLength: 1, maxLength: 4 }) },
  {
    model: text,
    models: fc.array(text, { maxLength: 3 }),
    stream: fc.boolean(),
    stream_options: maybe(loose({}, { include_usage: fc.boolean() })),
    max_tokens: maybe(nonNegative),
    max_completion_tokens: maybe(nonNegative),
    temperature: maybe(between(0, 2)),
    top_p: maybe(between(0, 1)),
    top_k: maybe(integer),
    min_p: maybe(number),
    top_a: maybe(number),
    frequency_penalty: maybe(between(-2, 2)),
    presence_penalty: maybe(between(-2, 2)),
    repetition_penalty: maybe(number),
    logit_bias: maybe(fc.dictionary(key(9), number, { maxKeys: 3 })),
    logprobs: flag,
    top_logprobs: maybe(fc.integer({ min: 0, max: 20 })),
    seed: maybe(fc.maxSafeInteger()),
    stop: maybe(fc.oneof(text, fc.array(text, { maxLength: 4 }))),
    tools: fc.array(tool, { maxLength: 3 }),
    tool_choice: toolChoice,
    parallel_tool_calls: flag,
    response_format: responseFormat,
    modalities: fc.array(fc.constantFrom('text', 'image', 'audio'), { maxLength: 3 }),
    image_config: fc.dictionary(key(9), fc.oneof(text, number, fc.array(json, { maxLength: 2 })), { maxKeys: 3 }),
    reasoning: loose(
      {},
      {
        effort,
        summary: maybe(fc.constantFrom('auto', 'concise', 'detailed')),
        max_tokens: fc.nat(),
        exclude: fc.boolean(),
        enabled: fc.boolean(),
      },
    ),
    reasoning_effort: effort,
    service_tier: maybe(fc.constantFrom('auto', 'default', 'flex', 'priority', 'scale')),
    session_id: fc.string({ maxLength: 256 }),
    user: text,
    metadata: fc.dictionary(key(64), fc.string({ maxLength: 512 }), { maxKeys: 16 }),
    cache_control: cacheControl,
    debug: loose({}, { echo_upstream_body: fc.boolean() }),
    plugins: fc.array(plugin, { maxLength: 3 }),
    provider,
    route: maybe(fc.constantFrom('fallback', 'sort')),
    stop_server_tools_when: fc.array(stopCondition, { minLength: 1, maxLength: 3 }),
    trace: loose(
      {},
      { trace_id: text, trace_name: text, span_name: text, generation_name: text, parent_span_id: text },
    ),
  },
);

/** What does not belong in most places. */
export const junk = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    -1,
    0,
    1.5,
    99,
    '',
    'junk',
    [],
    {},
    [null],
    ['junk'],
    { junk: 1 },
    { type: 'junk' },
  ),
  text,
  json,
);

export const clone = (value: unknown) => JSON.parse(JSON.stringify(value));

export type Json = unknown;
type Path = (string | number)[];

function pathsIn(value: Json, above: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [above];
  return [
    above,
    ...Object.entries(value).flatMap(([key, inner]) =>
      pathsIn(inner, [...above, Array.isArray(value) ? Number(key) : key]),
    ),
  ];
}

/** The body with another value, or none, in one place. */
function damage(body: Json, path: Path, value: unknown): Json {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (Array.isArray(body)) return body.map((item, index) => (index === key ? damage(item, rest, value) : item));
  const entries = Object.entries(body as object).map(([k, item]) => [k, k === key ? damage(item, rest, value) : item]);
  return Object.fromEntries(entries.filter(([, item]) => item !== undefined));
}

// Making a request takes longer than checking it, so that each is damaged in twenty ways.
export const damages = fc.array(fc.tuple(fc.nat(), fc.option(junk, { nil: undefined, freq: 8 })), {
  minLength: 20,
  maxLength: 20,
});

export function damagedBodies(request: Json, ways: [where: number, value: unknown][]): Json[] {
  const body = clone(request);
  const paths = pathsIn(body).slice(1);
  return ways.map(([where, value]) => clone(damage(body, paths[where % paths.length] ?? [], value)));
}
