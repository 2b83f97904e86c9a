import { describe, expect, it } from 'vitest';
// Loaded beforehand: loading takes time that a manual clock knows nothing of.
import 're2js';
import '../../src/plugins/response-healing/heal.ts';
import '../../src/plugins/response-healing/reask.ts';
import { textGuardrail } from '../../src/guardrails/text-guardrail.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { fileParser } from '../../src/plugins/file-parser/index.ts';
import { testGateway, testKey, testPricing } from '../support/gateway.ts';
import { joinMessage } from '../support/said-messages.ts';
import { engineOf, pageOf } from '../support/search.ts';
import { traced } from '../support/traced.ts';
import { chunk, completion, sse } from '../support/upstream.ts';

// biome-ignore lint/suspicious/noExplicitAny: of any response, for a test to look into
type Json = any;

const hello = [{ role: 'user', content: 'Hello' }];
const binding = 'claude-opus-5-5';

/** A gateway before an upstream that speaks the wire and one that speaks chat completions. */
function both<Made extends ReturnType<typeof testGateway>>(
  options: Partial<GatewayOptions> = {},
  make: (options: Partial<GatewayOptions>) => Made = testGateway as never,
) {
  const tested = make({
    providers: {
      own: { baseUrl: 'https://own.test/v1', apiKey: 'sk-own-0123456789', dialect: 'anthropic-messages' },
      up: { baseUrl: 'https://up.test/v1', apiKey: 'sk-up-0123456789' },
    },
    models: [
      { slug: 'acme/own', endpoints: [{ provider: 'own', model: binding, pricing: testPricing }] },
      { slug: 'acme/chat', endpoints: [{ provider: 'up', model: 'm', pricing: testPricing }] },
    ],
    ...options,
  });
  const request = (body: object, headers: Record<string, string> = {}) =>
    new Request('http://gateway.test/v1/messages', {
      method: 'POST',
      headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'acme/own', max_tokens: 100, messages: hello, ...body }),
    });
  const post = async (body: object, headers: Record<string, string> = {}) => {
    const response = await tested.run(tested.gateway.fetch(request(body, headers)));
    const text = await tested.run(response.text());
    const json: Json = text.startsWith('{') ? JSON.parse(text) : null;
    return { status: response.status, headers: response.headers, text, json };
  };
  return { ...(tested as Omit<Made, 'post'>), post };
}

const message = (content: object[] = [{ type: 'text', text: 'Hi' }]) => ({
  id: 'msg_upstream',
  type: 'message',
  role: 'assistant',
  model: binding,
  content,
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 2 },
});

/** A stream of the wire, each text in the pieces given. */
function streamOf(blocks: readonly { start: Json; deltas: readonly Json[] }[]): string {
  const events: Json[] = [
    { type: 'message_start', message: { ...message([]), stop_reason: null } },
    ...blocks.flatMap(({ start, deltas }, index) => [
      { type: 'content_block_start', index, content_block: start },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

const hush = (action: 'redact' | 'block') =>
  textGuardrail({ id: 'hush', patterns: [{ name: 'hush', regex: 'hush-\\d+', action }] });

describe('plugins on a Messages request', () => {
  it('search for an upstream of another wire and of the same one, and the answer cites what they found', async () => {
    for (const model of ['acme/chat', 'acme/own']) {
      const engine = engineOf([pageOf('botany')]);
      const { post, upstream } = both({ searchEngines: [engine] });
      const said = 'See [botany.example](https://botany.example/page).';
      upstream.answer({
        body: model === 'acme/own' ? message([{ type: 'text', text: said }]) : completion({}, { content: said }),
      });
      const { status, json } = await post({ model, plugins: [{ id: 'web' }] });
      expect([status, engine.asked.length]).toEqual([200, 1]);
      expect(upstream.sent[0]?.text).toContain('What botany says.');
      expect(json.content).toMatchObject([
        {
          type: 'text',
          text: said,
          citations: [{ type: 'web_search_result_location', url: 'https://botany.example/page' }],
        },
      ]);
      expect(json.usage.server_tool_use).toEqual({ web_search_requests: 1, web_fetch_requests: 0 });
    }
  });
  it('read a document for a model that takes none', async () => {
    const read = async () => ({ pages: ['The answer is 42.'], total: 1, isCut: false });
    const { post, upstream } = both({ plugins: [fileParser({ reader: { read } })] });
    upstream.answer({ body: completion() });
    const data = Buffer.from('%PDF-1.7 a paper').toString('base64');
    const document = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } };
    const { status, text } = await post({
      model: 'acme/chat',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, document] }],
      plugins: [{ id: 'file-parser' }],
    });
    expect([status, text]).toEqual([200, expect.any(String)]);
    expect(upstream.sent[0]?.text).toContain('The answer is 42.');
    expect(upstream.sent[0]?.text).not.toContain(data);
  });
  it('heal an answer in the form that was asked for', async () => {
    const { post, upstream } = both();
    upstream.answer({ body: completion({}, { content: '```json\n{"a": 1,}\n```' }) });
    const schema = { type: 'object', properties: { a: { type: 'integer' } } };
    const { json, text } = await post({
      model: 'acme/chat',
      output_config: { format: { type: 'json_schema', schema } },
      plugins: [{ id: 'response-healing' }],
    });
    expect(JSON.parse(json.content?.[0]?.text ?? text)).toEqual({ a: 1 });
  });
  it('that put text into the prompt of a model which binds its thoughts send the switch along, and the metadata says so', async () => {
    const { post, upstream } = both({ searchEngines: [engineOf([pageOf('botany')])] });
    upstream.always({ body: message() });
    const history = [
      ...hello,
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: '', signature: 'c2ln' },
          { type: 'text', text: 'Hi' },
        ],
      },
      { role: 'user', content: 'And bananas?' },
    ];
    const { json } = await post({ messages: history, plugins: [{ id: 'web' }] }, { 'x-service-metadata': 'enabled' });
    const plain = await post({ messages: history }, { 'x-service-metadata': 'enabled' });
    const [sent, own] = upstream.sent as Json[];
    expect(sent.headers['anthropic-beta']).toContain('thinking-binding-controls-2026-08-01');
    expect(sent.body.thinking).toMatchObject({ block_binding: { prefix_mismatch_behavior: 'drop_block' } });
    expect(json.service_metadata.thought_bindings).toMatchObject({ drop_reason: 'prompt_changed' });
    // All that stood before the last turn stands there as it was.
    expect(sent.body.messages[0]).toMatchObject({ role: 'user', content: [{ type: 'text', text: 'Hello' }] });
    expect(sent.body.messages[1].content[0]).toMatchObject({ type: 'thinking', signature: 'c2ln' });
    expect([own.headers['anthropic-beta'], own.body.messages, own.body.thinking]).toEqual([
      undefined,
      history,
      undefined,
    ]);
    expect(plain.json.service_metadata.thought_bindings?.drop_reason ?? null).toBeNull();
  });
});

describe('guardrails on a stream of Messages', () => {
  const pieces = ['say hu', 'sh-1', '2 now'];
  const blocks = [
    {
      start: { type: 'thinking', thinking: '', signature: '' },
      deltas: [
        ...pieces.map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: 'c2ln' },
      ],
    },
    { start: { type: 'text', text: '' }, deltas: pieces.map((text) => ({ type: 'text_delta', text })) },
    {
      start: { type: 'tool_use', id: 'toolu_1', name: 'read', input: {} },
      deltas: ['{"a": "hu', 'sh-3', '4"}'].map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    },
    { start: { type: 'brand_new_block', x: 'hush-56' }, deltas: [] },
  ];
  const chat = [
    sse(
      ...pieces.map((reasoning) => chunk({ reasoning })),
      ...pieces.map((content) => chunk({ content })),
      chunk({
        tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'read', arguments: '{"a": "hu' } }],
      }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: 'sh-34"}' } }] }),
      chunk({}, 'tool_calls'),
    ),
  ];
  it.each<[string, Json]>([
    ['acme/own', [streamOf(blocks)]],
    ['acme/chat', chat],
  ])('take out of every block what is not to be said, whichever way it is cut (%s)', async (model, body) => {
    const { post, upstream } = both({ guardrails: [hush('redact')] });
    upstream.answer({ body });
    const { text } = await post({ model, stream: true });
    expect(text).not.toMatch(/hush-|sh-\d/);
    const { message: joined, error } = joinMessage(text);
    expect(error).toBeNull();
    // In the order in which the model said it, and each thing once.
    const said = (joined.content as Json[]).map(({ type, thinking, text: words, input }) => [
      type,
      thinking ?? words ?? input,
    ]);
    expect(said).toEqual([
      ['thinking', 'say [REDACTED:hush] now'],
      ['text', 'say [REDACTED:hush] now'],
      ['tool_use', { a: '[REDACTED:hush]' }],
    ]);
  });
  it.each<[string, Json]>([
    ['acme/own', [streamOf(blocks)]],
    ['acme/chat', chat],
  ])('refuse a response with an error, and none of what was not to be said (%s)', async (model, body) => {
    const { post, upstream } = both({ guardrails: [hush('block')] });
    upstream.answer({ body });
    const { text } = await post({ model, stream: true });
    expect(text).not.toMatch(/hush-|message_stop/);
    expect(text).toMatch(/"type":"error"/);
  });
});

describe('a Messages request on its way', () => {
  it('tells its rate limits in the names of the wire', async () => {
    const { post, upstream } = both({ rateLimits: { key: { requestsPerMinute: 2, tokensPerMinute: 10_000 } } });
    upstream.always({ body: message() });
    const { headers } = await post({});
    expect(headers.get('anthropic-ratelimit-requests-limit')).toBe('2');
    expect(headers.get('anthropic-ratelimit-requests-remaining')).toBe('1');
    expect(headers.get('anthropic-ratelimit-requests-reset')).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(headers.get('anthropic-ratelimit-tokens-limit')).toBe('10000');
    await post({});
    const refused = await post({});
    expect([refused.status, refused.json.error.type, refused.headers.get('retry-after')]).toEqual([
      429,
      'rate_limit_error',
      expect.stringMatching(/^\d+$/),
    ]);
  });
  it('goes with the credential of its workspace', async () => {
    const { post, call, upstream, records } = both({
      secrets: { current: 'a master secret of the tests, which is long enough' },
      providers: { anthropic: { apiKey: 'sk-operator-0123456789' } },
      models: [{ slug: 'acme/own', endpoints: [{ provider: 'anthropic', model: binding, pricing: testPricing }] }],
    });
    expect((await call('POST', '/byok', { provider: 'anthropic', key: 'sk-ant-mine-0123456789' })).status).toBe(201);
    upstream.answer({ body: message() });
    const { status, text } = await post({});
    expect([status, upstream.sent[0]?.headers['x-api-key']]).toEqual([200, 'sk-ant-mine-0123456789']);
    expect(text).not.toContain('sk-ant-mine');
    expect(records[0]).toMatchObject({ operation: 'createMessage', outcome: 'ok', attempts: [{ isByok: true }] });
  });
  it('has a span of its own, as its records say', async () => {
    const tested = both({}, (gateway) => traced({ gateway }));
    tested.upstream.answer({ body: message() });
    await tested.post({});
    expect(tested.calls().map(({ attributes }) => attributes)).toMatchObject([
      { 'gen_ai.request.model': 'acme/own', 'gen_ai.usage.input_tokens': 10, 'gen_ai.usage.output_tokens': 2 },
    ]);
    expect(tested.records[0]).toMatchObject({ operation: 'createMessage', outcome: 'ok' });
  });
});

describe('a stream in which the gateway searches', () => {
  it('shows the search as the provider would, and the blocks go back to no provider as its own', async () => {
    const engine = engineOf([pageOf('botany')]);
    const { post, upstream } = both({ searchEngines: [engine] });
    const call = {
      index: 0,
      id: 'c1',
      type: 'function',
      function: { name: 'web_search', arguments: '{"query":"bananas"}' },
    };
    upstream.answer(
      { body: [sse(chunk({ content: 'I look.' }), chunk({ tool_calls: [call] }), chunk({}, 'tool_calls'))] },
      { body: [sse(chunk({ content: 'Found.' }), chunk({}, 'stop'))] },
      { body: message() },
    );
    const tools = [{ type: 'web_search_20250305', name: 'web_search' }];
    const { text } = await post({ model: 'acme/chat', stream: true, tools });
    const { message: joined, error } = joinMessage(text);
    expect([error, joined.stop_reason]).toEqual([null, 'end_turn']);
    const id = 'srvtoolu_gateway_c1_0';
    expect(joined.content).toMatchObject([
      { type: 'text', text: 'I look.' },
      { type: 'server_tool_use', id, name: 'web_search', input: { query: 'bananas' } },
      {
        type: 'web_search_tool_result',
        tool_use_id: id,
        content: [{ type: 'web_search_result', url: 'https://botany.example/page', title: 'About botany' }],
      },
      { type: 'text', text: 'Found.' },
    ]);
    expect((joined.usage as Json).server_tool_use).toEqual({ web_search_requests: 1, web_fetch_requests: 0 });
    await post({ messages: [...hello, { role: 'assistant', content: joined.content }, ...hello], tools });
    const last: Json = upstream.sent.at(-1);
    const said = last.body.messages[1].content;
    expect(said.map(({ type }: Json) => type)).toEqual(['text', 'text']);
  });
  it('shows an error where the search fails, and nothing that a guardrail cannot see', async () => {
    for (const guardrails of [[], [hush('redact')]]) {
      const engine = engineOf(() => {
        throw new Error('down');
      });
      const { post, upstream } = both({ searchEngines: [engine], guardrails });
      const call = { id: 'c1', type: 'function', function: { name: 'web_search', arguments: '{"query":"x"}' } };
      upstream.answer(
        { body: completion({}, { content: null, tool_calls: [call] }, { finish_reason: 'tool_calls' }) },
        { body: completion({}, { content: 'Nothing.' }) },
      );
      const { json } = await post({ model: 'acme/chat', tools: [{ type: 'web_search_20250305', name: 'web_search' }] });
      const content = { type: 'web_search_tool_result_error', error_code: 'unavailable' };
      if (guardrails.length === 0) expect(json.content[1]).toMatchObject({ type: 'web_search_tool_result', content });
      else expect(json.content).toMatchObject([{ type: 'text', text: 'Nothing.' }]);
    }
  });
});
