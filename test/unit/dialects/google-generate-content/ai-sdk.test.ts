import { createGoogle } from '@ai-sdk/google';
import { describe, expect, it } from 'vitest';
import type { ChatRequest } from '../../../../src/schema/chat/chat.ts';
import { encode } from './encode.ts';

type Model = ReturnType<ReturnType<typeof createGoogle>>;
type Call = Parameters<Model['doGenerate']>[0];

const png = 'iVBORw0KGgo=';
const parameters = { type: 'object' as const, properties: { city: { type: 'string' as const } }, required: ['city'] };
const schema = { type: 'object' as const, properties: { degrees: { type: 'integer' as const } } };

/** The same conversation in the words of the library. */
const call: Call = {
  prompt: [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is the weather here?' },
        { type: 'file', mediaType: 'image/png', data: { type: 'data', data: png } },
        {
          type: 'file',
          mediaType: 'application/pdf',
          data: { type: 'url', url: new URL('https://example.com/a.pdf') },
        },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'I see Paris.', providerOptions: { google: { thoughtSignature: 'c2ln' } } },
        { type: 'text', text: 'I will look.' },
        {
          type: 'tool-call',
          toolCallId: 'call_1',
          toolName: 'get_weather',
          input: { city: 'Paris' },
          providerOptions: { google: { thoughtSignature: 'c2lnMg==' } },
        },
      ],
    },
    {
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: 'call_1',
          toolName: 'get_weather',
          output: { type: 'text', value: '18 degrees' },
        },
      ],
    },
    { role: 'user', content: [{ type: 'text', text: 'In JSON, please.' }] },
  ],
  tools: [{ type: 'function', name: 'get_weather', description: 'The weather.', inputSchema: parameters }],
  toolChoice: { type: 'required' },
  maxOutputTokens: 500,
  temperature: 0.5,
  topP: 0.9,
  topK: 40,
  stopSequences: ['END'],
  seed: 7,
  providerOptions: {
    google: { thinkingConfig: { thinkingLevel: 'low', includeThoughts: true }, serviceTier: 'flex' },
  },
};

const format = 'google-gemini-v1';
const request: Partial<ChatRequest> = {
  messages: [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is the weather here?' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
        { type: 'file', file: { file_data: 'https://example.com/a.pdf' } },
      ],
    },
    {
      role: 'assistant',
      content: 'I will look.',
      reasoning_details: [
        { type: 'reasoning.text', text: 'I see Paris.', signature: 'c2ln', format, index: 0 },
        { type: 'reasoning.encrypted', data: 'c2lnMg==', id: 'call_1', format, index: 1 },
      ],
      tool_calls: [
        { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Paris"}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'call_1', content: '18 degrees' },
    { role: 'user', content: 'In JSON, please.' },
  ],
  tools: [{ type: 'function', function: { name: 'get_weather', description: 'The weather.', parameters } }],
  tool_choice: 'required',
  max_tokens: 500,
  temperature: 0.5,
  top_p: 0.9,
  top_k: 40,
  stop: 'END',
  seed: 7,
  reasoning: { effort: 'low' },
  service_tier: 'flex',
};

const model = 'gemini-3-flash-preview';

interface Body {
  contents: { role: string; parts: { functionResponse?: { response: unknown } }[] }[];
  generationConfig: { responseJsonSchema: Record<string, unknown>; thinkingConfig: { thinkingLevel: string } };
}

/** What the library sends. */
async function theirs(options: Call): Promise<{ url: string; body: Body }> {
  const sent: { url: string; body: Body }[] = [];
  const google = createGoogle({
    apiKey: 'none',
    fetch: async (url, init) => {
      sent.push({ url: String(url), body: JSON.parse(String(init?.body)) });
      return Response.json({
        candidates: [{ content: { role: 'model', parts: [{ text: '{}' }] }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      });
    },
  });
  await google(model).doGenerate(options);
  return sent[0] as { url: string; body: Body };
}

describe('google-generate-content, compared with another client of Google', () => {
  it('sends the same for the same conversation, but for what is written here', async () => {
    const ours = encode(request, model);
    const { url, body } = await theirs(call);
    expect(url).toBe(`https://generativelanguage.googleapis.com/v1beta${ours.path}`);
    // The library sends the result of a tool and the user's next words as two contents. Google wants roles in turn.
    const [result, words] = body.contents.splice(2, 2);
    expect([result?.role, words?.role]).toEqual(['user', 'user']);
    body.contents.push({ role: 'user', parts: [...(result?.parts ?? []), ...(words?.parts ?? [])] });
    // The library wraps the result of a tool with its name. Google documents `output` for what it says.
    const response = body.contents[2]?.parts[0]?.functionResponse as { response: unknown };
    expect(response.response).toEqual({ name: 'get_weather', content: '18 degrees' });
    response.response = { output: '18 degrees' };
    // Google's list of levels is in capital letters; its servers take both.
    expect(body.generationConfig.thinkingConfig.thinkingLevel).toBe('low');
    body.generationConfig.thinkingConfig.thinkingLevel = 'LOW';
    expect(ours.payload).toEqual(body);
    expect(ours.dropped).toEqual([]);
  });

  it('asks for a form in the same words, and tells the model its name and what it is for', async () => {
    const format = { name: 'weather', description: 'A temperature.', schema };
    const { body } = await theirs({
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      responseFormat: { type: 'json', ...format },
    });
    expect(body.generationConfig.responseJsonSchema).toEqual(schema);
    Object.assign(body.generationConfig.responseJsonSchema, { title: 'weather', description: 'A temperature.' });
    expect(encode({ response_format: { type: 'json_schema', json_schema: format } }, model).payload).toEqual(body);
  });

  it('asks Gemini 3 for a form beside tools in its own words, where the library makes the form a tool', async () => {
    const { body } = await theirs({ ...call, responseFormat: { type: 'json', schema, name: 'weather' } });
    expect(body.generationConfig.responseJsonSchema).toBeUndefined();
    const format = { name: 'weather', schema };
    const ours = encode({ ...request, response_format: { type: 'json_schema', json_schema: format } }, model);
    expect(ours.structuredOutput).toBe('native');
  });
});
