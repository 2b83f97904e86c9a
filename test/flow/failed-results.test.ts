import { describe, expect, it } from 'vitest';
import { testGateway, testKey } from '../support/gateway.ts';

const dialects = {
  'openai-chat': 'm',
  'openai-responses': 'm',
  'cohere-chat': 'm',
  'google-generate-content': 'gemini-3-pro',
  'anthropic-messages': 'claude-sonnet-4-5',
  'bedrock-converse': 'anthropic.claude-sonnet-4-5-v1:0',
} as const;
type Dialect = keyof typeof dialects;

/** What a provider is sent for the result of a tool. */
async function sentFor(dialect: Dialect, path: string, body: object): Promise<string> {
  const { gateway, run, upstream } = testGateway({
    providers: { [dialect]: { baseUrl: 'https://up.test/v1', apiKey: 'sk-up-0123456789', dialect } },
    models: [{ slug: 'acme/m', endpoints: [{ provider: dialect, model: dialects[dialect] }] }],
    retry: { maxAttempts: 1 },
  });
  upstream.always({ status: 400, body: {} });
  const request = new Request(`http://gateway.test${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await run(gateway.fetch(request).then((response) => response.text()));
  return upstream.sent[0]?.text ?? '';
}

const inMessages = (content: unknown, is_error?: boolean) => ({
  model: 'acme/m',
  max_tokens: 10,
  tools: [{ name: 'look', input_schema: { type: 'object' } }],
  messages: [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content, is_error }] },
  ],
});
const inGemini = (response: object) => ({
  tools: [{ functionDeclarations: [{ name: 'look' }] }],
  contents: [
    { parts: [{ text: 'Hi' }] },
    { role: 'model', parts: [{ functionCall: { name: 'look', args: {} } }] },
    { parts: [{ functionResponse: { name: 'look', response } }] },
  ],
});
const gemini = '/v1beta/models/acme/m:generateContent';

describe('the result of a tool that failed', () => {
  it.each<[Dialect, string | RegExp]>([
    ['openai-chat', '"content":"Error: no file"'],
    ['openai-responses', '"output":"Error: no file"'],
    ['cohere-chat', 'Error: no file'],
    ['google-generate-content', '"response":{"error":"no file"}'],
    ['anthropic-messages', '"is_error":true'],
    ['bedrock-converse', /"is_error":true|"status":"error"/],
  ])('says so to a provider that speaks %s', async (dialect, expected) => {
    const texts = [
      await sentFor(dialect, '/v1/messages', inMessages('no file', true)),
      await sentFor(dialect, gemini, inGemini({ error: 'no file' })),
    ];
    const ofChat = ['openai-chat', 'openai-responses', 'cohere-chat'].includes(dialect);
    for (const text of texts) {
      expect(text).toMatch(expected);
      // Strict servers refuse a field that they do not know.
      if (ofChat) expect(text).not.toContain('is_error');
    }
  });
  it.each([
    [
      [
        { type: 'text', text: 'no file' },
        { type: 'text', text: 'at all' },
      ],
      true,
      'Error: no file',
    ],
    [[{ type: 'image', source: { type: 'url', url: 'https://x.test/a.png' } }], true, 'Error: '],
    [undefined, true, '"content":"Error"'],
    ['<tool_use_error>no file</tool_use_error>', true, '"content":"<tool_use_error>'],
    ['error: no file', true, '"content":"error: no file"'],
    ['all is well', false, '"content":"all is well"'],
  ])('says so once, in words, where a wire has no field for it: %j %s', async (content, isError, expected) => {
    const text = await sentFor('openai-chat', '/v1/messages', inMessages(content, isError));
    expect(text).toContain(expected);
    expect(text).not.toContain('is_error');
  });
});
