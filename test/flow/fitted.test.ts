import { describe, expect, it } from 'vitest';
import { joined, readStream, type TestGateway, testGateway, testKey } from '../support/gateway.ts';
import { chunk, completion, type ScriptedAnswer, sse } from '../support/upstream.ts';

const providers = {
  up: { baseUrl: 'https://up.test/v1', apiKey: 'sk-up' },
  claude: { baseUrl: 'https://claude.test/v1', apiKey: 'sk-c', dialect: 'anthropic-messages' as const },
  gemini: { baseUrl: 'https://gemini.test/v1beta', apiKey: 'sk-g', dialect: 'google-generate-content' as const },
  responses: { baseUrl: 'https://responses.test/v1', apiKey: 'sk-r', dialect: 'openai-responses' as const },
};
const models = Object.keys(providers).map((provider) => ({
  slug: `acme/${provider}`,
  endpoints: [{ provider, model: provider === 'claude' ? 'claude-sonnet-4-5' : 'm' }],
}));

function gatewayWith(...answers: ScriptedAnswer[]): TestGateway {
  const test = testGateway({ providers, models });
  test.upstream.answer(...answers);
  return test;
}

const post = (test: TestGateway, path: string, body: object) =>
  test.call('POST', path, body, { authorization: `Bearer ${testKey}` });

const names = ['2fa.check', 'get weather', 'x'.repeat(70), 'look'];
const tools = names.map((name) => ({ type: 'function', function: { name, parameters: { type: 'object' } } }));
const ask = { role: 'user', content: 'Hello' };
const called = (id: string, name: string, text = '{}') => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name, arguments: text } }],
});
const toolNames = (body: unknown) => [...JSON.stringify(body).matchAll(/"name":"([^"]+)"/g)].map(([, name]) => name);

/** A response of the provider that calls the tool by the name that it was given. */
const answers: Record<string, (name: string) => object> = {
  up: (name) => ({
    ...completion(),
    choices: [
      {
        index: 0,
        finish_reason: 'tool_calls',
        message: {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'call_0', type: 'function', function: { name, arguments: '{"n": 12345678901234567890}' } },
          ],
        },
      },
    ],
  }),
  claude: (name) => ({
    type: 'message',
    role: 'assistant',
    content: [{ type: 'tool_use', id: 'toolu_1', name, input: { n: 'RAW' } }],
    stop_reason: 'tool_use',
    usage: { input_tokens: 1, output_tokens: 1 },
  }),
  gemini: (name) => ({
    candidates: [
      { content: { role: 'model', parts: [{ functionCall: { name, args: { n: 'RAW' } } }] }, finishReason: 'STOP' },
    ],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  }),
  responses: (name) => ({
    status: 'completed',
    output: [{ type: 'function_call', id: 'fc_1', call_id: 'call_1', name, arguments: '{"n":12345678901234567890}' }],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  }),
};

describe.each(Object.keys(providers))('names of tools that a provider refuses (%s)', (provider) => {
  it.each(names)('are others there, and the caller’s own in the response: %.20s', async (name) => {
    const at = names.indexOf(name);
    const request = {
      model: `acme/${provider}`,
      messages: [ask, called('call_0', name), { role: 'tool', tool_call_id: 'call_0', content: 'ok' }, ask],
      tools,
      tool_choice: { type: 'function', function: { name } },
      max_tokens: 100,
    };
    // First what the provider gets, then its response in its own words.
    const first = gatewayWith({ status: 400, body: {} });
    await post(first, '/chat/completions', request);
    const body = first.upstream.sent[0]?.body ?? {};
    const theirs = toolNames(body.tools)[at] as string;
    expect(theirs).toMatch(provider === 'gemini' ? /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/ : /^[A-Za-z0-9_-]{1,64}$/);
    // Only whole names: in the tools, in the history, in the choice.
    expect(JSON.stringify(body).split(`"${theirs}"`).length).toBeGreaterThanOrEqual(4);
    const text = JSON.stringify(answers[provider]?.(theirs)).replace('"RAW"', '12345678901234567890');
    const second = gatewayWith({ body: text, headers: { 'content-type': 'application/json' } });
    const { status, json } = await post(second, '/chat/completions', request);
    expect([status, json.choices?.[0].message.tool_calls[0].function.name]).toEqual([200, name]);
    // And its digits.
    expect(json.choices[0].message.tool_calls[0].function.arguments).toMatch(/^\{"n": ?12345678901234567890\}$/);
  });
});

describe('a stream in which a tool is called by another name', () => {
  const inResponses = { input: 'Hello', tools: names.map((name) => ({ type: 'function', name })) };
  it.each<[string, object, string[]]>([
    ['/chat/completions', { messages: [ask], tools }, ['[DONE]']],
    ['/chat/completions', { messages: [ask], tools }, []],
    ['/responses', inResponses, ['[DONE]']],
  ])('has the caller’s own name (%s, %#)', async (path, fields, sentinel) => {
    const request = { model: 'acme/up', stream: true, ...fields };
    const first = gatewayWith({ status: 400, body: {} });
    await post(first, path, request);
    const theirs = toolNames(first.upstream.sent[0]?.body.tools)[1] as string;
    expect(theirs).toMatch(/^get_weather_[a-z0-9]{8,}$/);
    const stream = sse(
      chunk({ role: 'assistant', content: null }),
      chunk({ tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: theirs, arguments: '' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] }),
      chunk({}, 'tool_calls'),
      ...sentinel,
    );
    const second = gatewayWith({ body: stream });
    const response = await second.run(
      second.gateway.fetch(`http://gateway.test/v1${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(request),
      }),
    );
    const text = await second.run(response.text());
    expect(text).toContain('"name":"get weather"');
    expect(text).not.toContain(theirs);
    // It ends as any other stream does.
    expect(text).toContain(path === '/responses' ? '"type":"response.completed"' : '"finish_reason":"tool_calls"');
    expect(second.records).toMatchObject([{ outcome: 'ok', finishReason: 'tool_calls' }]);
  });
});

describe('a Responses request for a provider that speaks Responses', () => {
  const long = `call_${'x'.repeat(80)}`;
  const input = [
    ask,
    { type: 'function_call', call_id: long, name: 'a.b', arguments: '' },
    { role: 'user', content: 'Between.' },
    { type: 'function_call_output', call_id: long, output: 'one' },
    { type: 'function_call', call_id: long, name: 'a.b', arguments: '{"n":1.0}' },
    { type: 'function_call_output', call_id: long, output: 'two' },
    { type: 'function_call', call_id: 'call_open', name: 'look', arguments: '{}' },
    ask,
  ];
  const request = {
    model: 'acme/responses',
    input,
    tools: [
      { type: 'function', name: 'a.b' },
      { type: 'function', name: 'look' },
    ],
    tool_choice: { type: 'function', name: 'a.b' },
  };
  it('has ids and names that the provider takes, pairs, and its own names back', async () => {
    const first = gatewayWith({ status: 400, body: {} });
    await post(first, '/responses', request);
    const body = first.upstream.sent[0]?.body as { input: Record<string, string>[]; tools: object[] };
    const calls = body.input.filter(({ type }) => type === 'function_call');
    const outputs = body.input.filter(({ type }) => type === 'function_call_output');
    expect(calls.map(({ call_id }) => call_id)).toEqual(outputs.map(({ call_id }) => call_id));
    expect(new Set(calls.map(({ call_id }) => call_id)).size).toBe(3);
    for (const { call_id: id = '', name = '' } of calls)
      expect([id.length <= 64, name]).toEqual([true, expect.stringMatching(/^[\w-]{1,64}$/)]);
    expect(outputs.map(({ output }) => output)).toEqual(['one', 'two', expect.stringContaining('No result')]);
    expect(calls.map((call) => call.arguments)).toEqual(['{}', '{"n":1.0}', '{}']);
    const theirs = calls[0]?.name as string;
    expect(JSON.stringify(body).split(`"${theirs}"`)).toHaveLength(5);
    const second = gatewayWith({ body: answers.responses?.(theirs) ?? {} });
    const { json } = await post(second, '/responses', request);
    expect(json.output).toMatchObject([{ type: 'function_call', name: 'a.b', call_id: 'call_1' }]);
  });
});

describe('what an unknown server gets', () => {
  it('has instructions first, turns, pairs, pictures behind results, and arguments that are JSON', async () => {
    const test = gatewayWith({ body: completion() });
    const picture = (type: string) => ({ type: 'image_url', image_url: { url: `data:image/${type};base64,AAAA` } });
    const { status } = await post(test, '/chat/completions', {
      model: 'acme/up',
      tools: [],
      tool_choice: 'auto',
      parallel_tool_calls: true,
      messages: [
        { role: 'assistant', content: 'Welcome.' },
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: 'One.' },
        { role: 'user', content: [{ type: 'text', text: '' }, picture('jpg')] },
        called('call_0', 'look', '{"a":'),
        { role: 'system', content: 'Be kind.' },
        { role: 'tool', tool_call_id: 'call_0', content: [{ type: 'text', text: 'seen' }, picture('png')] },
        { role: 'assistant', content: '', tool_calls: [] },
        called('call_0', 'look', ''),
        { role: 'tool', tool_call_id: 'call_0', content: 'again' },
      ],
    });
    expect(status).toBe(200);
    const { messages, ...others } = (test.upstream.sent[0]?.body ?? {}) as { messages: Record<string, unknown>[] };
    expect(Object.keys(others).sort()).toEqual(['model']);
    const second = expect.stringMatching(/^call_0_[a-z0-9]{8}$/);
    const call = (id: unknown, text: string) => ({ id, type: 'function', function: { name: 'look', arguments: text } });
    expect(messages).toEqual([
      { role: 'system', content: 'Be brief.\n\nBe kind.' },
      { role: 'user', content: '[The conversation begins.]' },
      { role: 'assistant', content: 'Welcome.' },
      { role: 'user', content: [{ type: 'text', text: 'One.' }, picture('jpeg')] },
      { role: 'assistant', content: null, tool_calls: [call('call_0', '{"arguments":"{\\"a\\":"}')] },
      { role: 'tool', tool_call_id: 'call_0', content: [{ type: 'text', text: 'seen' }] },
      { role: 'user', content: [{ type: 'text', text: '[From the result of the tool call call_0]' }, picture('png')] },
      { role: 'assistant', content: null, tool_calls: [call(second, '{}')] },
      { role: 'tool', tool_call_id: second, content: 'again' },
    ]);
  });
  it('is the request itself where it fits', async () => {
    const test = gatewayWith({ body: completion() });
    const messages = [{ role: 'system', content: 'Be brief.' }, ask, called('call_1', 'look', '{"a": 1.0}')];
    const answered = [...messages, { role: 'tool', tool_call_id: 'call_1', content: 'ok' }];
    await post(test, '/chat/completions', { model: 'acme/up', messages: answered });
    expect(test.upstream.sent[0]?.body.messages).toEqual(answered);
  });
  it('lists what is left out', async () => {
    const test = gatewayWith({ body: completion() });
    const { json } = await test.call(
      'POST',
      '/chat/completions',
      { model: 'acme/up', messages: [ask], parallel_tool_calls: false },
      { authorization: `Bearer ${testKey}`, 'x-service-metadata': 'enabled' },
    );
    expect(json.service_metadata?.dropped).toEqual(['parallel_tool_calls']);
  });
});

describe('arguments in the history', () => {
  it.each(['claude', 'gemini'])('keep the digits of their numbers, as JSON in the body (%s)', async (provider) => {
    const test = gatewayWith({ status: 400, body: {} });
    const raw = '{"id":12345678901234567890,"f":1.0}';
    await post(test, '/chat/completions', {
      model: `acme/${provider}`,
      messages: [ask, called('call_1', 'look', raw), { role: 'tool', tool_call_id: 'call_1', content: 'ok' }],
      tools,
    });
    expect(test.upstream.sent[0]?.text).toContain(raw);
  });
});

it('a stream is passed through as before where no name had to be changed', async () => {
  const test = gatewayWith({ body: sse(chunk({ content: 'Hi' }), chunk({}, 'stop'), '[DONE]') });
  const response = await test.run(
    test.gateway.fetch('http://gateway.test/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'acme/up', messages: [ask], stream: true, tools: [tools[3]] }),
    }),
  );
  const { chunks } = await readStream(response);
  expect(joined(chunks).content).toBe('Hi');
});
