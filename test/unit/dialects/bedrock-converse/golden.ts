import type { StructuredOutput } from '../../../../src/dialects/dialect.ts';
import type { DialectRequestName } from '../../../support/dialect-requests.ts';

/** A body as `Converse` takes it, or why the request cannot be sent. */
export type Golden =
  | {
      /** Default `converse`. */
      operation?: 'converse-stream';
      payload: object;
      dropped?: string[];
      structuredOutput?: StructuredOutput;
    }
  | { refused: string };

/** The model that the bodies are for. */
export const goldenModel = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';

const ask = { role: 'user', content: [{ text: 'What is the weather in Paris?' }] };
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const weatherSpec = {
  name: 'get_weather',
  description: 'The weather of a city.',
  inputSchema: {
    json: {
      type: 'object',
      properties: { city: { type: 'string' }, unit: { type: 'string', enum: ['celsius', 'fahrenheit'] } },
      required: ['city'],
      additionalProperties: false,
    },
  },
};
const weather = { toolSpec: weatherSpec };
const time = { toolSpec: { name: 'get_time', inputSchema: { json: { type: 'object', properties: {} } } } };

const call = (toolUseId: string, city: string) => ({ toolUse: { toolUseId, name: 'get_weather', input: { city } } });
const called = { role: 'assistant', content: [call('call_1', 'Paris')] };
const result = (toolUseId: string, text: string) => ({ toolResult: { toolUseId, content: [{ text }] } });
const answered = { role: 'user', content: [result('call_1', '18 degrees')] };

const person = {
  textFormat: {
    type: 'json_schema',
    structure: {
      jsonSchema: {
        name: 'person',
        description: 'A person.',
        schema:
          '{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}},"required":["name","age"],"additionalProperties":false}',
      },
    },
  },
};

const cachePoint = { cachePoint: { type: 'default' } };
const thinking = (budget: number) => ({ thinking: { type: 'enabled', budget_tokens: budget } });

/**
 * The bodies of all requests for one of Claude's models.
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
 * @see https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html
 * @see https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
 * @see https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-extended-thinking.html
 */
export const golden: Record<DialectRequestName, Golden> = {
  'a text': { payload: { messages: [ask] } },
  'a stream': { operation: 'converse-stream', payload: { messages: [ask] } },
  'a system message': { payload: { messages: [ask], system: [{ text: 'Be brief.' }] } },
  'a developer message': { payload: { messages: [ask], system: [{ text: 'Be brief.' }] } },
  'system messages in several places': {
    payload: {
      messages: [
        ask,
        { role: 'assistant', content: [{ text: 'Warm.' }] },
        { role: 'user', content: [{ text: 'And in Rome?' }] },
      ],
      system: [{ text: 'Be brief.' }, { text: 'Be kind.' }, { text: 'Be funny.' }],
    },
  },
  'several user messages in a row': {
    payload: { messages: [{ role: 'user', content: [...ask.content, { text: 'Quick!' }] }] },
  },
  'an assistant message at the end': {
    payload: { messages: [ask, { role: 'assistant', content: [{ text: 'The weather is' }] }] },
  },
  'an empty assistant message': {
    payload: { messages: [{ role: 'user', content: [...ask.content, { text: 'Go on.' }] }] },
  },
  'text parts': { payload: { messages: [{ role: 'user', content: [{ text: 'One.' }, { text: 'Two.' }] }] } },
  'an image as data': {
    payload: {
      messages: [
        { role: 'user', content: [{ text: 'What is this?' }, { image: { format: 'png', source: { bytes: png } } }] },
      ],
    },
    dropped: ['messages[].content[].image_url.detail'],
  },
  'an image by its address': { refused: 'messages[0].content[0].image_url.url: expected a PNG' },
  'a file as data': {
    payload: {
      messages: [
        {
          role: 'user',
          content: [
            { document: { format: 'pdf', name: 'a', source: { bytes: 'JVBERi0xLjQKJSVFT0Y=' } } },
            { text: 'Summarise it.' },
          ],
        },
      ],
    },
  },
  'a file by its address': { refused: 'messages[0].content[0].file.file_data: expected a PDF' },
  'a sound': {
    payload: {
      messages: [
        {
          role: 'user',
          content: [
            {
              audio: {
                format: 'wav',
                source: { bytes: 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAgD4AAAB9AAACABAAZGF0YQAAAAA=' },
              },
            },
          ],
        },
      ],
    },
  },
  'a video': {
    payload: {
      messages: [{ role: 'user', content: [{ video: { format: 'mp4', source: { bytes: 'AAAAIGZ0eXA=' } } }] }],
    },
  },
  'sampling parameters': {
    payload: {
      messages: [ask],
      inferenceConfig: { maxTokens: 500, temperature: 0.7, stopSequences: ['END', 'STOP'] },
      additionalModelRequestFields: { top_k: 40 },
    },
    // This model takes one of temperature and top_p.
    dropped: ['top_p', 'min_p', 'frequency_penalty', 'presence_penalty', 'repetition_penalty', 'seed'],
  },
  'the newer name of the largest output': {
    payload: { messages: [ask], inferenceConfig: { maxTokens: 300, stopSequences: ['END'] } },
  },
  'probabilities of tokens': { payload: { messages: [ask] }, dropped: ['logprobs', 'top_logprobs'] },
  'several choices': { payload: { messages: [ask] }, dropped: ['n'] },
  'a tool': { payload: { messages: [ask], toolConfig: { tools: [weather] } } },
  // Converse has no word for "none".
  'tools, of which none must be called': { payload: { messages: [ask] }, dropped: ['tools'] },
  'tools, of which one must be called': {
    payload: { messages: [ask], toolConfig: { tools: [weather, time], toolChoice: { any: {} } } },
  },
  'a tool that must be called': {
    payload: { messages: [ask], toolConfig: { tools: [weather, time], toolChoice: { tool: { name: 'get_time' } } } },
  },
  'tools that are not called at the same time': {
    payload: {
      messages: [ask],
      toolConfig: { tools: [weather] },
      additionalModelRequestFields: { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
    },
  },
  'a strict tool': {
    payload: { messages: [ask], toolConfig: { tools: [{ toolSpec: { ...weatherSpec, strict: true } }] } },
  },
  'the result of a tool': {
    payload: { messages: [ask, called, answered], toolConfig: { tools: [weather] } },
  },
  'results of parallel tool calls': {
    payload: {
      messages: [
        { role: 'user', content: [{ text: 'Paris and Rome?' }] },
        {
          role: 'assistant',
          content: [{ text: 'I will look.' }, call('call_1', 'Paris'), call('call_2', 'Rome')],
        },
        {
          role: 'user',
          content: [result('call_1', '18 degrees'), result('call_2', '24 degrees'), { text: 'Which is warmer?' }],
        },
      ],
      toolConfig: { tools: [weather] },
    },
  },
  'the result of a tool that is an image': {
    payload: {
      messages: [
        ask,
        called,
        {
          role: 'user',
          content: [
            {
              toolResult: {
                toolUseId: 'call_1',
                content: [{ text: 'The map:' }, { image: { format: 'png', source: { bytes: png } } }],
              },
            },
          ],
        },
      ],
      toolConfig: { tools: [weather] },
    },
  },
  'a tool call whose arguments are broken': {
    payload: {
      messages: [
        ask,
        {
          role: 'assistant',
          content: [{ toolUse: { toolUseId: 'call_1', name: 'get_weather', input: { arguments: '{"city": "Par' } } }],
        },
        answered,
      ],
      toolConfig: { tools: [weather] },
    },
  },
  'JSON of any shape': {
    payload: {
      messages: [ask],
      system: [{ text: 'Respond with one JSON object and nothing else: no prose, no code fence.' }],
    },
    structuredOutput: 'instruction',
  },
  'JSON of a schema': { payload: { messages: [ask], outputConfig: person }, structuredOutput: 'native' },
  'JSON of a schema, with a tool': {
    payload: { messages: [ask], toolConfig: { tools: [weather] }, outputConfig: person },
    structuredOutput: 'native',
  },
  // Four fifths of the largest output.
  'an effort of reasoning': {
    payload: { messages: [ask], inferenceConfig: { maxTokens: 4000 }, additionalModelRequestFields: thinking(3200) },
  },
  // Claude wants a largest output beside a budget.
  'the short form of an effort': {
    payload: { messages: [ask], inferenceConfig: { maxTokens: 32_000 }, additionalModelRequestFields: thinking(3200) },
  },
  'a budget of reasoning': {
    payload: { messages: [ask], inferenceConfig: { maxTokens: 8000 }, additionalModelRequestFields: thinking(2000) },
  },
  'no reasoning': { payload: { messages: [ask] } },
  'reasoning that comes back': {
    payload: {
      messages: [
        ask,
        {
          role: 'assistant',
          content: [
            {
              reasoningContent: {
                reasoningText: { text: 'The user wants the weather.', signature: 'c2lnbmF0dXJl' },
              },
            },
            // Bedrock wraps Claude's own text in base64 once more.
            { reasoningContent: { redactedContent: 'Wlc1amNubHdkR1Zr' } },
            call('call_1', 'Paris'),
          ],
        },
        answered,
      ],
      inferenceConfig: { maxTokens: 32_000 },
      toolConfig: { tools: [weather] },
      additionalModelRequestFields: thinking(16_000),
    },
  },
  'marks of what to cache': {
    payload: {
      messages: [{ role: 'user', content: [{ text: 'A question.' }, cachePoint] }],
      system: [{ text: 'A long text.' }, { cachePoint: { type: 'default', ttl: '1h' } }],
      toolConfig: { tools: [weather, cachePoint] },
    },
  },
  'a mark on the request': {
    payload: {
      messages: [{ role: 'user', content: [...ask.content, cachePoint] }],
      system: [{ text: 'A long text.' }],
    },
  },
  'who asks, and which tier': {
    payload: { messages: [ask], requestMetadata: { order: '17' }, serviceTier: { type: 'priority' } },
    dropped: ['user', 'safety_identifier', 'verbosity', 'prediction', 'logit_bias'],
  },
};
