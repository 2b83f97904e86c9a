import type { JSONValue, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { DialectRequestName } from '../../../support/dialect-requests.ts';

/** As JSON: addresses are texts until the model is called. */
type AsJson<Value> = Value extends URL
  ? string
  : [Value] extends [JSONValue | undefined]
    ? Value
    : Value extends object
      ? { [Key in keyof Value]: AsJson<Value[Key]> }
      : Value;

/** What a request becomes. The type is that of the AI SDK: the compiler checks each of them against it. */
export type Golden = {
  /** Beside `model` and, where it is false, `stream`. */
  payload: Omit<LanguageModelV4CallOptions, 'abortSignal' | 'headers' | 'prompt'> & {
    prompt: AsJson<LanguageModelV4CallOptions['prompt']>;
    stream?: boolean;
  };
  dropped?: string[];
  structuredOutput?: 'native';
};

type Message = Golden['payload']['prompt'][number];
type Tool = NonNullable<Golden['payload']['tools']>[number];
type UserPart = Extract<Message, { role: 'user' }>['content'][number];

const asks = (...content: UserPart[]): Message => ({ role: 'user', content });
const text = (said: string) => ({ type: 'text' as const, text: said });
const system = (content: string): Message => ({ role: 'system', content });
const question = asks(text('What is the weather in Paris?'));

const weather: Tool = {
  type: 'function',
  name: 'get_weather',
  description: 'The weather of a city.',
  inputSchema: {
    type: 'object',
    properties: { city: { type: 'string' }, unit: { type: 'string', enum: ['celsius', 'fahrenheit'] } },
    required: ['city'],
    additionalProperties: false,
  },
};
const time: Tool = { type: 'function', name: 'get_time', inputSchema: { type: 'object', properties: {} } };

const call = (toolCallId: string, input: object) => ({
  type: 'tool-call' as const,
  toolCallId,
  toolName: 'get_weather',
  input,
});
const result = (toolCallId: string, value: string) => ({
  type: 'tool-result' as const,
  toolCallId,
  toolName: 'get_weather',
  output: { type: 'text' as const, value },
});
const called: Message = { role: 'assistant', content: [call('call_1', { city: 'Paris' })] };
const answered: Message = { role: 'tool', content: [result('call_1', '18 degrees')] };

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const image: UserPart = { type: 'file', mediaType: 'image/png', data: { type: 'data', data: png } };

const person: NonNullable<Golden['payload']['responseFormat']> = {
  type: 'json',
  name: 'person',
  description: 'A person.',
  schema: {
    type: 'object',
    properties: { name: { type: 'string' }, age: { type: 'integer' } },
    required: ['name', 'age'],
    additionalProperties: false,
  },
};

/**
 * The call of each request.
 * @see https://github.com/vercel/ai/blob/main/packages/provider/src/language-model/v4/language-model-v4-call-options.ts
 */
export const golden: Record<DialectRequestName, Golden> = {
  'a text': { payload: { prompt: [question] } },
  'a stream': { payload: { prompt: [question], stream: true } },
  'a system message': { payload: { prompt: [system('Be brief.'), question] } },
  'a developer message': { payload: { prompt: [system('Be brief.'), question] } },
  'system messages in several places': {
    payload: {
      prompt: [
        system('Be brief.'),
        system('Be kind.'),
        question,
        { role: 'assistant', content: [text('Warm.')] },
        system('Be funny.'),
        asks(text('And in Rome?')),
      ],
    },
  },
  'several user messages in a row': { payload: { prompt: [question, asks(text('Quick!'))] } },
  'an assistant message at the end': {
    payload: { prompt: [question, { role: 'assistant', content: [text('The weather is')] }] },
  },
  'an empty assistant message': { payload: { prompt: [question, asks(text('Go on.'))] } },
  'text parts': { payload: { prompt: [asks(text('One.'), text('Two.'))] } },
  'an image as data': {
    payload: { prompt: [asks(text('What is this?'), image)] },
    dropped: ['messages[].content[].image_url.detail'],
  },
  'an image by its address': {
    payload: {
      prompt: [
        asks({ type: 'file', mediaType: 'image/jpeg', data: { type: 'url', url: 'https://example.com/cat.jpg' } }),
      ],
    },
  },
  'a file as data': {
    payload: {
      prompt: [
        asks(
          {
            type: 'file',
            mediaType: 'application/pdf',
            filename: 'a.pdf',
            data: { type: 'data', data: 'JVBERi0xLjQKJSVFT0Y=' },
          },
          text('Summarise it.'),
        ),
      ],
    },
  },
  'a file by its address': {
    payload: {
      prompt: [
        asks({
          type: 'file',
          mediaType: 'application/pdf',
          filename: 'a.pdf',
          data: { type: 'url', url: 'https://example.com/a.pdf' },
        }),
      ],
    },
  },
  'a sound': {
    payload: {
      prompt: [
        asks({
          type: 'file',
          mediaType: 'audio/wav',
          data: { type: 'data', data: 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAgD4AAAB9AAACABAAZGF0YQAAAAA=' },
        }),
      ],
    },
  },
  'a video': {
    payload: {
      prompt: [asks({ type: 'file', mediaType: 'video/mp4', data: { type: 'data', data: 'AAAAIGZ0eXA=' } })],
    },
  },
  'sampling parameters': {
    payload: {
      prompt: [question],
      temperature: 0.7,
      topP: 0.9,
      topK: 40,
      frequencyPenalty: 0.5,
      presencePenalty: 0.25,
      seed: 7,
      stopSequences: ['END', 'STOP'],
      maxOutputTokens: 500,
    },
    dropped: ['min_p', 'repetition_penalty'],
  },
  'the newer name of the largest output': {
    payload: { prompt: [question], maxOutputTokens: 300, stopSequences: ['END'] },
  },
  'probabilities of tokens': { payload: { prompt: [question] }, dropped: ['logprobs', 'top_logprobs'] },
  'several choices': { payload: { prompt: [question] }, dropped: ['n'] },
  'a tool': { payload: { prompt: [question], tools: [weather] } },
  'tools, of which none must be called': {
    payload: { prompt: [question], tools: [weather, time], toolChoice: { type: 'none' } },
  },
  'tools, of which one must be called': {
    payload: { prompt: [question], tools: [weather, time], toolChoice: { type: 'required' } },
  },
  'a tool that must be called': {
    payload: { prompt: [question], tools: [weather, time], toolChoice: { type: 'tool', toolName: 'get_time' } },
  },
  'tools that are not called at the same time': {
    payload: { prompt: [question], tools: [weather] },
    dropped: ['parallel_tool_calls'],
  },
  'a strict tool': { payload: { prompt: [question], tools: [{ ...weather, strict: true }] } },
  'the result of a tool': { payload: { prompt: [question, called, answered], tools: [weather] } },
  'results of parallel tool calls': {
    payload: {
      prompt: [
        asks(text('Paris and Rome?')),
        {
          role: 'assistant',
          content: [text('I will look.'), call('call_1', { city: 'Paris' }), call('call_2', { city: 'Rome' })],
        },
        {
          role: 'tool',
          content: [
            result('call_1', '18 degrees'),
            {
              type: 'tool-result',
              toolCallId: 'call_2',
              toolName: 'get_weather',
              output: { type: 'content', value: [text('24 degrees')] },
            },
          ],
        },
        asks(text('Which is warmer?')),
      ],
      tools: [weather],
    },
  },
  'the result of a tool that is an image': {
    payload: {
      prompt: [
        question,
        called,
        {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: 'call_1',
              toolName: 'get_weather',
              output: {
                type: 'content',
                value: [text('The map:'), { type: 'file', mediaType: 'image/png', data: { type: 'data', data: png } }],
              },
            },
          ],
        },
      ],
      tools: [weather],
    },
  },
  'a tool call whose arguments are broken': {
    payload: {
      prompt: [
        question,
        { role: 'assistant', content: [call('call_1', { rawInvalidInput: '{"city": "Par' })] },
        answered,
      ],
      tools: [weather],
    },
  },
  'JSON of any shape': {
    payload: { prompt: [question], responseFormat: { type: 'json' } },
    structuredOutput: 'native',
  },
  'JSON of a schema': {
    payload: { prompt: [question], responseFormat: person },
    dropped: ['response_format.json_schema.strict'],
    structuredOutput: 'native',
  },
  'JSON of a schema, with a tool': {
    payload: { prompt: [question], responseFormat: person, tools: [weather] },
    dropped: ['response_format.json_schema.strict'],
    structuredOutput: 'native',
  },
  'an effort of reasoning': { payload: { prompt: [question], maxOutputTokens: 4000, reasoning: 'high' } },
  'the short form of an effort': { payload: { prompt: [question], reasoning: 'minimal' } },
  'a budget of reasoning': {
    payload: { prompt: [question], maxOutputTokens: 8000, reasoning: 'medium' },
    dropped: ['reasoning.max_tokens'],
  },
  'no reasoning': { payload: { prompt: [question], reasoning: 'none' } },
  'reasoning that comes back': {
    payload: { prompt: [question, called, answered], tools: [weather], reasoning: 'medium' },
    dropped: ['messages[].reasoning', 'messages[].reasoning_details'],
  },
  'marks of what to cache': {
    payload: { prompt: [system('A long text.'), asks(text('A question.'))], tools: [weather] },
    dropped: ['messages[].content[].cache_control', 'tools[].cache_control'],
  },
  'a mark on the request': {
    payload: { prompt: [system('A long text.'), question] },
    dropped: ['cache_control'],
  },
  'who asks, and which tier': {
    payload: { prompt: [question] },
    dropped: ['user', 'safety_identifier', 'service_tier', 'metadata', 'verbosity', 'prediction', 'logit_bias'],
  },
};
