import type { EncodedRequest } from '../../../../src/dialects/dialect.ts';
import type { DialectRequestName } from '../../../support/dialect-requests.ts';

/** What a request becomes. Absent fields: the usual path, one choice, nothing dropped, nothing read in its own way. */
export interface Golden extends Partial<Omit<EncodedRequest, 'body' | 'headers'>> {
  payload: Record<string, unknown>;
  headers?: Record<string, string>;
}

const question = { text: 'What is the weather in Paris?' };
const asked = { role: 'user', parts: [question] };
const contents = [asked];
const user = (...parts: object[]) => ({ contents: [{ role: 'user', parts }] });

const getWeather = {
  name: 'get_weather',
  description: 'The weather of a city.',
  parametersJsonSchema: {
    type: 'object',
    properties: { city: { type: 'string' }, unit: { type: 'string', enum: ['celsius', 'fahrenheit'] } },
    required: ['city'],
    additionalProperties: false,
  },
};
const getTime = { name: 'get_time', parametersJsonSchema: { type: 'object', properties: {} } };
const declared = (...functionDeclarations: object[]) => [{ functionDeclarations }];
const tools = declared(getWeather);
const both = declared(getWeather, getTime);
const mode = (functionCallingConfig: object) => ({ functionCallingConfig });

const called = (id: string, city: string) => ({ functionCall: { id, name: 'get_weather', args: { city } } });
const answered = (id: string, output: string) => ({
  functionResponse: { id, name: 'get_weather', response: { output } },
});

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const image = { inlineData: { mimeType: 'image/png', data: png } };

const person = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name', 'age'],
  additionalProperties: false,
};

/**
 * What each request becomes for `gemini-2.5-flash`.
 * @see https://ai.google.dev/api/generate-content
 * @see https://ai.google.dev/gemini-api/docs/function-calling
 * @see https://ai.google.dev/gemini-api/docs/structured-output
 * @see https://ai.google.dev/gemini-api/docs/thinking
 */
export const golden: Record<DialectRequestName, Golden> = {
  'a text': { payload: { contents } },
  'a stream': {
    path: '/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
    headers: { accept: 'text/event-stream' },
    payload: { contents },
  },
  'a system message': { payload: { contents, systemInstruction: { parts: [{ text: 'Be brief.' }] } } },
  'a developer message': { payload: { contents, systemInstruction: { parts: [{ text: 'Be brief.' }] } } },
  'system messages in several places': {
    payload: {
      systemInstruction: { parts: [{ text: 'Be brief.' }, { text: 'Be kind.' }, { text: 'Be funny.' }] },
      contents: [
        asked,
        { role: 'model', parts: [{ text: 'Warm.' }] },
        { role: 'user', parts: [{ text: 'And in Rome?' }] },
      ],
    },
  },
  'several user messages in a row': { payload: user(question, { text: 'Quick!' }) },
  'an assistant message at the end': {
    payload: { contents: [asked, { role: 'model', parts: [{ text: 'The weather is' }] }] },
  },
  'an empty assistant message': {
    payload: {
      contents: [{ role: 'user', parts: [...asked.parts, { text: 'Go on.' }] }],
    },
  },
  'text parts': { payload: user({ text: 'One.' }, { text: 'Two.' }) },
  'an image as data': {
    payload: user({ text: 'What is this?' }, image),
    dropped: ['messages[].content[].image_url.detail'],
  },
  'an image by its address': {
    payload: user({ fileData: { fileUri: 'https://example.com/cat.jpg', mimeType: 'image/jpeg' } }),
  },
  'a file as data': {
    payload: user(
      { inlineData: { mimeType: 'application/pdf', data: 'JVBERi0xLjQKJSVFT0Y=' } },
      { text: 'Summarise it.' },
    ),
    dropped: ['messages[].content[].file.filename'],
  },
  'a file by its address': {
    payload: user({ fileData: { fileUri: 'https://example.com/a.pdf', mimeType: 'application/pdf' } }),
    dropped: ['messages[].content[].file.filename'],
  },
  'a sound': {
    payload: user({
      inlineData: { mimeType: 'audio/wav', data: 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAgD4AAAB9AAACABAAZGF0YQAAAAA=' },
    }),
  },
  'a video': { payload: user({ inlineData: { mimeType: 'video/mp4', data: 'AAAAIGZ0eXA=' } }) },
  'sampling parameters': {
    payload: {
      contents,
      generationConfig: {
        temperature: 0.7,
        topP: 0.9,
        topK: 40,
        frequencyPenalty: 0.5,
        presencePenalty: 0.25,
        seed: 7,
        stopSequences: ['END', 'STOP'],
        maxOutputTokens: 500,
      },
    },
    dropped: ['min_p', 'repetition_penalty'],
  },
  'the newer name of the largest output': {
    payload: { contents, generationConfig: { maxOutputTokens: 300, stopSequences: ['END'] } },
  },
  'probabilities of tokens': { payload: { contents, generationConfig: { responseLogprobs: true, logprobs: 3 } } },
  'several choices': { payload: { contents, generationConfig: { candidateCount: 2 } }, choices: 2 },
  'a tool': { payload: { contents, tools } },
  'tools, of which none must be called': {
    payload: { contents, tools: both, toolConfig: mode({ mode: 'NONE' }) },
  },
  'tools, of which one must be called': { payload: { contents, tools: both, toolConfig: mode({ mode: 'ANY' }) } },
  'a tool that must be called': {
    payload: { contents, tools: both, toolConfig: mode({ mode: 'ANY', allowedFunctionNames: ['get_time'] }) },
  },
  'tools that are not called at the same time': { payload: { contents, tools }, dropped: ['parallel_tool_calls'] },
  'a strict tool': { payload: { contents, tools, toolConfig: mode({ mode: 'VALIDATED' }) } },
  'the result of a tool': {
    payload: {
      tools,
      contents: [
        asked,
        { role: 'model', parts: [called('call_1', 'Paris')] },
        { role: 'user', parts: [answered('call_1', '18 degrees')] },
      ],
    },
  },
  'results of parallel tool calls': {
    payload: {
      tools,
      contents: [
        { role: 'user', parts: [{ text: 'Paris and Rome?' }] },
        { role: 'model', parts: [{ text: 'I will look.' }, called('call_1', 'Paris'), called('call_2', 'Rome')] },
        {
          role: 'user',
          parts: [answered('call_1', '18 degrees'), answered('call_2', '24 degrees'), { text: 'Which is warmer?' }],
        },
      ],
    },
  },
  'the result of a tool that is an image': {
    payload: {
      tools,
      contents: [
        asked,
        { role: 'model', parts: [called('call_1', 'Paris')] },
        { role: 'user', parts: [answered('call_1', 'The map:'), image] },
      ],
    },
  },
  'a tool call whose arguments are broken': {
    payload: {
      tools,
      contents: [
        asked,
        {
          role: 'model',
          parts: [{ functionCall: { id: 'call_1', name: 'get_weather', args: { arguments: '{"city": "Par' } } }],
        },
        { role: 'user', parts: [answered('call_1', '18 degrees')] },
      ],
    },
  },
  'JSON of any shape': {
    payload: { contents, generationConfig: { responseMimeType: 'application/json' } },
    structuredOutput: 'native',
  },
  'JSON of a schema': {
    payload: {
      contents,
      generationConfig: {
        responseMimeType: 'application/json',
        responseJsonSchema: { title: 'person', description: 'A person.', ...person },
      },
    },
    structuredOutput: 'native',
  },
  'JSON of a schema, with a tool': {
    payload: {
      contents,
      tools: declared(getWeather, {
        name: 'structured_output',
        description: 'A person.',
        parametersJsonSchema: person,
      }),
      toolConfig: mode({ mode: 'ANY' }),
    },
    structuredOutput: 'tool',
    reading: { outputTool: 'structured_output' },
  },
  'an effort of reasoning': {
    payload: {
      contents,
      generationConfig: { maxOutputTokens: 4000, thinkingConfig: { includeThoughts: true, thinkingBudget: 3200 } },
    },
  },
  'the short form of an effort': {
    payload: { contents, generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: 6553 } } },
  },
  'a budget of reasoning': {
    payload: {
      contents,
      generationConfig: { maxOutputTokens: 8000, thinkingConfig: { includeThoughts: true, thinkingBudget: 2000 } },
    },
  },
  'no reasoning': { payload: { contents, generationConfig: { thinkingConfig: { thinkingBudget: 0 } } } },
  'reasoning that comes back': {
    payload: {
      tools,
      generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: 24_576 } },
      contents: [
        asked,
        { role: 'model', parts: [called('call_1', 'Paris')] },
        { role: 'user', parts: [answered('call_1', '18 degrees')] },
      ],
    },
    dropped: ['messages[].reasoning_details', 'messages[].reasoning'],
  },
  'marks of what to cache': {
    payload: {
      tools,
      contents: [{ role: 'user', parts: [{ text: 'A question.' }] }],
      systemInstruction: { parts: [{ text: 'A long text.' }] },
    },
    dropped: ['tools[].cache_control', 'messages[].content[].cache_control'],
  },
  'a mark on the request': {
    payload: { contents, systemInstruction: { parts: [{ text: 'A long text.' }] } },
    dropped: ['cache_control'],
  },
  'who asks, and which tier': {
    payload: { contents, serviceTier: 'priority' },
    dropped: ['logit_bias', 'user', 'metadata', 'safety_identifier', 'verbosity', 'prediction'],
  },
};
