import type { DialectRequestName } from '../../../support/dialect-requests.ts';

/** What is sent for a request, without quirks. */
export interface Golden {
  /** The body, but for the name of the model. */
  body: { messages: readonly object[]; [field: string]: unknown };
  dropped?: readonly string[];
  structuredOutput?: 'native';
}

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const ask = { role: 'user', content: 'What is the weather in Paris?' };
const weather = {
  type: 'function',
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
const time = { type: 'function', function: { name: 'get_time', parameters: { type: 'object', properties: {} } } };
const calls = (id: string, city: string) => ({
  id,
  type: 'function',
  function: { name: 'get_weather', arguments: `{"city":"${city}"}` },
});
const called = { role: 'assistant', content: null, tool_calls: [calls('call_1', 'Paris')] };
const answered = { role: 'tool', tool_call_id: 'call_1', content: '18 degrees' };
const person = {
  type: 'json_schema',
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

/**
 * The body of each request of `dialectRequests`.
 * @see https://platform.openai.com/docs/api-reference/chat/create
 */
export const golden: Record<DialectRequestName, Golden> = {
  'a text': { body: { messages: [ask] } },
  'a stream': { body: { messages: [ask], stream: true, stream_options: { include_usage: true } } },
  'a system message': { body: { messages: [{ role: 'system', content: 'Be brief.' }, ask] } },
  'a developer message': { body: { messages: [{ role: 'system', content: 'Be brief.' }, ask] } },
  'system messages in several places': {
    body: {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'system', content: [{ type: 'text', text: 'Be kind.' }] },
        ask,
        { role: 'assistant', content: 'Warm.' },
        { role: 'system', content: 'Be funny.' },
        { role: 'user', content: 'And in Rome?' },
      ],
    },
  },
  'several user messages in a row': { body: { messages: [ask, { role: 'user', content: 'Quick!' }] } },
  'an assistant message at the end': { body: { messages: [ask, { role: 'assistant', content: 'The weather is' }] } },
  'an empty assistant message': {
    body: { messages: [ask, { role: 'assistant', content: '' }, { role: 'user', content: 'Go on.' }] },
  },
  'text parts': {
    body: {
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
  },
  'an image as data': {
    body: {
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
  },
  'an image by its address': {
    body: {
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.com/cat.jpg' } }] }],
    },
  },
  'a file as data': {
    body: {
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'file',
              file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0xLjQKJSVFT0Y=' },
            },
            { type: 'text', text: 'Summarise it.' },
          ],
        },
      ],
    },
  },
  // OpenAI takes none by its address; routers do. Who does not take it says so.
  'a file by its address': {
    body: {
      messages: [
        {
          role: 'user',
          content: [{ type: 'file', file: { filename: 'a.pdf', file_data: 'https://example.com/a.pdf' } }],
        },
      ],
    },
  },
  'a sound': {
    body: {
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'input_audio',
              input_audio: {
                data: 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAgD4AAAB9AAACABAAZGF0YQAAAAA=',
                format: 'wav',
              },
            },
          ],
        },
      ],
    },
  },
  'a video': {
    body: {
      messages: [
        { role: 'user', content: [{ type: 'video_url', video_url: { url: 'data:video/mp4;base64,AAAAIGZ0eXA=' } }] },
      ],
    },
  },
  'sampling parameters': {
    body: {
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
  },
  'the newer name of the largest output': { body: { messages: [ask], max_tokens: 300, stop: 'END' } },
  'probabilities of tokens': { body: { messages: [ask], logprobs: true, top_logprobs: 3 } },
  'several choices': { body: { messages: [ask], n: 2 } },
  'a tool': { body: { messages: [ask], tools: [weather] } },
  'tools, of which none must be called': {
    body: { messages: [ask], tools: [weather, time], tool_choice: 'none' },
  },
  'tools, of which one must be called': {
    body: { messages: [ask], tools: [weather, time], tool_choice: 'required' },
  },
  'a tool that must be called': {
    body: {
      messages: [ask],
      tools: [weather, time],
      tool_choice: { type: 'function', function: { name: 'get_time' } },
    },
  },
  'tools that are not called at the same time': {
    body: { messages: [ask], tools: [weather], parallel_tool_calls: false },
  },
  'a strict tool': {
    body: { messages: [ask], tools: [{ ...weather, function: { ...weather.function, strict: true } }] },
  },
  'the result of a tool': { body: { messages: [ask, called, answered], tools: [weather] } },
  'results of parallel tool calls': {
    body: {
      messages: [
        { role: 'user', content: 'Paris and Rome?' },
        { role: 'assistant', content: 'I will look.', tool_calls: [calls('call_1', 'Paris'), calls('call_2', 'Rome')] },
        { role: 'tool', tool_call_id: 'call_1', content: '18 degrees' },
        { role: 'tool', tool_call_id: 'call_2', content: [{ type: 'text', text: '24 degrees' }] },
        { role: 'user', content: 'Which is warmer?' },
      ],
      tools: [weather],
    },
  },
  'the result of a tool that is an image': {
    body: {
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
  },
  'a tool call whose arguments are broken': {
    body: {
      messages: [
        ask,
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city": "Par' } },
          ],
        },
        answered,
      ],
      tools: [weather],
    },
  },
  'JSON of any shape': {
    body: { messages: [ask], response_format: { type: 'json_object' } },
    structuredOutput: 'native',
  },
  'JSON of a schema': { body: { messages: [ask], response_format: person }, structuredOutput: 'native' },
  'JSON of a schema, with a tool': {
    body: { messages: [ask], response_format: person, tools: [weather] },
    structuredOutput: 'native',
  },
  'an effort of reasoning': { body: { messages: [ask], reasoning_effort: 'high', max_tokens: 4000 } },
  'the short form of an effort': { body: { messages: [ask], reasoning_effort: 'minimal' } },
  // A quarter of the largest output: more than the share of `low`. What is excluded, the gateway takes out.
  'a budget of reasoning': { body: { messages: [ask], reasoning_effort: 'medium', max_tokens: 8000 } },
  'no reasoning': { body: { messages: [ask], reasoning_effort: 'none' } },
  'reasoning that comes back': {
    body: { messages: [ask, called, answered], tools: [weather], reasoning_effort: 'medium' },
    dropped: ['messages[].reasoning', 'messages[].reasoning_details'],
  },
  'marks of what to cache': {
    body: {
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'A long text.' }] },
        { role: 'user', content: [{ type: 'text', text: 'A question.' }] },
      ],
      tools: [weather],
    },
    dropped: ['messages[].content[].cache_control', 'tools[].cache_control'],
  },
  'a mark on the request': {
    body: { messages: [{ role: 'system', content: 'A long text.' }, ask] },
    dropped: ['cache_control'],
  },
  'who asks, and which tier': {
    body: {
      messages: [ask],
      user: 'user-1',
      safety_identifier: 'user-1',
      service_tier: 'priority',
      metadata: { order: '17' },
      verbosity: 'low',
      prediction: { type: 'content', content: 'Warm.' },
      logit_bias: { '50256': -100 },
    },
  },
};
