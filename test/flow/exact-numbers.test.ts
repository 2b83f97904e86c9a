import { describe, expect, it } from 'vitest';
import { testGateway, testKey } from '../support/gateway.ts';
import { chunk, completion, type ScriptedAnswer, sse } from '../support/upstream.ts';

const dialects = ['openai-chat', 'anthropic-messages', 'google-generate-content', 'bedrock-converse'] as const;
type Dialect = (typeof dialects)[number];
const upstreamModels: Partial<Record<Dialect, string>> = { 'bedrock-converse': 'anthropic.claude-sonnet-4-5-v1:0' };

/** Arguments whose numbers JavaScript would write in another way, with a text of each of its kinds. */
const args = '{"id":12345678901234567890,"rate":1.0,"of":["a\\"b{",{"small":1e-7}]}';
const digits = '"id":12345678901234567890,"rate":1.0';

function gatewayWith(answer: ScriptedAnswer) {
  const made = testGateway({
    providers: Object.fromEntries(
      dialects.map((dialect) => [dialect, { baseUrl: 'https://up.test/v1', apiKey: 'sk-up-0123456789', dialect }]),
    ),
    models: dialects.map((dialect) => ({
      slug: `acme/${dialect}`,
      endpoints: [{ provider: dialect, model: upstreamModels[dialect] ?? 'claude-sonnet-4-5' }],
    })),
    retry: { maxAttempts: 1 },
  });
  made.upstream.always(answer);
  return made;
}
type Made = ReturnType<typeof gatewayWith>;

const messages = (made: Made, dialect: Dialect, body: string) =>
  made.run(
    made.gateway
      .fetch('http://gateway.test/v1/messages', {
        method: 'POST',
        headers: { 'x-api-key': testKey, 'content-type': 'application/json' },
        body: body.replace('{', `{"model":"acme/${dialect}","max_tokens":100,`),
      })
      .then((response) => response.text()),
  );
const gemini = (made: Made, dialect: Dialect, body: string, call = ':generateContent') =>
  made.run(
    made.gateway
      .fetch(`http://gateway.test/v1beta/models/acme/${dialect}${call}`, {
        method: 'POST',
        headers: { 'x-goog-api-key': testKey, 'content-type': 'application/json' },
        body,
      })
      .then((response) => response.text()),
  );

const inMessages = `{"messages":[{"role":"user","content":"Hi"},
  {"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"look","input":${args}}]},
  {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"Seen"}]}],
  "tools":[{"name":"look","input_schema":{"type":"object"}}]}`;
const inGemini = `{"contents":[{"role":"user","parts":[{"text":"Hi"}]},
  {"role":"model","parts":[{"functionCall":{"name":"look","args":${args}}}]},
  {"role":"user","parts":[{"functionResponse":{"name":"look","response":{"found":${args}}}}]}],
  "tools":[{"functionDeclarations":[{"name":"look"}]}]}`;

/** How often the digits stand in a request or a response, as they are or within a text. */
const counted = (text: string | undefined) => (text ?? '').replaceAll('\\"', '"').split(digits).length - 1;

describe('the numbers of arguments keep their digits', () => {
  it.each(dialects)('on the way to a provider that speaks %s', async (dialect) => {
    const made = gatewayWith({ status: 400, body: {} });
    await messages(made, dialect, inMessages);
    await gemini(made, dialect, inGemini);
    // Gemini has the digits of the result, too.
    expect(made.upstream.sent.map(({ text }) => counted(text))).toEqual([1, 2]);
  });

  const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: args } };
  const answers: Record<string, { dialect: Dialect; whole: string }> = {
    chat: {
      dialect: 'openai-chat',
      whole: JSON.stringify({
        ...completion(),
        choices: [{ index: 0, message: { role: 'assistant', tool_calls: [call] }, finish_reason: 'tool_calls' }],
      }),
    },
    Messages: {
      dialect: 'anthropic-messages',
      whole: `{"id":"msg_1","type":"message","role":"assistant","model":"m","stop_reason":"tool_use",
        "content":[{"type":"tool_use","id":"toolu_1","name":"look","input":${args}}],
        "usage":{"input_tokens":1,"output_tokens":1}}`,
    },
    Gemini: {
      dialect: 'google-generate-content',
      whole: `{"candidates":[{"index":0,"content":{"role":"model","parts":[{"functionCall":{"name":"look","args":${args}}}]},
        "finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}}`,
    },
  };
  it.each(Object.entries(answers))('in a response of a provider that speaks %s', async (_, { dialect, whole }) => {
    const made = gatewayWith({ body: [whole], headers: { 'content-type': 'application/json' } });
    expect(counted(await messages(made, dialect, '{"messages":[{"role":"user","content":"Hi"}]}'))).toBe(1);
    const asked = '{"contents":[{"parts":[{"text":"Hi"}]}]}';
    expect(counted(await gemini(made, dialect, asked))).toBe(1);
    expect(counted(await gemini(made, dialect, asked, ':generateContent?alt=sse'))).toBe(1);
  });
  it.each([
    ['chat', 'openai-chat', sse(chunk({ tool_calls: [{ ...call, index: 0 }] }), chunk({}, 'tool_calls'), '[DONE]')],
    ['Gemini', 'google-generate-content', `data: ${answers.Gemini?.whole.replaceAll('\n', '')}\n\n`],
  ] as const)('in a stream of a provider that speaks %s', async (_, dialect, text) => {
    const made = gatewayWith({ body: [text], headers: { 'content-type': 'text/event-stream' } });
    const streamed = await messages(made, dialect, '{"stream":true,"messages":[{"role":"user","content":"Hi"}]}');
    expect(streamed).toContain('12345678901234567890');
    const asked = '{"contents":[{"parts":[{"text":"Hi"}]}]}';
    expect(counted(await gemini(made, dialect, asked, ':streamGenerateContent'))).toBe(1);
  });
});
