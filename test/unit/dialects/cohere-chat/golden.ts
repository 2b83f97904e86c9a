import type { StructuredOutput } from '../../../../src/dialects/dialect.ts';
import type { DialectRequestName } from '../../../support/dialect-requests.ts';

/** What a request becomes, or why it cannot be sent. */
export type Golden =
  | {
      /** Beside `model` and, where it is false, `stream`. */
      payload: Record<string, unknown>;
      dropped?: string[];
      structuredOutput?: StructuredOutput;
      outputTool?: string;
    }
  | { refused: string };

const question = { role: 'user', content: 'What is the weather in Paris?' };

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

const person = {
  type: 'object',
  description: 'A person.',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name', 'age'],
  additionalProperties: false,
};

const call = (id: string, args: string) => ({
  id,
  type: 'function',
  function: { name: 'get_weather', arguments: args },
});
const called = { role: 'assistant', tool_calls: [call('call_1', '{"city":"Paris"}')] };
const answered = { role: 'tool', tool_call_id: 'call_1', content: '18 degrees' };

const textOrImage = 'messages[0].content[0]: expected text or an image';

/**
 * The body of each request for Cohere's chat.
 * @see https://docs.cohere.com/reference/chat for the fields
 * @see https://docs.cohere.com/docs/reasoning for `thinking`
 * @see https://docs.cohere.com/docs/structured-outputs for `response_format` and `strict_tools`
 */
export const golden: Record<DialectRequestName, Golden> = {
  'a text': { payload: { messages: [question] } },
  'a stream': { payload: { messages: [question], stream: true } },
  'a system message': { payload: { messages: [{ role: 'system', content: 'Be brief.' }, question] } },
  'a developer message': { payload: { messages: [{ role: 'system', content: 'Be brief.' }, question] } },
  'system messages in several places': {
    payload: {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'system', content: [{ type: 'text', text: 'Be kind.' }] },
        question,
        { role: 'assistant', content: 'Warm.' },
        { role: 'system', content: 'Be funny.' },
        { role: 'user', content: 'And in Rome?' },
      ],
    },
  },
  'several user messages in a row': { payload: { messages: [question, { role: 'user', content: 'Quick!' }] } },
  'an assistant message at the end': {
    payload: { messages: [question, { role: 'assistant', content: 'The weather is' }] },
  },
  // Cohere refuses a message that says nothing.
  'an empty assistant message': { payload: { messages: [question, { role: 'user', content: 'Go on.' }] } },
  'text parts': {
    payload: {
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
    payload: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            {
              type: 'image_url',
              image_url: {
                url: 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
                detail: 'low',
              },
            },
          ],
        },
      ],
    },
  },
  'an image by its address': {
    payload: {
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.com/cat.jpg' } }] }],
    },
  },
  'a file as data': { refused: textOrImage },
  'a file by its address': { refused: textOrImage },
  'a sound': { refused: textOrImage },
  'a video': { refused: textOrImage },
  'sampling parameters': {
    payload: {
      messages: [question],
      temperature: 0.7,
      p: 0.9,
      k: 40,
      frequency_penalty: 0.5,
      presence_penalty: 0.25,
      seed: 7,
      stop_sequences: ['END', 'STOP'],
      max_tokens: 500,
    },
    dropped: ['min_p', 'repetition_penalty'],
  },
  'the newer name of the largest output': {
    payload: { messages: [question], max_tokens: 300, stop_sequences: ['END'] },
  },
  'probabilities of tokens': { payload: { messages: [question], logprobs: true }, dropped: ['top_logprobs'] },
  'several choices': { payload: { messages: [question] }, dropped: ['n'] },
  'a tool': { payload: { messages: [question], tools: [weather] } },
  'tools, of which none must be called': {
    payload: { messages: [question], tools: [weather, time], tool_choice: 'NONE' },
  },
  'tools, of which one must be called': {
    payload: { messages: [question], tools: [weather, time], tool_choice: 'REQUIRED' },
  },
  'a tool that must be called': { payload: { messages: [question], tools: [time], tool_choice: 'REQUIRED' } },
  'tools that are not called at the same time': {
    payload: { messages: [question], tools: [weather] },
    dropped: ['parallel_tool_calls'],
  },
  'a strict tool': { payload: { messages: [question], tools: [weather], strict_tools: true } },
  'the result of a tool': { payload: { messages: [question, called, answered], tools: [weather] } },
  'results of parallel tool calls': {
    payload: {
      messages: [
        { role: 'user', content: 'Paris and Rome?' },
        {
          role: 'assistant',
          tool_plan: 'I will look.',
          tool_calls: [call('call_1', '{"city":"Paris"}'), call('call_2', '{"city":"Rome"}')],
        },
        answered,
        { role: 'tool', tool_call_id: 'call_2', content: [{ type: 'text', text: '24 degrees' }] },
        { role: 'user', content: 'Which is warmer?' },
      ],
      tools: [weather],
    },
  },
  'the result of a tool that is an image': { refused: 'messages[2].content[1]: expected text' },
  'a tool call whose arguments are broken': {
    payload: {
      messages: [question, { role: 'assistant', tool_calls: [call('call_1', '{"city": "Par')] }, answered],
      tools: [weather],
    },
  },
  'JSON of any shape': {
    payload: { messages: [question], response_format: { type: 'json_object' } },
    structuredOutput: 'native',
  },
  'JSON of a schema': {
    payload: { messages: [question], response_format: { type: 'json_object', json_schema: person } },
    structuredOutput: 'native',
  },
  'JSON of a schema, with a tool': {
    payload: {
      messages: [question],
      tools: [
        weather,
        {
          type: 'function',
          function: {
            name: 'structured_output',
            description: 'Gives the final response. Call it once nothing else is left to do.',
            parameters: person,
          },
        },
      ],
      tool_choice: 'REQUIRED',
    },
    structuredOutput: 'tool',
    outputTool: 'structured_output',
  },
  'an effort of reasoning': {
    payload: { messages: [question], max_tokens: 4000, thinking: { type: 'enabled', token_budget: 3200 } },
  },
  'the short form of an effort': {
    payload: { messages: [question], thinking: { type: 'enabled', token_budget: 3200 } },
  },
  'a budget of reasoning': {
    payload: { messages: [question], max_tokens: 8000, thinking: { type: 'enabled', token_budget: 2000 } },
  },
  'no reasoning': { payload: { messages: [question], thinking: { type: 'disabled' } } },
  'reasoning that comes back': {
    payload: {
      messages: [question, called, answered],
      tools: [weather],
      thinking: { type: 'enabled', token_budget: 16_000 },
    },
    dropped: ['messages[].reasoning', 'messages[].reasoning_details'],
  },
  'marks of what to cache': {
    payload: {
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'A long text.' }] },
        { role: 'user', content: [{ type: 'text', text: 'A question.' }] },
      ],
      tools: [weather],
    },
    dropped: ['messages[].content[].cache_control', 'tools[].cache_control'],
  },
  'a mark on the request': {
    payload: { messages: [{ role: 'system', content: 'A long text.' }, question] },
    dropped: ['cache_control'],
  },
  'who asks, and which tier': {
    payload: { messages: [question] },
    dropped: ['user', 'safety_identifier', 'service_tier', 'metadata', 'verbosity', 'prediction', 'logit_bias'],
  },
};
