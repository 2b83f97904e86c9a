import type { DialectRequestName } from '../../../support/dialect-requests.ts';

/** What a request becomes. */
export interface Golden {
  /** The body, but for `model` and, where the request names none, `max_tokens`. */
  body: Record<string, unknown>;
  dropped?: string[];
  structuredOutput?: 'native' | 'tool' | 'instruction';
}

/** What Claude cannot take: the start of the message. */
export interface Refused {
  refused: string;
}

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const text = (words: string) => ({ type: 'text', text: words });
const user = (...content: object[]) => ({ role: 'user', content });
const assistant = (...content: object[]) => ({ role: 'assistant', content });
const ask = user(text('What is the weather in Paris?'));

const weatherSchema = {
  type: 'object',
  properties: { city: { type: 'string' }, unit: { type: 'string', enum: ['celsius', 'fahrenheit'] } },
  required: ['city'],
  additionalProperties: false,
};
const weather = { name: 'get_weather', description: 'The weather of a city.', input_schema: weatherSchema };
const time = { name: 'get_time', input_schema: { type: 'object', properties: {} } };
const call = (id: string, city: string) => ({ type: 'tool_use', id, name: 'get_weather', input: { city } });
const result = (id: string, ...content: object[]) => ({ type: 'tool_result', tool_use_id: id, content });

const personFormat = {
  format: {
    type: 'json_schema',
    schema: {
      type: 'object',
      description: 'A person.',
      properties: { name: { type: 'string' }, age: { type: 'integer' } },
      required: ['name', 'age'],
      additionalProperties: false,
    },
  },
};
const cache = { type: 'ephemeral' };

/**
 * The body of each request for Claude Sonnet 4.5, by the documentation of the fields:
 * - https://platform.claude.com/docs/en/api/messages/create
 * - https://platform.claude.com/docs/en/build-with-claude/vision and pdf-support: blocks `image` and `document`
 * - https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools: `tools` and `tool_choice`
 * - https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls: results come first
 * - https://platform.claude.com/docs/en/build-with-claude/extended-thinking: `thinking`, and how it goes back
 * - https://platform.claude.com/docs/en/build-with-claude/structured-outputs: `output_config.format`, `strict`
 * - https://platform.claude.com/docs/en/build-with-claude/prompt-caching: `cache_control`
 */
export const golden: Record<DialectRequestName, Golden | Refused> = {
  'a text': { body: { messages: [ask] } },
  'a stream': { body: { messages: [ask], stream: true } },
  'a system message': { body: { system: [text('Be brief.')], messages: [ask] } },
  'a developer message': { body: { system: [text('Be brief.')], messages: [ask] } },
  'system messages in several places': {
    body: {
      system: [text('Be brief.'), text('Be kind.')],
      messages: [ask, assistant(text('Warm.')), user(text('Be funny.'), text('And in Rome?'))],
    },
  },
  'several user messages in a row': {
    body: { messages: [user(text('What is the weather in Paris?'), text('Quick!'))] },
  },
  'an assistant message at the end': { body: { messages: [ask, assistant(text('The weather is'))] } },
  'an empty assistant message': {
    body: { messages: [user(text('What is the weather in Paris?'), text('Go on.'))] },
  },
  'text parts': { body: { messages: [user(text('One.'), text('Two.'))] } },
  'an image as data': {
    body: {
      messages: [
        user(text('What is this?'), {
          type: 'image',
          source: { type: 'base64', media_type: 'image/png', data: png },
        }),
      ],
    },
    dropped: ['messages[].content[].image_url.detail'],
  },
  'an image by its address': {
    body: { messages: [user({ type: 'image', source: { type: 'url', url: 'https://example.com/cat.jpg' } })] },
  },
  'a file as data': {
    body: {
      messages: [
        user(
          {
            type: 'document',
            source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjQKJSVFT0Y=' },
            title: 'a.pdf',
          },
          text('Summarise it.'),
        ),
      ],
    },
  },
  'a file by its address': {
    body: {
      messages: [user({ type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' }, title: 'a.pdf' })],
    },
  },
  'a sound': { refused: 'messages[0].content[0]: expected text, an image or a file' },
  'a video': { refused: 'messages[0].content[0]: expected text, an image or a file' },
  'sampling parameters': {
    // Since 4.1 a model takes `temperature` or `top_p`, and refuses both together.
    body: { messages: [ask], max_tokens: 500, temperature: 0.7, top_k: 40, stop_sequences: ['END', 'STOP'] },
    dropped: ['frequency_penalty', 'min_p', 'presence_penalty', 'repetition_penalty', 'seed', 'top_p'],
  },
  'the newer name of the largest output': {
    body: { messages: [ask], max_tokens: 300, stop_sequences: ['END'] },
  },
  'probabilities of tokens': { body: { messages: [ask] }, dropped: ['logprobs', 'top_logprobs'] },
  'several choices': { body: { messages: [ask] }, dropped: ['n'] },
  'a tool': { body: { messages: [ask], tools: [weather] } },
  'tools, of which none must be called': {
    body: { messages: [ask], tools: [weather, time], tool_choice: { type: 'none' } },
  },
  'tools, of which one must be called': {
    body: { messages: [ask], tools: [weather, time], tool_choice: { type: 'any' } },
  },
  'a tool that must be called': {
    body: { messages: [ask], tools: [weather, time], tool_choice: { type: 'tool', name: 'get_time' } },
  },
  'tools that are not called at the same time': {
    body: { messages: [ask], tools: [weather], tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
  },
  'a strict tool': { body: { messages: [ask], tools: [{ ...weather, strict: true }] } },
  'the result of a tool': {
    body: {
      messages: [ask, assistant(call('call_1', 'Paris')), user(result('call_1', text('18 degrees')))],
      tools: [weather],
    },
  },
  'results of parallel tool calls': {
    body: {
      messages: [
        user(text('Paris and Rome?')),
        assistant(text('I will look.'), call('call_1', 'Paris'), call('call_2', 'Rome')),
        user(result('call_1', text('18 degrees')), result('call_2', text('24 degrees')), text('Which is warmer?')),
      ],
      tools: [weather],
    },
  },
  'the result of a tool that is an image': {
    body: {
      messages: [
        ask,
        assistant(call('call_1', 'Paris')),
        user(
          result('call_1', text('The map:'), {
            type: 'image',
            source: { type: 'base64', media_type: 'image/png', data: png },
          }),
        ),
      ],
      tools: [weather],
    },
  },
  'a tool call whose arguments are broken': {
    body: {
      messages: [
        ask,
        assistant({ type: 'tool_use', id: 'call_1', name: 'get_weather', input: { arguments: '{"city": "Par' } }),
        user(result('call_1', text('18 degrees'))),
      ],
      tools: [weather],
    },
  },
  'JSON of any shape': {
    // A format needs a schema, and an object without named properties has none.
    body: {
      system: [text('Respond with one JSON object and nothing else: no prose, no code fence.')],
      messages: [ask],
    },
    structuredOutput: 'instruction',
  },
  'JSON of a schema': { body: { messages: [ask], output_config: personFormat }, structuredOutput: 'native' },
  'JSON of a schema, with a tool': {
    body: { messages: [ask], tools: [weather], output_config: personFormat },
    structuredOutput: 'native',
  },
  'an effort of reasoning': {
    body: { messages: [ask], max_tokens: 4000, thinking: { type: 'enabled', budget_tokens: 3200 } },
  },
  'the short form of an effort': {
    body: { messages: [ask], thinking: { type: 'enabled', budget_tokens: 3200 } },
  },
  'a budget of reasoning': {
    body: { messages: [ask], max_tokens: 8000, thinking: { type: 'enabled', budget_tokens: 2000 } },
  },
  'no reasoning': { body: { messages: [ask], thinking: { type: 'disabled' } } },
  'reasoning that comes back': {
    body: {
      messages: [
        ask,
        assistant(
          { type: 'thinking', thinking: 'The user wants the weather.', signature: 'c2lnbmF0dXJl' },
          { type: 'redacted_thinking', data: 'ZW5jcnlwdGVk' },
          call('call_1', 'Paris'),
        ),
        user(result('call_1', text('18 degrees'))),
      ],
      tools: [weather],
      thinking: { type: 'enabled', budget_tokens: 16_000 },
    },
  },
  'marks of what to cache': {
    body: {
      system: [{ ...text('A long text.'), cache_control: { ...cache, ttl: '1h' } }],
      messages: [user({ ...text('A question.'), cache_control: cache })],
      tools: [{ ...weather, cache_control: cache }],
    },
  },
  'a mark on the request': {
    body: { cache_control: cache, system: [text('A long text.')], messages: [ask] },
  },
  'who asks, and which tier': {
    body: { messages: [ask], metadata: { user_id: 'user-1' }, service_tier: 'auto' },
    // Sonnet 4.5 knows no effort, which `verbosity` becomes for models that do.
    dropped: ['logit_bias', 'metadata', 'prediction', 'verbosity'],
  },
};
