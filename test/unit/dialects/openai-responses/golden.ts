import type { DialectRequestName } from '../../../support/dialect-requests.ts';

/** What the dialect makes of a chat request: a body and what it leaves out, or why it refuses. */
export type Golden =
  | { payload: Record<string, unknown>; dropped?: readonly string[]; structuredOutput?: 'native' }
  | { refusal: string };

const png =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** What every body holds: the model, that nothing is stored, and that reasoning comes encrypted. */
const common = { model: 'gpt-5', store: false, include: ['reasoning.encrypted_content'] };

const says = (role: 'user' | 'system' | 'developer', content: unknown) => ({ type: 'message', role, content });
const said = (text: string) => ({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] });
const text = (one: string) => ({ type: 'input_text', text: one });
const ask = says('user', 'What is the weather in Paris?');

/** Without `strict: false` the provider would hold the arguments to the schema. */
const weather = {
  type: 'function',
  name: 'get_weather',
  description: 'The weather of a city.',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' }, unit: { type: 'string', enum: ['celsius', 'fahrenheit'] } },
    required: ['city'],
    additionalProperties: false,
  },
  strict: false,
};
const time = { type: 'function', name: 'get_time', parameters: { type: 'object', properties: {} }, strict: false };

const called = { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{"city":"Paris"}' };
const answered = { type: 'function_call_output', call_id: 'call_1', output: '18 degrees' };

const person = {
  type: 'json_schema',
  name: 'person',
  description: 'A person.',
  strict: true,
  schema: {
    type: 'object',
    properties: { name: { type: 'string' }, age: { type: 'integer' } },
    required: ['name', 'age'],
    additionalProperties: false,
  },
};

/** A body with these input items. */
const asking = (input: unknown, more: object = {}) => ({ payload: { ...common, input, ...more } });

/**
 * The body of each chat request, for a model that reasons.
 * @see https://platform.openai.com/docs/api-reference/responses/create
 */
export const golden: Record<DialectRequestName, Golden> = {
  'a text': asking([ask]),
  'a stream': asking([ask], { stream: true }),
  'a system message': asking([says('system', 'Be brief.'), ask]),
  'a developer message': asking([says('developer', 'Be brief.'), ask]),
  'system messages in several places': asking([
    says('system', 'Be brief.'),
    says('developer', [text('Be kind.')]),
    ask,
    said('Warm.'),
    says('system', 'Be funny.'),
    says('user', 'And in Rome?'),
  ]),
  'several user messages in a row': asking([ask, says('user', 'Quick!')]),
  'an assistant message at the end': asking([ask, said('The weather is')]),
  'an empty assistant message': asking([ask, said(''), says('user', 'Go on.')]),
  'text parts': asking([says('user', [text('One.'), text('Two.')])]),
  'an image as data': asking([
    says('user', [text('What is this?'), { type: 'input_image', image_url: png, detail: 'low' }]),
  ]),
  'an image by its address': asking([
    says('user', [{ type: 'input_image', image_url: 'https://example.com/cat.jpg', detail: 'auto' }]),
  ]),
  'a file as data': asking([
    says('user', [
      { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0xLjQKJSVFT0Y=' },
      text('Summarise it.'),
    ]),
  ]),
  'a file by its address': {
    ...asking([says('user', [{ type: 'input_file', file_url: 'https://example.com/a.pdf' }])]),
    dropped: ['messages[].content[].file.filename'],
  },
  'a sound': asking([
    says('user', [
      {
        type: 'input_audio',
        input_audio: { data: 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAgD4AAAB9AAACABAAZGF0YQAAAAA=', format: 'wav' },
      },
    ]),
  ]),
  'a video': {
    refusal: 'messages[0].content[0]: expected text, an image, a file or sound: this provider takes no video',
  },
  'sampling parameters': {
    ...asking([ask], { temperature: 0.7, top_p: 0.9, max_output_tokens: 500 }),
    dropped: ['top_k', 'min_p', 'frequency_penalty', 'presence_penalty', 'repetition_penalty', 'seed', 'stop'],
  },
  'the newer name of the largest output': { ...asking([ask], { max_output_tokens: 300 }), dropped: ['stop'] },
  'probabilities of tokens': asking([ask], {
    include: ['reasoning.encrypted_content', 'message.output_text.logprobs'],
    top_logprobs: 3,
  }),
  'several choices': { ...asking([ask]), dropped: ['n'] },
  'a tool': asking([ask], { tools: [weather] }),
  'tools, of which none must be called': asking([ask], { tools: [weather, time], tool_choice: 'none' }),
  'tools, of which one must be called': asking([ask], { tools: [weather, time], tool_choice: 'required' }),
  'a tool that must be called': asking([ask], {
    tools: [weather, time],
    tool_choice: { type: 'function', name: 'get_time' },
  }),
  'tools that are not called at the same time': asking([ask], { tools: [weather], parallel_tool_calls: false }),
  'a strict tool': asking([ask], { tools: [{ ...weather, strict: true }] }),
  'the result of a tool': asking([ask, called, answered], { tools: [weather] }),
  'results of parallel tool calls': asking(
    [
      says('user', 'Paris and Rome?'),
      said('I will look.'),
      called,
      { ...called, call_id: 'call_2', arguments: '{"city":"Rome"}' },
      answered,
      { ...answered, call_id: 'call_2', output: '24 degrees' },
      says('user', 'Which is warmer?'),
    ],
    { tools: [weather] },
  ),
  'the result of a tool that is an image': asking(
    [ask, called, { ...answered, output: [text('The map:'), { type: 'input_image', image_url: png, detail: 'auto' }] }],
    { tools: [weather] },
  ),
  'a tool call whose arguments are broken': asking([ask, { ...called, arguments: '{"city": "Par' }, answered], {
    tools: [weather],
  }),
  'JSON of any shape': { ...asking([ask], { text: { format: { type: 'json_object' } } }), structuredOutput: 'native' },
  'JSON of a schema': { ...asking([ask], { text: { format: person } }), structuredOutput: 'native' },
  'JSON of a schema, with a tool': {
    ...asking([ask], { text: { format: person }, tools: [weather] }),
    structuredOutput: 'native',
  },
  'an effort of reasoning': asking([ask], {
    reasoning: { effort: 'high', summary: 'auto' },
    max_output_tokens: 4000,
  }),
  'the short form of an effort': asking([ask], { reasoning: { effort: 'minimal' } }),
  // 2,000 of 8,000 tokens are more than the fifth that stands for low effort.
  'a budget of reasoning': asking([ask], { reasoning: { effort: 'medium' }, max_output_tokens: 8000 }),
  'no reasoning': asking([ask], { reasoning: { effort: 'none' } }),
  'reasoning that comes back': {
    // It is another provider's.
    ...asking([ask, called, answered], { tools: [weather], reasoning: { effort: 'medium', summary: 'auto' } }),
    dropped: ['messages[].reasoning_details', 'messages[].reasoning'],
  },
  'marks of what to cache': {
    ...asking([says('system', [text('A long text.')]), says('user', [text('A question.')])], { tools: [weather] }),
    dropped: ['messages[].content[].cache_control', 'tools[].cache_control'],
  },
  'a mark on the request': { ...asking([says('system', 'A long text.'), ask]), dropped: ['cache_control'] },
  'who asks, and which tier': {
    ...asking([ask], {
      user: 'user-1',
      safety_identifier: 'user-1',
      service_tier: 'priority',
      metadata: { order: '17' },
      text: { verbosity: 'low' },
    }),
    dropped: ['prediction', 'logit_bias'],
  },
};
