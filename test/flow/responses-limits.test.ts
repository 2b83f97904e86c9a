import { describe, expect, it } from 'vitest';
import {
  askResponses,
  nativeMessage,
  nativeMessageEvents,
  nativeResponse,
  nativeStream,
  nativeUp,
  sendResponses,
  streamResponses,
} from '../support/ask-responses.ts';
import { ledgerOf, withBudget } from '../support/booked.ts';
import { checkResponsesStream } from '../support/check-responses.ts';
import { checkError, nextTurn, testGateway, testPricing } from '../support/gateway.ts';
import { tenantGateway } from '../support/tenant-gateway.ts';
import { chunk, completion, errorBody, sse, textStream } from '../support/upstream.ts';

const enabled = { 'x-service-metadata': 'enabled' };
const endpoint = (provider: string) => ({ provider, model: 'm', pricing: testPricing, contextLength: 100_000 });
const models = [
  { slug: 'acme/fast', endpoints: [endpoint('up')] },
  { slug: 'acme/one', endpoints: [endpoint('up')] },
];
const ask = { max_output_tokens: 100 };
const long = 'word '.repeat(2_000);

describe('the budget of a Responses request', () => {
  it.each([
    ['/responses', { instructions: long }],
    ['/responses', { tools: [{ type: 'function', name: 'f', description: long, parameters: {} }] }],
    [
      '/responses',
      { tools: [{ type: 'custom', name: 'f', format: { type: 'grammar', syntax: 'lark', definition: long } }] },
    ],
    [
      '/responses',
      {
        input: [
          { role: 'user', content: 'x' },
          { type: 'web_search_call', id: 'w', status: 'completed', action: { type: 'search', query: long } },
        ],
      },
    ],
    [
      '/responses',
      {
        input: [
          { type: 'reasoning', id: 'r', summary: [], encrypted_content: long },
          { role: 'user', content: 'x' },
        ],
      },
    ],
    [
      '/responses',
      {
        input: [
          {
            type: 'additional_tools',
            role: 'developer',
            tools: [{ type: 'function', name: 'g', description: long, parameters: {} }],
          },
          { role: 'user', content: 'x' },
        ],
      },
    ],
    ['/responses', { max_output_tokens: 50_000 }],
    ['/responses', { reasoning: { effort: 'high' }, max_output_tokens: undefined }],
    ['/responses/compact', { instructions: long }],
    ['/responses/compact', { input: long }],
    ['/responses/compact', { max_output_tokens: undefined }],
  ])('refuses before a provider is called: %s %j', async (path, body) => {
    for (const options of [{ models }, { models, ...nativeUp }]) {
      // Enough for `Hello` and 100 tokens.
      const test = await withBudget(0.012, options);
      const plain = completion();
      test.upstream.always({ body: 'providers' in options ? nativeResponse([nativeMessage('Hi')]) : plain });
      const fits = await askResponses(test, ask);
      expect(fits.status).toBe(200);
      const { status, json } = await askResponses(test, { ...ask, ...body }, {}, path);
      expect([status, test.upstream.sent.length]).toEqual([402, 1]);
      checkError(402, json);
      expect(test.records.at(-1)).toMatchObject({ outcome: 'failed', status: 402, costNanoUsd: 0 });
      await test.gateway.close();
    }
  });
  it('books what a compaction costs, also one that is of no use', async () => {
    const test = await withBudget(1, { models });
    test.upstream.answer({ body: completion({}, { content: 'So.' }) }, { body: completion({}, { content: '' }) });
    const made = await askResponses(test, {}, {}, '/responses/compact');
    expect([made.status, made.json.usage.cost]).toEqual([200, 0.000036]);
    const useless = await askResponses(test, {}, {}, '/responses/compact');
    expect(useless.status).toBe(502);
    expect(test.records).toMatchObject([
      { outcome: 'ok', status: 200, costNanoUsd: 36_000 },
      { outcome: 'failed', status: 502, costNanoUsd: 36_000 },
    ]);
    expect(await ledgerOf(test)).toEqual({ spent: 72_000, held: 0 });
  });
  it('has nothing to do with a count of tokens, nor with an explanation', async () => {
    const test = await withBudget(0.000001, { models });
    const counted = await askResponses(test, {}, {}, '/responses/input_tokens');
    const explained = await askResponses(test, ask, {}, '/responses/explain');
    expect([counted.status, explained.status, test.upstream.sent, test.records]).toEqual([200, 200, [], []]);
  });
});

describe('the limits of a key', () => {
  it('refuse with 429 and its headers, also a compaction', async () => {
    for (const path of ['/responses', '/responses/compact']) {
      const test = testGateway({ rateLimits: { key: { requestsPerMinute: 1, tokensPerMinute: 6_000 } } });
      test.upstream.always({ body: completion() });
      const first = await askResponses(test, ask, {}, path);
      expect([first.status, first.headers.get('x-ratelimit-remaining-requests')]).toEqual([200, '0']);
      const { status, headers, json } = await askResponses(test, ask, {}, path);
      expect([status, headers.has('retry-after'), headers.get('x-ratelimit-limit-requests')]).toEqual([429, true, '1']);
      checkError(429, json);
      expect(test.upstream.sent).toHaveLength(1);
    }
  });
  it('of tokens count what the instructions and the tools are', async () => {
    const test = testGateway({ rateLimits: { key: { tokensPerMinute: 1_000 } } });
    test.upstream.always({ body: completion() });
    expect((await askResponses(test, { ...ask, instructions: long })).status).toBe(413);
    expect((await askResponses(test, ask)).status).toBe(200);
  });
  it('of money and of models refuse before a provider is called', async () => {
    const test = tenantGateway({ models });
    test.upstream.always({ body: completion() });
    const poor = await test.key({ limit: 0.000001 });
    const own = (key: string) => ({ authorization: `Bearer ${key}` });
    for (const path of ['/responses', '/responses/compact']) {
      expect((await askResponses(test, ask, own(poor.key), path)).status).toBe(402);
    }
    const narrow = await test.key({ allowed_models: ['acme/one'] });
    for (const path of ['/responses', '/responses/compact']) {
      const { status } = await askResponses(test, {}, own(narrow.key), path);
      expect([path, status >= 400 && status < 500]).toEqual([path, true]);
    }
    expect(test.upstream.sent).toEqual([]);
  });
});

describe('the route of a Responses request', () => {
  it('keeps to those who store nothing, where the request says so', async () => {
    const test = testGateway({
      models: [
        {
          slug: 'acme/fast',
          endpoints: [
            { provider: 'up', model: 'a', pricing: testPricing },
            { provider: 'alt', model: 'b', pricing: testPricing, dataPolicy: { zeroRetention: true } },
          ],
        },
      ],
    });
    test.upstream.always({ body: completion() });
    for (const path of ['/responses', '/responses/compact'])
      expect((await askResponses(test, { provider: { zdr: true } }, {}, path)).status).toBe(200);
    expect(test.upstream.sent.map(({ url }) => new URL(url).host)).toEqual(['alt.test', 'alt.test']);
  });
  it('follows `provider.order` and `models`, and says so', async () => {
    const test = testGateway({ retry: { attemptsPerEndpoint: 1 } });
    test.upstream.answer({ body: completion() }, { status: 500 }, { body: completion() });
    const ordered = await askResponses(test, { model: 'acme/pair', provider: { order: ['alt'] } }, enabled);
    expect(ordered.json.service_metadata).toMatchObject({ attempt: 1, summary: expect.stringContaining('Alt') });
    const moved = await askResponses(test, { model: 'acme/fast', models: ['acme/other'] }, enabled);
    expect([moved.json.model, moved.json.service_metadata.attempt]).toEqual(['acme/other', 2]);
  });
  it.each([
    ['session_id', { session_id: 'a' }, {}],
    ['prompt_cache_key', { prompt_cache_key: 'a' }, {}],
    ['x-session-id', {}, { 'x-session-id': 'a' }],
  ])('stays with a session, named by %s', async (_, body, headers) => {
    const names = ['one', 'two', 'three', 'four'];
    let count = 0;
    const test = testGateway({
      providers: Object.fromEntries(names.map((name) => [name, { baseUrl: `https://${name}.test/v1` }])),
      models: [{ slug: 'acme/fast', order: 'price', endpoints: names.map(endpoint) }],
      random: () => (count++ * 0.37) % 1,
    });
    test.upstream.always({ body: completion() });
    for (let at = 0; at < 12; at++) await askResponses(test, body, headers);
    const hosts = new Set(test.upstream.sent.map(({ url }) => url));
    expect(hosts.size).toBe(1);
  });
  it('is explained as it is done', async () => {
    const test = testGateway();
    test.upstream.answer({ body: completion() });
    const body = { model: 'acme/pair', provider: { order: ['alt', 'up'] }, tools: [{ type: 'web_search' }] };
    const { json } = await askResponses(test, body, {}, '/responses/explain');
    const { json: done } = await askResponses(test, body, enabled);
    expect(json.data).toMatchObject({ candidates: [{ provider_name: 'Alt' }, { provider_name: 'Up' }], error: null });
    expect(done.service_metadata.summary).toContain('Alt');
  });
});

describe('a credential of the workspace', () => {
  it('is used by Responses and compactions, and costs no budget', async () => {
    const own = 'gsk-own-credential-0123456789';
    const test = testGateway({
      secrets: { current: 'a master secret of the tests, which is long enough' },
      providers: { groq: { apiKey: 'gsk-of-the-operator-0123', baseUrl: 'https://groq.test/v1', byok: true } },
      models: [],
    });
    test.upstream.always({ body: completion() });
    expect((await test.call('POST', '/byok', { provider: 'groq', key: own })).status).toBe(201);
    for (const path of ['/responses', '/responses/compact']) {
      const { status, json } = await askResponses(test, { model: 'groq/llama' }, enabled, path);
      expect([status, json.usage.is_byok, json.service_metadata.is_byok]).toEqual([200, true, true]);
    }
    expect(test.upstream.sent.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${own}`, `Bearer ${own}`]);
  });
});

describe("the caller's own deadline", () => {
  it('is one of Responses and compactions, and its end is a 408', async () => {
    for (const path of ['/responses', '/responses/compact']) {
      const test = testGateway();
      test.upstream.answer({ instead: 'hang' });
      const { status } = await askResponses(test, {}, { 'x-service-timeout-ms': '500' }, path);
      expect([path, status, test.upstream.sent[0]?.closedAtMs === null]).toEqual([path, 408, false]);
    }
  });
});

describe('what is told of a Responses request', () => {
  it('is the metadata, in JSON, at the end of a stream, and beside an error; the id is everywhere', async () => {
    const test = testGateway();
    test.upstream.answer({ body: completion() }, { body: textStream('Hi') }, { status: 400, body: errorBody('No') });
    const whole = await askResponses(test, {}, enabled);
    const streamed = await streamResponses(test, {}, enabled);
    const failed = await askResponses(test, {}, enabled);
    const { final } = checkResponsesStream(streamed.text);
    for (const told of [whole.json, final, failed.json])
      expect(told.service_metadata).toMatchObject({ requested: 'acme/fast' });
    const ids = [whole, streamed, failed].map(({ headers }) => headers.get('x-generation-id'));
    expect(ids).toEqual(test.records.map(({ id }) => id));
    expect(test.records.map(({ outcome, status, streamed }) => [outcome, status, streamed])).toEqual([
      ['ok', 200, false],
      ['ok', 200, true],
      ['failed', 400, false],
    ]);
  });
});

describe('a client of Responses that leaves', () => {
  it.each([
    ['before the first event', false],
    ['in the middle of a stream', true],
  ])('%s: the upstream is cut, and what was used is booked', async (_, hasBegun) => {
    for (const options of [{ models }, { models, ...nativeUp }]) {
      const isNative = 'providers' in options;
      const test = await withBudget(1, options);
      const events = isNative
        ? nativeMessageEvents(0, ['Hi']).slice(0, 3)
        : [chunk({ role: 'assistant', content: 'Hi' })];
      test.upstream.answer(
        hasBegun ? { body: [...events.map((event) => sse(event)), { hangs: true }] } : { instead: 'hang' },
      );
      const client = new AbortController();
      const pending = sendResponses(test, { ...ask, stream: true }, {}, client.signal);
      pending.catch(() => undefined);
      for (let turn = 0; turn < 12; turn++) await nextTurn();
      if (hasBegun) {
        const reader = (await pending).body?.getReader();
        await reader?.read();
      }
      client.abort();
      for (let turn = 0; turn < 12; turn++) await nextTurn();
      expect(test.upstream.sent[0]?.closedAtMs).not.toBeNull();
      expect(test.records).toMatchObject([{ outcome: 'cancelled', status: 499 }]);
      const [record] = test.records;
      expect(record?.costNanoUsd).toBeGreaterThan(0);
      expect(record?.costNanoUsd).toBeLessThanOrEqual(record?.heldNanoUsd ?? 0);
      expect(await ledgerOf(test)).toEqual({ spent: record?.costNanoUsd, held: 0 });
    }
  });
  it('during a compaction pays for it', async () => {
    const test = await withBudget(1, { models });
    test.upstream.answer({ instead: 'hang' });
    const client = new AbortController();
    const pending = sendResponses(test, {}, {}, client.signal, '/responses/compact').catch(() => null);
    for (let turn = 0; turn < 12; turn++) await nextTurn();
    client.abort();
    await pending;
    for (let turn = 0; turn < 12; turn++) await nextTurn();
    expect(test.upstream.sent[0]?.closedAtMs).not.toBeNull();
    expect(test.records).toMatchObject([{ outcome: 'cancelled', status: 499 }]);
    expect(test.records[0]?.costNanoUsd).toBeGreaterThan(0);
  });
});

describe('a stream of Responses that waits or breaks', () => {
  it('is kept alive by comments until the first event', async () => {
    const test = testGateway();
    test.upstream.answer({ afterMs: 30_000, body: textStream('Hi') });
    const { text } = await streamResponses(test);
    expect(text).toMatch(/^(: SERVICE PROCESSING\n\n)+event: response\.created/);
    checkResponsesStream(text);
  });
  it('has nothing after the break where `streams.onCut` says close', async () => {
    for (const options of [{}, nativeUp]) {
      const test = testGateway({ streams: { onCut: 'close' }, ...options });
      const events =
        'providers' in options
          ? nativeStream(nativeMessageEvents(0, ['Hi']), []).slice(0, 4)
          : [sse(chunk({ content: 'Hi' }))];
      test.upstream.answer({ body: [...events, { breaks: true }] });
      const response = await test.run(sendResponses(test, { stream: true }));
      let text = '';
      const reading = (async () => {
        for await (const bytes of response.body as ReadableStream<Uint8Array>) text += new TextDecoder().decode(bytes);
      })();
      await expect(test.run(reading)).rejects.toMatchObject({ status: 502 });
      expect(text).toContain('"delta":"Hi"');
      expect(text).not.toMatch(/response\.(?:failed|completed)|\[DONE\]/);
    }
  });
});
