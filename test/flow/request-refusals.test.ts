import { describe, expect, it } from 'vitest';
import { hello, testGateway } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

/** Asks, expects a refusal, and that nothing was sent upstream. */
async function refusal(
  body: unknown,
  options: Parameters<typeof testGateway>[0] = {},
  headers: Record<string, string> = {},
) {
  const { post, upstream } = testGateway(options);
  const { status, json, text } = await post(body, headers);
  expect(upstream.sent).toEqual([]);
  expect(text).not.toContain('sk-');
  const { message, metadata } = json.error;
  const issues = (metadata?.issues ?? []) as { path: string; message: string }[];
  return { status, message, metadata, paths: issues.map(({ path }) => path), issues };
}

const ask = (fields: object) => refusal({ model: 'acme/fast', messages: hello, ...fields });

describe('a malformed request is refused with 400, naming where and what was expected', () => {
  it.each<[string, object, string]>([
    ['no messages', { messages: undefined }, 'messages'],
    ['an empty list of messages', { messages: [] }, 'messages'],
    ['a message without a role', { messages: [{ content: 'x' }] }, 'messages[0].role'],
    ['an unknown role', { messages: [{ role: 'narrator', content: 'x' }] }, 'messages[0].role'],
    ['a message without content', { messages: [{ role: 'user' }] }, 'messages[0].content'],
    [
      'a part of unknown type',
      { messages: [{ role: 'user', content: [{ type: 'smell' }] }] },
      'messages[0].content[0].type',
    ],
    ['a tool message without its id', { messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].tool_call_id'],
    ['a temperature beyond 2', { temperature: 2.1 }, 'temperature'],
    ['a top_p beyond 1', { top_p: 1.5 }, 'top_p'],
    ['a penalty below -2', { frequency_penalty: -2.5 }, 'frequency_penalty'],
    ['21 top_logprobs', { top_logprobs: 21 }, 'top_logprobs'],
    ['a fraction of a token', { max_tokens: 1.5 }, 'max_tokens'],
    ['a number in words', { temperature: 'hot' }, 'temperature'],
    ['5 stop sequences', { stop: ['1', '2', '3', '4', '5'] }, 'stop'],
    [
      '17 pairs of metadata',
      { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, 'v'])) },
      'metadata',
    ],
    ['metadata of 513 characters', { metadata: { key: 'v'.repeat(513) } }, 'metadata.key'],
    ['a session id of 257 characters', { session_id: 's'.repeat(257) }, 'session_id'],
    ['an unknown effort', { reasoning_effort: 'extreme' }, 'reasoning_effort'],
    ['an unknown effort inside', { reasoning: { effort: 'extreme' } }, 'reasoning.effort'],
    ['an unknown tier', { service_tier: 'first-class' }, 'service_tier'],
    ['an unknown response format', { response_format: { type: 'xml' } }, 'response_format.type'],
    [
      'a schema format without its name',
      { response_format: { type: 'json_schema', json_schema: {} } },
      'response_format.json_schema.name',
    ],
    ['an unknown modality', { modalities: ['smell'] }, 'modalities[0]'],
    ['a tool without a function', { tools: [{ type: 'function' }] }, 'tools[0].function'],
    ['an unknown plugin', { plugins: [{ id: 'telepathy' }] }, 'plugins[0].id'],
    [
      'a tradeoff beyond 10',
      { plugins: [{ id: 'auto-router', cost_quality_tradeoff: 11 }] },
      'plugins[0].cost_quality_tradeoff',
    ],
    [
      '9 analysis models',
      { plugins: [{ id: 'fusion', analysis_models: Array(9).fill('a/b') }] },
      'plugins[0].analysis_models',
    ],
    ['an unknown preference', { provider: { onyl: ['up'] } }, 'provider.onyl'],
    ['cache control without a type', { cache_control: {} }, 'cache_control.type'],
    ['an empty stop condition list', { stop_server_tools_when: [] }, 'stop_server_tools_when'],
    ['a stream flag in words', { stream: 'yes' }, 'stream'],
  ])('%s', async (_, fields, path) => {
    const { status, message, paths } = await ask(fields);
    expect([status, paths]).toEqual([400, [path]]);
    expect(message.startsWith(`${path}: `)).toBe(true);
  });
  it('names the first problem in the message and lists them all', async () => {
    const { message, paths } = await ask({ temperature: 9, top_p: 9, seed: 0.5 });
    expect(message.startsWith('temperature: ')).toBe(true);
    expect(paths.sort()).toEqual(['seed', 'temperature', 'top_p']);
  });
  it('never shows what was sent', async () => {
    const { post } = testGateway();
    const secret = 'my-secret-prompt';
    const { text } = await post({
      model: 'acme/fast',
      messages: [{ role: secret, content: secret }],
      temperature: secret,
    });
    expect(text).not.toContain(secret);
  });
});

describe('a body that is no request is refused', () => {
  it.each<[string, unknown, RegExp]>([
    ['empty', '', /empty/],
    ['not JSON', '{"model": ', /not valid JSON/],
    ['JSON, but no object', '[]', /expected/],
    ['null', 'null', /expected/],
    ['a string', '"hello"', /expected/],
    ['not UTF-8', new Uint8Array([0xff, 0xfe, 0x00]), /not valid UTF-8/],
    ['nested too deep', `{"messages":${'['.repeat(101)}${']'.repeat(101)}}`, /nested deeper than 100 levels/],
    [
      'nested a hundred thousand levels deep',
      '['.repeat(100_000) + ']'.repeat(100_000),
      /nested deeper|not valid JSON/,
    ],
  ])('when it is %s', async (_, body, message) => {
    const refused = await refusal(body);
    expect([refused.status, refused.message]).toEqual([400, expect.stringMatching(message)]);
    expect(refused.issues).toHaveLength(1);
  });
  it('takes a body nested as deep as the limit', async () => {
    const deep = `{"model":"nobody/none","messages":[{"role":"user","content":"x"}],"x":${'['.repeat(99)}${']'.repeat(99)}}`;
    expect((await refusal(deep)).message).toMatch(/not a model/);
  });
  it('with 413 when it is too large, whether it says so or not', async () => {
    const options = { limits: { bodyBytes: 500 } };
    const body = JSON.stringify({ model: 'acme/fast', messages: [{ role: 'user', content: 'x'.repeat(500) }] });
    const declared: Record<string, string>[] = [
      {},
      { 'content-length': String(body.length) },
      { 'content-length': '10' },
    ];
    for (const headers of declared) {
      const { status, message, metadata } = await refusal(body, options, headers);
      expect([status, message, metadata]).toEqual([
        413,
        expect.stringMatching(/500 bytes/),
        { error_type: 'payload_too_large', limit_bytes: 500 },
      ]);
    }
  });
  it('when the host has parsed it and it is nested too deep', async () => {
    const { gateway } = testGateway();
    let deep: unknown = [];
    for (let level = 0; level < 10_000; level++) deep = [deep];
    const request = new Request('http://gateway.test/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test-inference' },
    });
    const response = await gateway.handle(request, { body: { model: 'acme/fast', messages: hello, deep } });
    expect(response.status).toBe(400);
    expect((await response.json()).error.message).toMatch(/nested deeper than 100 levels/);
  });
});

describe('what the schema of a body does not say is refused with 400', () => {
  it.each<[string, object]>([
    ['no tools', {}],
    ['an empty list of tools', { tools: [] }],
  ])('a tool that is required, of %s', async (_, fields) => {
    const { status, paths, message, metadata } = await ask({ ...fields, tool_choice: 'required' });
    expect([status, paths, metadata?.error_type]).toEqual([400, ['tool_choice'], 'invalid_request']);
    expect(message).toBe('tool_choice: "required" needs at least one tool in tools');
    const tested = testGateway();
    const body = { model: 'acme/fast', messages: hello, ...fields, tool_choice: 'required' };
    await expect(tested.gateway.explain(body)).rejects.toMatchObject({ status: 400, message });
    tested.upstream.always({ body: completion() });
    for (const allowed of [
      { tool_choice: 'auto' },
      { tool_choice: 'none' },
      { tools: [{ type: 'function', function: { name: 'f' } }], tool_choice: 'required' },
    ])
      expect((await tested.post({ model: 'acme/fast', messages: hello, ...allowed })).status).toBe(200);
  });
});

describe('a request that contradicts itself is refused with 422', () => {
  it.each<[string, object, string]>([
    ['two efforts', { reasoning_effort: 'low', reasoning: { effort: 'high' } }, 'reasoning_effort'],
    [
      'a result without its call',
      { messages: [...hello, { role: 'tool', tool_call_id: 'call_9', content: 'x' }] },
      'messages[1].tool_call_id',
    ],
    [
      'a forced tool that is not there',
      { tool_choice: { type: 'function', function: { name: 'none' } } },
      'tool_choice.function.name',
    ],
    [
      'a forced server tool that is not there',
      { tools: [{ type: 'function', function: { name: 'f' } }], tool_choice: { type: 'service:datetime' } },
      'tool_choice.type',
    ],
    ['a forced hosted tool that is not there', { tool_choice: { type: 'web_search_preview' } }, 'tool_choice.type'],
  ])('%s', async (_, fields, path) => {
    const { status, paths, metadata } = await ask(fields);
    expect([status, paths, metadata?.error_type]).toEqual([422, [path], 'unprocessable']);
  });
});

describe('what this gateway cannot do is refused, never ignored', () => {
  it.each(['service:web_search', 'service:bash', 'web_search', 'web_search_preview'])('the tool %s', async (type) => {
    const { status, message } = await ask({ tools: [{ type }] });
    expect([status, message]).toEqual([400, expect.stringContaining(`tool not available: ${type}`)]);
  });
});

describe('the model', () => {
  it('that nobody knows is refused with 400, also as a fallback', async () => {
    for (const fields of [{ model: 'acme/unknown' }, { models: ['acme/fast', 'acme/unknown'] }]) {
      const { status, message, metadata } = await ask(fields);
      expect([status, message]).toEqual([400, '"acme/unknown" is not a model of this gateway']);
      expect(metadata).toEqual({ error_type: 'invalid_request', model: 'acme/unknown' });
    }
  });
  it('must be named where there is no default', async () => {
    const { status, paths } = await refusal({ messages: hello });
    expect([status, paths]).toEqual([400, ['model']]);
  });
  it('of a provider without a name of its own is unknown', async () => {
    expect((await ask({ model: 'up/' })).status).toBe(400);
    expect((await ask({ model: 'up' })).status).toBe(400);
  });
});
