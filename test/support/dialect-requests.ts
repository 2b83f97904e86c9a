import type { ChatRequest } from '../../src/schema/chat/chat.ts';

/** A PNG of one pixel. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const pdf = 'JVBERi0xLjQKJSVFT0Y=';
const wav = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAgD4AAAB9AAACABAAZGF0YQAAAAA=';

const ask = { role: 'user' as const, content: 'What is the weather in Paris?' };

const weather = {
  type: 'function' as const,
  function: {
    name: 'get_weather',
    description: 'The weather of a city.',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' }, unit: { type: 'string', enum: ['celsius', 'fahrenheit'] } },
      required: ['city'],
      additionalProperties: false,
    },
  },
};
const time = {
  type: 'function' as const,
  function: { name: 'get_time', parameters: { type: 'object', properties: {} } },
};

const call = (id: string, city: string) => ({
  id,
  type: 'function' as const,
  function: { name: 'get_weather', arguments: JSON.stringify({ city }) },
});
const called = { role: 'assistant' as const, content: null, tool_calls: [call('call_1', 'Paris')] };
const answered = { role: 'tool' as const, tool_call_id: 'call_1', content: '18 degrees' };

const person = {
  type: 'json_schema' as const,
  json_schema: {
    name: 'person',
    description: 'A person.',
    strict: true,
    schema: {
      type: 'object',
      properties: { name: { type: 'string' }, age: { type: 'integer' } },
      required: ['name', 'age'],
      additionalProperties: false,
    },
  },
};

const signed = {
  role: 'assistant' as const,
  content: null,
  reasoning: 'The user wants the weather.',
  reasoning_details: [
    {
      type: 'reasoning.text' as const,
      text: 'The user wants the weather.',
      signature: 'c2lnbmF0dXJl',
      format: 'anthropic-claude-v1',
      index: 0,
    },
    { type: 'reasoning.encrypted' as const, data: 'ZW5jcnlwdGVk', format: 'anthropic-claude-v1', index: 1 },
  ],
  tool_calls: [call('call_1', 'Paris')],
};

const cache = { type: 'ephemeral' as const };

/**
 * What clients ask for: all roles, parts, tools, schemas, reasoning and caching. Each dialect has a golden body of each,
 * or says why it refuses the request.
 */
export const dialectRequests = {
  'a text': { messages: [ask] },
  'a stream': { messages: [ask], stream: true },
  'a system message': { messages: [{ role: 'system', content: 'Be brief.' }, ask] },
  'a developer message': { messages: [{ role: 'developer', content: 'Be brief.' }, ask] },
  'system messages in several places': {
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'developer', content: [{ type: 'text', text: 'Be kind.' }] },
      ask,
      { role: 'assistant', content: 'Warm.' },
      { role: 'system', content: 'Be funny.' },
      { role: 'user', content: 'And in Rome?' },
    ],
  },
  'several user messages in a row': { messages: [ask, { role: 'user', content: 'Quick!' }] },
  'an assistant message at the end': { messages: [ask, { role: 'assistant', content: 'The weather is' }] },
  'an empty assistant message': {
    messages: [ask, { role: 'assistant', content: '' }, { role: 'user', content: 'Go on.' }],
  },
  'text parts': {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'One.' },
          { type: 'text', text: 'Two.' },
        ],
      },
    ],
  },
  'an image as data': {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${png}`, detail: 'low' } },
        ],
      },
    ],
  },
  'an image by its address': {
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.com/cat.jpg' } }] }],
  },
  'a file as data': {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` } },
          { type: 'text', text: 'Summarise it.' },
        ],
      },
    ],
  },
  'a file by its address': {
    messages: [
      {
        role: 'user',
        content: [{ type: 'file', file: { filename: 'a.pdf', file_data: 'https://example.com/a.pdf' } }],
      },
    ],
  },
  'a sound': {
    messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: wav, format: 'wav' } }] }],
  },
  'a video': {
    messages: [
      { role: 'user', content: [{ type: 'video_url', video_url: { url: 'data:video/mp4;base64,AAAAIGZ0eXA=' } }] },
    ],
  },
  'sampling parameters': {
    messages: [ask],
    temperature: 0.7,
    top_p: 0.9,
    top_k: 40,
    min_p: 0.05,
    frequency_penalty: 0.5,
    presence_penalty: 0.25,
    repetition_penalty: 1.1,
    seed: 7,
    stop: ['END', 'STOP'],
    max_tokens: 500,
  },
  'the newer name of the largest output': { messages: [ask], max_completion_tokens: 300, stop: 'END' },
  'probabilities of tokens': { messages: [ask], logprobs: true, top_logprobs: 3 },
  'several choices': { messages: [ask], n: 2 },
  'a tool': { messages: [ask], tools: [weather] },
  'tools, of which none must be called': { messages: [ask], tools: [weather, time], tool_choice: 'none' },
  'tools, of which one must be called': { messages: [ask], tools: [weather, time], tool_choice: 'required' },
  'a tool that must be called': {
    messages: [ask],
    tools: [weather, time],
    tool_choice: { type: 'function', function: { name: 'get_time' } },
  },
  'tools that are not called at the same time': { messages: [ask], tools: [weather], parallel_tool_calls: false },
  'a strict tool': {
    messages: [ask],
    tools: [{ ...weather, function: { ...weather.function, strict: true } }],
  },
  'the result of a tool': { messages: [ask, called, answered], tools: [weather] },
  'results of parallel tool calls': {
    messages: [
      { role: 'user', content: 'Paris and Rome?' },
      { role: 'assistant', content: 'I will look.', tool_calls: [call('call_1', 'Paris'), call('call_2', 'Rome')] },
      { role: 'tool', tool_call_id: 'call_1', content: '18 degrees' },
      { role: 'tool', tool_call_id: 'call_2', content: [{ type: 'text', text: '24 degrees' }] },
      { role: 'user', content: 'Which is warmer?' },
    ],
    tools: [weather],
  },
  'the result of a tool that is an image': {
    messages: [
      ask,
      called,
      {
        role: 'tool',
        tool_call_id: 'call_1',
        content: [
          { type: 'text', text: 'The map:' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
        ],
      },
    ],
    tools: [weather],
  },
  'a tool call whose arguments are broken': {
    messages: [
      ask,
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city": "Par' } }],
      },
      answered,
    ],
    tools: [weather],
  },
  'JSON of any shape': { messages: [ask], response_format: { type: 'json_object' } },
  'JSON of a schema': { messages: [ask], response_format: person },
  'JSON of a schema, with a tool': { messages: [ask], response_format: person, tools: [weather] },
  'an effort of reasoning': { messages: [ask], reasoning: { effort: 'high' }, max_tokens: 4000 },
  'the short form of an effort': { messages: [ask], reasoning_effort: 'minimal' },
  'a budget of reasoning': { messages: [ask], reasoning: { max_tokens: 2000, exclude: true }, max_tokens: 8000 },
  'no reasoning': { messages: [ask], reasoning: { enabled: false } },
  'reasoning that comes back': { messages: [ask, signed, answered], tools: [weather], reasoning: { enabled: true } },
  'marks of what to cache': {
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'A long text.', cache_control: { ...cache, ttl: '1h' } }] },
      { role: 'user', content: [{ type: 'text', text: 'A question.', cache_control: cache }] },
    ],
    tools: [{ ...weather, cache_control: cache }],
  },
  'a mark on the request': { messages: [{ role: 'system', content: 'A long text.' }, ask], cache_control: cache },
  'who asks, and which tier': {
    messages: [ask],
    user: 'user-1',
    safety_identifier: 'user-1',
    service_tier: 'priority',
    metadata: { order: '17' },
    verbosity: 'low',
    prediction: { type: 'content', content: 'Warm.' },
    logit_bias: { '50256': -100 },
  },
} satisfies Record<string, ChatRequest>;

export type DialectRequestName = keyof typeof dialectRequests;
