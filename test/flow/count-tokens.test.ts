import { describe, expect, it } from 'vitest';
import { textGuardrail } from '../../src/guardrails/text-guardrail.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { definePlugin } from '../../src/plugins/plugin.ts';
import { testGateway, testKey, testPricing } from '../support/gateway.ts';
import { errorBody } from '../support/upstream.ts';

const secret = 'sk-upstream-0123456789';
const signed = { 'amazon-bedrock': { apiKey: 'bedrock-key-0123456789', credential: { region: 'us-east-1' } } };
const key = { authorization: `Bearer ${testKey}` };
const messages = [{ role: 'user', content: 'Hello' }];

/** A gateway with one model, at an upstream that speaks a dialect. */
function counting(dialect: string, options: Partial<GatewayOptions> = {}, model = 'claude-sonnet-4-5', quirks = {}) {
  const tested = testGateway({
    providers: { up: { baseUrl: 'https://up.test/v1', apiKey: secret, dialect, quirks } } as never,
    models: [{ slug: 'acme/own', endpoints: [{ provider: 'up', model, pricing: testPricing }] }],
    ...options,
  });
  const count = (body: object, headers: Record<string, string> = {}) =>
    tested.call('POST', '/messages/count_tokens', { model: 'acme/own', messages, ...body }, { ...key, ...headers });
  return { ...tested, count };
}

describe('a count of tokens, where the provider has one', () => {
  it('is that of the provider, which gets the body as it came, with its headers and without what is no prompt', async () => {
    const { count, upstream } = counting('anthropic-messages');
    upstream.answer({ body: { input_tokens: 42 } });
    const body = { zeta: { later: 1 }, tools: [{ name: 'a', strict: true, input_schema: { type: 'object' } }] };
    const more = { max_tokens: 5, stream: true, temperature: 0.5, metadata: { user_id: 'u' }, session_id: 's' };
    const { status, json, headers } = await count({ ...body, ...more }, { 'anthropic-beta': 'brand-new' });
    expect([status, json, headers.get('x-service-token-count')]).toEqual([200, { input_tokens: 42 }, 'provider']);
    const [sent] = upstream.sent;
    expect([sent?.url, sent?.body]).toEqual([
      'https://up.test/v1/messages/count_tokens',
      { model: 'claude-sonnet-4-5', messages, ...body },
    ]);
    expect(sent?.headers).toMatchObject({
      'x-api-key': secret,
      'anthropic-beta': 'brand-new',
      accept: 'application/json',
    });
  });
  it.each([
    [
      'anthropic-messages',
      'claude-sonnet-4-5@20250929',
      { host: 'vertex' },
      'count-tokens:rawPredict',
      { input_tokens: 7 },
      { model: 'claude-sonnet-4-5@20250929', anthropic_version: 'vertex-2023-10-16', messages },
    ],
    [
      'google-generate-content',
      'gemini-3-pro',
      {},
      'models/gemini-3-pro:countTokens',
      { totalTokens: 7 },
      {
        generateContentRequest: {
          model: 'models/gemini-3-pro',
          contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
        },
      },
    ],
    [
      'google-generate-content',
      'gemini-3-pro',
      { countsParts: true },
      'models/gemini-3-pro:countTokens',
      { totalTokens: 7 },
      { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
    ],
  ])('is asked of %s (%s, %j)', async (dialect, model, quirks, path, body, sent) => {
    const { count, upstream } = counting(dialect, {}, model, quirks);
    upstream.answer({ body });
    expect((await count({})).json).toEqual({ input_tokens: 7 });
    expect([upstream.sent[0]?.url, upstream.sent[0]?.body]).toEqual([`https://up.test/v1/${path}`, sent]);
  });
  it('is asked of Bedrock for Claude, by the name of the model itself, and for no other model', async () => {
    for (const [model, by] of [
      ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'provider'],
      ['amazon.nova-pro-v1:0', 'estimated'],
    ] as const) {
      const { count, upstream } = counting('', {
        providers: signed,
        models: [{ slug: 'acme/own', endpoints: [{ provider: 'amazon-bedrock', model, pricing: testPricing }] }],
      });
      upstream.answer({ body: { inputTokens: 7 } });
      const { headers, json } = await count({ system: 'Be brief' });
      expect(headers.get('x-service-token-count')).toBe(by);
      if (by === 'estimated') expect(upstream.sent).toEqual([]);
      else {
        expect(json).toEqual({ input_tokens: 7 });
        expect(upstream.sent[0]?.url).toBe(
          'https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/count-tokens',
        );
      }
    }
  });
  it('is the same for a client of the Gemini wire, and for one of Responses', async () => {
    const google = counting('google-generate-content', {}, 'gemini-3-pro');
    google.upstream.answer({ body: { totalTokens: 9 } });
    const contents = [{ role: 'user', parts: [{ text: 'Hello' }] }];
    const gemini = await google.call('POST', '/models/acme/own:countTokens', { contents }, key);
    expect([gemini.json, gemini.headers.get('x-service-token-count')]).toEqual([{ totalTokens: 9 }, 'provider']);
    expect(google.upstream.sent[0]?.url).toBe('https://up.test/v1/models/gemini-3-pro:countTokens');

    const openai = counting('openai-responses', {}, 'gpt-5', { countsInput: true });
    openai.upstream.answer({ body: { object: 'response.input_tokens', input_tokens: 8 } });
    const input = { model: 'acme/own', input: 'Hello', instructions: 'Be brief', max_output_tokens: 100 };
    const responses = await openai.call('POST', '/responses/input_tokens', input, key);
    expect(responses.json).toEqual({ object: 'response.input_tokens', input_tokens: 8 });
    expect(Object.keys(openai.upstream.sent[0]?.body ?? {}).toSorted()).toEqual(['input', 'instructions', 'model']);
    const others = counting('openai-responses', {}, 'gpt-5');
    const estimate = await others.call('POST', '/responses/input_tokens', input, key);
    expect([estimate.headers.get('x-service-token-count'), others.upstream.sent]).toEqual(['estimated', []]);
  });
  it('is asked with the credential that a request would have', async () => {
    const { call, count, upstream } = counting('anthropic-messages', {
      secrets: { current: 'a master secret of the tests, which is long enough' },
      providers: { anthropic: { apiKey: secret } },
      models: [{ slug: 'acme/own', endpoints: [{ provider: 'anthropic', model: 'm', pricing: testPricing }] }],
    });
    expect((await call('POST', '/byok', { provider: 'anthropic', key: 'sk-ant-own-0123456789' })).status).toBe(201);
    upstream.answer({ body: { input_tokens: 1 } });
    await count({});
    expect(upstream.sent[0]?.headers['x-api-key']).toBe('sk-ant-own-0123456789');
  });
  it('costs nothing, needs no money, and leaves no record of a model', async () => {
    const { count, call, upstream, records } = counting('anthropic-messages');
    const limit = await call('PUT', '/workspaces/default/budgets/lifetime', { limit_usd: 0.000000001 });
    expect(limit.status).toBe(200);
    upstream.answer({ body: { input_tokens: 3 } });
    expect((await count({})).json).toEqual({ input_tokens: 3 });
    expect(records).toEqual([]);
  });
});

describe('a count of tokens that the provider does not give', () => {
  it.each<[string, object]>([
    ['an error', { status: 404, body: errorBody(`no such path for ${secret}`) }],
    ['an overload', { status: 529, body: errorBody('Overloaded') }],
    ['no number', { body: { input_tokens: 'many' } }],
    ['a number that is none', { body: { input_tokens: -1 } }],
    ['no JSON', { body: '<html>' }],
    ['a body without an end', { body: ['{"input_tokens": 1', { hangs: true }] }],
    ['too long a body', { body: `{"a": "${'x'.repeat(100_000)}"}` }],
    ['no connection', { instead: 'refuse' }],
    ['nothing, for ever', { instead: 'hang' }],
  ])('is estimated, and says so: %s', async (_, answer) => {
    const { count, upstream, run, gateway } = counting('anthropic-messages');
    upstream.answer(answer as never);
    const { status, json, headers, text } = await count({});
    expect([status, headers.get('x-service-token-count'), headers.get('x-service-token-count-reason')]).toEqual([
      200,
      'estimated',
      'provider_failed',
    ]);
    expect(json.input_tokens).toBeGreaterThan(0);
    expect(text).not.toContain(secret);
    expect(upstream.sent).toHaveLength(1);
    // The endpoint serves on: a count says nothing about it.
    upstream.answer({ body: message });
    const asked = { model: 'acme/own', max_tokens: 5, messages };
    const response = gateway.fetch(
      new Request('http://gateway.test/v1/messages', { method: 'POST', headers: jsonKey, body: JSON.stringify(asked) }),
    );
    expect((await run(response)).status).toBe(200);
  });
  it.each([404, 405, 501])('is not asked for again for ten minutes, where there is none: status %i', async (gone) => {
    const { count, upstream, clock } = counting('anthropic-messages', {
      models: ['own', 'other'].map((name) => ({
        slug: `acme/${name}`,
        endpoints: [{ provider: 'up', model: `claude-${name}`, pricing: testPricing }],
      })),
    });
    upstream.answer({ status: gone, body: errorBody('no such path') });
    const said = async (body: object = {}) => {
      const { headers } = await count(body);
      return ['x-service-token-count', 'x-service-token-count-reason'].map((name) => headers.get(name));
    };
    expect(await said()).toEqual(['estimated', 'provider_failed']);
    for (let times = 0; times < 3; times++) expect(await said()).toEqual(['estimated', null]);
    expect(upstream.sent).toHaveLength(1);
    // Another model of the provider may have one.
    upstream.answer({ body: { input_tokens: 5 } });
    expect(await said({ model: 'acme/other' })).toEqual(['provider', null]);
    await clock.advance(10 * 60_000);
    upstream.answer({ body: { input_tokens: 6 } });
    expect(await said()).toEqual(['provider', null]);
  });
  it('is asked for again after any other failure', async () => {
    const { count, upstream } = counting('anthropic-messages');
    upstream.answer({ status: 529, body: errorBody('Overloaded') }, { body: { input_tokens: 5 } });
    expect((await count({})).headers.get('x-service-token-count')).toBe('estimated');
    expect((await count({})).json).toEqual({ input_tokens: 5 });
  });
  it('is estimated where an option says so: nothing leaves', async () => {
    const { count, upstream } = counting('anthropic-messages', { tokenCounts: { atProviders: false } });
    const { headers } = await count({});
    expect([headers.get('x-service-token-count'), upstream.sent]).toEqual(['estimated', []]);
    expect(headers.get('x-service-token-count-reason')).toBeNull();
  });
  it('is estimated for a model that the key must not use: nothing leaves', async () => {
    const { count, upstream } = counting('anthropic-messages', {
      apiKeys: [{ key: testKey, models: ['acme/other'] }],
    });
    const { status, headers } = await count({});
    expect([status, headers.get('x-service-token-count')]).toEqual([200, 'estimated']);
    expect(upstream.sent).toEqual([]);
  });
  it('asks once more with a new key, where the old one has come to its end', async () => {
    const keys = ['sk-old-0123456789', 'sk-new-0123456789'];
    const { count, upstream } = counting('', {
      providers: {
        up: { baseUrl: 'https://up.test/v1', apiKey: () => keys.shift() as string, dialect: 'anthropic-messages' },
      },
    });
    upstream.answer({ status: 401, body: errorBody('expired') }, { body: { input_tokens: 4 } });
    expect((await count({})).json).toEqual({ input_tokens: 4 });
    expect(upstream.sent.map(({ headers }) => headers['x-api-key'])).toEqual([
      'sk-old-0123456789',
      'sk-new-0123456789',
    ]);
  });
  it('ends with its client, and lets go of the provider', async () => {
    const { gateway, upstream, run } = counting('anthropic-messages');
    upstream.answer({ instead: 'hang' });
    const leaving = new AbortController();
    const request = new Request('http://gateway.test/v1/messages/count_tokens', {
      method: 'POST',
      headers: jsonKey,
      body: JSON.stringify({ model: 'acme/own', messages }),
      signal: leaving.signal,
    });
    const asked = gateway.fetch(request).then(
      ({ status }) => status,
      () => 'left',
    );
    while (upstream.sent.length === 0) await new Promise((resolve) => setImmediate(resolve));
    leaving.abort();
    expect([499, 'left']).toContain(await run(asked));
    expect(upstream.sent[0]?.closedAtMs).not.toBeNull();
  });
});

describe('a count of tokens, as a request', () => {
  const hush = textGuardrail({
    id: 'hush',
    patterns: [
      { name: 'hush', regex: 'hush-\\d+', action: 'redact' },
      { name: 'no', regex: 'forbidden', action: 'block' },
    ],
  });
  it('leaves when guardrails have taken out what must not', async () => {
    const { count, upstream } = counting('anthropic-messages', { guardrails: [hush] });
    upstream.answer({ body: { input_tokens: 5 } });
    const hidden = [
      {
        role: 'user',
        content: [
          { type: 'brand_new', x: 'hush-1' },
          { type: 'text', text: 'hush-2' },
        ],
      },
    ];
    expect((await count({ messages: hidden, system: 'hush-3' })).json).toEqual({ input_tokens: 5 });
    expect(upstream.sent[0]?.text).not.toContain('hush-');
  });
  it('is refused by a guardrail, in the words of the wire, before anything leaves', async () => {
    for (const mode of ['before', 'parallel'] as const) {
      const { count, upstream } = counting('anthropic-messages', { guardrails: [{ ...hush, mode }] });
      const { status, json } = await count({ messages: [{ role: 'user', content: 'forbidden' }] });
      expect([status, json.type, upstream.sent]).toEqual([403, 'error', []]);
    }
  });
  it('runs no plugin: one may search, or ask a model', async () => {
    let ran = 0;
    const costly = definePlugin({
      id: 'costly',
      isDefault: true,
      before: (request) => {
        ran++;
        return request;
      },
    });
    const { count, upstream } = counting('anthropic-messages', { plugins: [costly] });
    upstream.answer({ body: { input_tokens: 5 } });
    expect((await count({ plugins: [{ id: 'costly' }] })).status).toBe(200);
    expect(ran).toBe(0);
  });
  it('is one of the requests that a key may make in a minute', async () => {
    const { count, upstream } = counting('anthropic-messages', { rateLimits: { key: { requestsPerMinute: 1 } } });
    upstream.always({ body: { input_tokens: 5 } });
    expect((await count({})).status).toBe(200);
    const { status, json } = await count({});
    expect([status, json.error.type, upstream.sent.length]).toEqual([429, 'rate_limit_error', 1]);
  });
});

const jsonKey = { ...key, 'content-type': 'application/json' };
const message = {
  id: 'msg_upstream',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: 'Hi' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 2 },
};
