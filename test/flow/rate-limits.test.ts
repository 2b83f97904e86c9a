import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Keyv } from 'keyv';
import { afterAll, describe, expect, it } from 'vitest';
import { sqliteStore } from '../../adapters/sqlite/sqlite.ts';
import { randomIds } from '../../src/base/ids.ts';
import type { WorkspaceId } from '../../src/call/workspace.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { definePlugin } from '../../src/plugins/plugin.ts';
import { checkError, hello, nextTurn, testGateway, testKey } from '../support/gateway.ts';
import { type TenantGateway, tenantGateway } from '../support/tenant-gateway.ts';
import { completion, errorBody, textStream } from '../support/upstream.ts';

const ask = { model: 'acme/fast', messages: hello, max_tokens: 100 };
/** `Hello` as a prompt is estimated as 8 tokens; the scripted upstream reports 10 and 2. */
const held = 108;
const used = 12;
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

type Limits = NonNullable<GatewayOptions['rateLimits']>;

function gateway(rateLimits: Limits = {}, options: Partial<GatewayOptions> = {}): TenantGateway {
  const tested = tenantGateway({ rateLimits, ...options });
  tested.upstream.always({ body: completion() });
  return tested;
}

/** What is left of the limits of the test's key and workspace, by name. */
async function left({ manage }: TenantGateway, key = testKey): Promise<Record<string, number>> {
  const { rate_limits } = (await manage('GET', '/key', undefined, key)).json.data;
  return Object.fromEntries(
    rate_limits.map((one: { scope: string; name: string; remaining: number }) => [
      `${one.scope} ${one.name}`,
      one.remaining,
    ]),
  );
}

const headersOf = (headers: Headers) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('x-ratelimit') || name === 'retry-after'));

describe('a limited request', () => {
  it.each([false, true])('tells what is left, also of the tokens that it holds (stream: %s)', async (stream) => {
    const { upstream, post } = gateway({ key: { requestsPerMinute: 30, tokensPerMinute: 6_000 } });
    if (stream) upstream.always({ body: textStream('Hi') });
    const { status, headers } = await post({ ...ask, stream });
    expect(status).toBe(200);
    const heldTokens = 6_000 - Number(headers.get('x-ratelimit-remaining-tokens'));
    expect(headersOf(headers)).toEqual({
      'x-ratelimit-limit-requests': '30',
      'x-ratelimit-remaining-requests': '29',
      'x-ratelimit-reset-requests': '2s',
      'x-ratelimit-limit-tokens': '6000',
      'x-ratelimit-remaining-tokens': String(6_000 - held),
      'x-ratelimit-reset-tokens': `${heldTokens / 100}s`,
    });
    expect(headers.get('x-generation-id')).toMatch(/^gen-/);
  });
  it('tells of the limit that has the least left', async () => {
    const { post, key } = gateway({ workspace: { requestsPerMinute: 3 }, key: { requestsPerMinute: 9 } });
    const other = await key();
    await post(ask, bearer(other.key));
    expect(headersOf((await post(ask)).headers)).toEqual({
      'x-ratelimit-limit-requests': '3',
      'x-ratelimit-remaining-requests': '1',
      'x-ratelimit-reset-requests': '40s',
    });
  });
  it('has the headers where it fails later, and none of them where nothing is limited', async () => {
    const { post, upstream } = gateway({ key: { requestsPerMinute: 30 } }, { retry: { maxAttempts: 1 } });
    upstream.answer({ status: 500, body: errorBody('No') });
    const failed = await post(ask);
    expect([failed.status, failed.headers.get('x-ratelimit-remaining-requests')]).toEqual([502, '29']);
    expect(headersOf((await gateway().post(ask)).headers)).toEqual({});
    // A limit on calls in flight has no minute to tell of.
    expect(headersOf((await gateway({ key: { requestsInFlight: 3 } }).post(ask)).headers)).toEqual({});
  });
});

describe('a request over the limit', () => {
  it('is a 429 that says which limit, whose, and when to come back; no provider is asked', async () => {
    const { post, upstream, records, clock } = gateway({ key: { requestsPerMinute: 2 } });
    for (let n = 0; n < 2; n++) expect((await post(ask)).status).toBe(200);
    const { status, headers, json: body } = await post(ask);
    checkError(status, body);
    expect([status, body.error]).toEqual([
      429,
      {
        code: 429,
        message: 'Rate limit reached: 2 requests per minute for this API key. Please try again in 30s.',
        metadata: {
          error_type: 'rate_limit_exceeded',
          scope: 'key',
          limit_name: 'requests_per_minute',
          limit: 2,
          remaining: 0,
          retry_after_seconds: 30,
        },
      },
    ]);
    expect(headersOf(headers)).toEqual({
      'retry-after': '30',
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(clock.now() + 30_000),
      'x-ratelimit-limit-requests': '2',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '1m0s',
    });
    expect([upstream.sent.length, records.at(-1)?.status, records.at(-1)?.costNanoUsd]).toEqual([2, 429, 0]);
  });
  it.each<[string, Limits, number]>([
    ['requests of a key', { key: { requestsPerMinute: 7 } }, 0],
    ['requests of a workspace', { workspace: { requestsPerMinute: 11 } }, 0],
    ['tokens', { key: { tokensPerMinute: 333 } }, 0],
    [
      'both, and of both',
      { key: { requestsPerMinute: 5, tokensPerMinute: 700 }, workspace: { requestsPerMinute: 3 } },
      0,
    ],
    ['tokens that were used beyond what was held', { key: { tokensPerMinute: 500 } }, 4_000],
  ])('is admitted when it comes back as it was told: %s', async (_, limits, more) => {
    const tested = gateway(limits);
    const { post, upstream, clock } = tested;
    if (more > 0)
      upstream.answer({
        body: completion({ usage: { prompt_tokens: 10, completion_tokens: more, total_tokens: more + 10 } }),
      });
    let refusals = 0;
    for (let n = 0; n < 30; n++) {
      const { status, headers } = await post(ask);
      if (status === 200) continue;
      expect(status).toBe(429);
      refusals++;
      const waitMs = Number(headers.get('retry-after')) * 1000;
      const resetMs = Number(headers.get('x-ratelimit-reset')) - clock.now();
      expect(waitMs - resetMs).toBeLessThan(1000);
      // Not a moment earlier: so it is refused once more, which takes nothing.
      await clock.advance(resetMs - 1);
      expect((await post(ask)).status).toBe(429);
      await clock.advance(1);
      expect((await post(ask)).status).toBe(200);
    }
    expect(refusals).toBeGreaterThan(3);
  });
  it('takes nothing from anybody: neither from the other account, nor tokens', async () => {
    const tested = gateway({
      key: { requestsPerMinute: 9, tokensPerMinute: 9_000, requestsInFlight: 3 },
      workspace: { requestsPerMinute: 1 },
    });
    await tested.post(ask);
    const before = await left(tested);
    for (let n = 0; n < 5; n++) expect((await tested.post(ask)).status).toBe(429);
    expect(await left(tested)).toEqual(before);
    expect(before).toEqual({
      'key requests_per_minute': 8,
      'key tokens_per_minute': 9_000 - used,
      'key requests_in_flight': 3,
      'workspace requests_per_minute': 0,
    });
  });
  it('that needs more tokens than a minute has is a 413 at once, which says what would do', async () => {
    const { post, upstream } = gateway({ workspace: { tokensPerMinute: 105 } });
    const { status, headers, json: body } = await post(ask);
    expect([status, body.error.message]).toEqual([
      413,
      `The request needs about ${held} tokens, but the limit for this workspace is 105 tokens per minute; shorten the prompt, or lower max_tokens`,
    ]);
    expect(headers.get('retry-after')).toBeNull();
    // An output that nobody has asked for makes no request too large.
    expect((await post({ ...ask, max_tokens: undefined })).status).toBe(200);
    expect(upstream.sent).toHaveLength(1);
  });
});

describe('tokens', () => {
  it('are held as the prompt and the largest output, then counted as they were used', async () => {
    const tested = gateway({ key: { tokensPerMinute: 10_000 } });
    const { upstream, send, run } = tested;
    upstream.answer({ afterMs: 5_000, body: completion() });
    const pending = send(ask);
    await nextTurn();
    expect(await left(tested)).toEqual({ 'key tokens_per_minute': 10_000 - held });
    await (await run(pending)).text();
    expect(await left(tested)).toEqual({ 'key tokens_per_minute': 10_000 });
    await tested.post(ask);
    expect(await left(tested)).toEqual({ 'key tokens_per_minute': 10_000 - used });
  });
  it('of a request that names no largest output are held by the option', async () => {
    const { post } = gateway({ key: { tokensPerMinute: 10_000 }, assumedOutputTokens: 500 });
    const { headers } = await post({ ...ask, max_tokens: undefined });
    expect(headers.get('x-ratelimit-remaining-tokens')).toBe(String(10_000 - (held - 100) - 500));
  });
  it('of all generations of a call count, and its request and place once', async () => {
    const twice = definePlugin({
      id: 'twice',
      isDefault: true,
      async wrap(generate, request) {
        await generate(request);
        return generate(request);
      },
    });
    const limits = { requestsPerMinute: 10, tokensPerMinute: 230, requestsInFlight: 1 };
    const tested = gateway({ key: limits }, { plugins: [twice] });
    const { status, headers } = await tested.post(ask);
    expect([status, headers.get('x-ratelimit-remaining-tokens')]).toEqual([200, String(230 - 2 * held)]);
    expect(await left(tested)).toEqual({
      'key requests_per_minute': 9,
      'key tokens_per_minute': 230 - 2 * used,
      'key requests_in_flight': 1,
    });
    // The second generation does not fit any more.
    const { status: refused, json: body } = await tested.post({ ...ask, max_tokens: 110 });
    expect([refused, body.error.metadata?.limit_name]).toEqual([429, 'tokens_per_minute']);
    expect(await left(tested)).toMatchObject({ 'key requests_in_flight': 1 });
  });
  it('of a prompt that was on its way are used, although its client has left', async () => {
    const tested = gateway({ key: { tokensPerMinute: 10_000 } });
    tested.upstream.answer({ instead: 'hang' });
    const client = new AbortController();
    const pending = tested.send({ ...ask, stream: true }, {}, client.signal).catch(() => null);
    await nextTurn();
    client.abort();
    await pending;
    expect(await left(tested)).toEqual({ 'key tokens_per_minute': 10_000 - (held - 100) });
  });
  it('of a request that is refused for something else are free again', async () => {
    const tested = gateway({ key: { tokensPerMinute: 10_000, requestsInFlight: 2 } });
    await tested.manage('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.0000001 });
    expect((await tested.post(ask)).status).toBe(402);
    expect((await tested.post({ ...ask, model: 'no/model' })).status).toBe(400);
    expect(await left(tested)).toEqual({ 'key tokens_per_minute': 10_000, 'key requests_in_flight': 2 });
  });
});

describe('a place in flight', () => {
  const limits: Limits = { key: { requestsInFlight: 1 } };
  const free = { 'key requests_in_flight': 1 };

  it('is taken until the last byte', async () => {
    const tested = gateway(limits);
    const { upstream, send, post, run } = tested;
    upstream.answer({ body: [textStream('Hi')[0] as string, { waitMs: 5_000 }, ...textStream('there')] });
    const response = await run(send({ ...ask, stream: true }));
    const { status, headers, json: body } = await post(ask);
    expect([status, headers.get('retry-after'), body.error.metadata?.limit_name]).toEqual([
      429,
      '1',
      'requests_in_flight',
    ]);
    await run(response.text());
    expect(await left(tested)).toEqual(free);
    expect((await post(ask)).status).toBe(200);
  });
  it.each<[string, (tested: TenantGateway) => Promise<unknown>]>([
    [
      'the provider fails',
      async ({ upstream, post }) => {
        upstream.answer({ status: 500, body: errorBody('No') });
        expect((await post(ask)).status).toBe(502);
      },
    ],
    [
      'a stream is cut',
      async ({ upstream, post }) => {
        upstream.answer({ body: [textStream('Hi')[0] as string, { breaks: true }] });
        await post({ ...ask, stream: true });
      },
    ],
    [
      'the deadline passes',
      async ({ upstream, post }) => {
        upstream.answer({ instead: 'hang' });
        expect((await post(ask, { 'x-service-timeout-ms': '500' })).status).toBe(408);
      },
    ],
    [
      'the client leaves before the first byte',
      async ({ upstream, send }) => {
        upstream.answer({ instead: 'hang' });
        const client = new AbortController();
        const pending = send(ask, {}, client.signal).catch(() => null);
        await nextTurn();
        client.abort();
        await pending;
      },
    ],
    [
      'the client leaves a stream',
      async ({ upstream, send, run }) => {
        upstream.answer({ body: [textStream('Hi')[0] as string, { hangs: true }] });
        const response = await run(send({ ...ask, stream: true }));
        const reader = response.body?.getReader();
        await reader?.read();
        await reader?.cancel();
      },
    ],
    [
      'the client never comes for the stream',
      async ({ upstream, send, run }) => {
        upstream.answer({ body: [textStream('Hi')[0] as string, { hangs: true }] });
        const response = await run(send({ ...ask, stream: true }));
        await response.body?.cancel();
      },
    ],
  ])('is given back once when %s', async (_, story) => {
    const tested = gateway(limits, { retry: { maxAttempts: 1 } });
    await story(tested);
    await nextTurn();
    expect(await left(tested)).toEqual(free);
    expect((await tested.post(ask)).status).toBe(200);
  });
});

describe('what counts', () => {
  it('are calls for a completion and explanations: no listing, no management', async () => {
    const tested = gateway({ workspace: { requestsPerMinute: 2 } });
    for (let n = 0; n < 5; n++) {
      expect((await tested.manage('GET', '/models')).status).toBe(200);
      expect((await tested.manage('GET', '/keys')).status).toBe(200);
    }
    expect(await left(tested)).toEqual({ 'workspace requests_per_minute': 2 });
  });
  it('are calls through a credential of the workspace as well', async () => {
    const secrets = { current: 'a master secret of the tests, which is long enough' };
    const providers = { groq: { baseUrl: 'https://groq.test/v1', byok: true } };
    const tested = gateway(
      { workspace: { requestsPerMinute: 9, tokensPerMinute: 9_000 } },
      { secrets, providers, models: [] },
    );
    await tested.call('POST', '/byok', { provider: 'groq', key: 'gsk-0123456789012345' });
    const { status, records } = { ...(await tested.post({ ...ask, model: 'groq/llama' })), records: tested.records };
    expect([status, records[0]?.attempts[0]?.isByok]).toEqual([200, true]);
    expect(await left(tested)).toEqual({
      'workspace requests_per_minute': 8,
      'workspace tokens_per_minute': 9_000 - used,
    });
  });
  it('is one workspace by itself, with limits of its own where the options name it', async () => {
    const ids = [crypto.randomUUID() as string as WorkspaceId, crypto.randomUUID() as string as WorkspaceId] as const;
    const apiKeys = ids.map((workspaceId, at) => ({ key: `sk-of-workspace-${at}`, workspaceId }));
    const tested = gateway(
      { workspace: { requestsPerMinute: 1 }, workspaces: { [ids[1]]: { requestsPerMinute: 2 } } },
      { apiKeys },
    );
    const statuses = async (at: number) => {
      const all: number[] = [];
      for (let n = 0; n < 3; n++) all.push((await tested.post(ask, bearer(`sk-of-workspace-${at}`))).status);
      return all;
    };
    expect([await statuses(0), await statuses(1)]).toEqual([
      [200, 429, 429],
      [200, 200, 429],
    ]);
  });
  it('is the workspace alone where the host app authenticates its own users', async () => {
    const { post } = gateway(
      { key: { requestsPerMinute: 1 }, workspace: { requestsPerMinute: 2 } },
      { authenticate: () => ({ permissions: ['inference'] }) },
    );
    const statuses = [await post(ask), await post(ask), await post(ask)].map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 429]);
  });
});

describe('the limits of a key', () => {
  const fields = { requests_per_minute: 1, tokens_per_minute: 5_000, requests_in_flight: 2 };
  const none = { requests_per_minute: null, tokens_per_minute: null, requests_in_flight: null };

  it('are its own where it has some, else those of the options; each by itself', async () => {
    const tested = gateway({ key: { requestsPerMinute: 4, requestsInFlight: 7 } });
    const { key, hash } = await tested.key({ requests_per_minute: 9, tokens_per_minute: 5_000 });
    expect((await tested.manage('GET', `/keys/${hash}`)).json.data).toMatchObject({
      ...none,
      requests_per_minute: 9,
      tokens_per_minute: 5_000,
    });
    expect((await tested.manage('GET', '/key', undefined, key)).json.data).toMatchObject({
      rate_limits: [
        { scope: 'key', name: 'requests_per_minute', limit: 9, remaining: 9, reset_seconds: 0 },
        { scope: 'key', name: 'tokens_per_minute', limit: 5_000, remaining: 5_000, reset_seconds: 0 },
        { scope: 'key', name: 'requests_in_flight', limit: 7, remaining: 7, reset_seconds: null },
      ],
      rate_limit: { requests: 9, interval: '1m' },
    });
  });
  it('are changed by PATCH, at once; null removes them', async () => {
    const tested = gateway();
    const { key, hash } = await tested.key(fields);
    const statuses = async () => [
      (await tested.post(ask, bearer(key))).status,
      (await tested.post(ask, bearer(key))).status,
    ];
    expect(await statuses()).toEqual([200, 429]);
    const patched = await tested.manage('PATCH', `/keys/${hash}`, { requests_per_minute: 2 });
    expect(patched.json.data).toMatchObject({ ...fields, requests_per_minute: 2 });
    expect(await statuses()).toEqual([200, 429]);
    expect((await tested.manage('PATCH', `/keys/${hash}`, none)).json.data).toMatchObject(none);
    expect(await statuses()).toEqual([200, 200]);
  });
  it.each([0, -1, 1.5, 1_000_000_001, '5', true])('are whole numbers from one on: not %j', async (value) => {
    const { manage } = gateway();
    for (const field of Object.keys(fields)) {
      const { status, json: body } = await manage('POST', '/keys', { name: 'x', [field]: value });
      expect([status, body.error.message]).toEqual([400, expect.stringContaining(`${field}: expected`)]);
    }
  });
  it('can be given by the host app', async () => {
    const { gateway: made, post } = gateway({}, { store: new Keyv() });
    const { key, record } = await made.apiKeys.create({ requestsPerMinute: 1 });
    expect(record).toMatchObject({ requestsPerMinute: 1, tokensPerMinute: null, requestsInFlight: null });
    expect([(await post(ask, bearer(key))).status, (await post(ask, bearer(key))).status]).toEqual([200, 429]);
  });
});

describe('a caller who manages one workspace alone', () => {
  async function tenant(limits: Limits = {}) {
    const tested = gateway(limits);
    const { key: own } = await tested.key({ permissions: ['management', 'inference'] });
    return { ...tested, own };
  }

  it('lowers the limits of its keys, and neither raises nor removes what an operator has set', async () => {
    const { key, manage, own } = await tenant();
    const { hash } = await key({ requests_per_minute: 10, requests_in_flight: 5 });
    const patch = async (body: object) => (await manage('PATCH', `/keys/${hash}`, body, own)).status;
    expect(await patch({ requests_per_minute: 11 })).toBe(403);
    expect(await patch({ requests_per_minute: null })).toBe(403);
    expect(await patch({ requests_per_minute: 4, requests_in_flight: 6 })).toBe(403);
    expect((await manage('GET', `/keys/${hash}`)).json.data).toMatchObject({
      requests_per_minute: 10,
      requests_in_flight: 5,
    });
    expect(await patch({ requests_per_minute: 10, tokens_per_minute: 100 })).toBe(200);
    expect(await patch({ requests_per_minute: 4 })).toBe(200);
    expect(await patch({ requests_per_minute: 11 })).toBe(403);
    // What it has lowered itself, it raises again.
    expect(await patch({ requests_per_minute: 9, tokens_per_minute: null })).toBe(200);
    expect(await patch({ name: 'Other' })).toBe(200);
    expect((await manage('PATCH', `/keys/${hash}`, { requests_per_minute: 50 })).status).toBe(200);
  });
  it('makes keys within the limits of the options, and lifts none of them', async () => {
    const { manage, own } = await tenant({ key: { requestsPerMinute: 10 } });
    const make = async (body: object) => (await manage('POST', '/keys', { name: 'x', ...body }, own)).status;
    expect(await make({ requests_per_minute: 11 })).toBe(403);
    expect(await make({ requests_per_minute: 10, tokens_per_minute: 1_000_000 })).toBe(201);
    expect(await make({ requests_per_minute: null })).toBe(201);
    const { hash } = (await manage('POST', '/keys', { name: 'x', requests_per_minute: 3 }, own)).json.data;
    const { status, json: body } = await manage('PATCH', `/keys/${hash}`, { requests_per_minute: 12 }, own);
    expect([status, body.error.message]).toEqual([
      403,
      'requests_per_minute: expected at most 10: an operator has set this limit',
    ]);
    expect((await manage('PATCH', `/keys/${hash}`, { requests_per_minute: null }, own)).status).toBe(200);
    expect((await manage('POST', '/keys', { name: 'x', requests_per_minute: 99 })).status).toBe(201);
  });

  it('makes keys within the limits of its own key', async () => {
    const { key, manage } = gateway({ key: { requestsPerMinute: 100 } });
    const limited = await key({ permissions: ['management'], requests_per_minute: 10, requests_in_flight: 2 });
    const make = async (body: object) => (await manage('POST', '/keys', { name: 'x', ...body }, limited.key)).status;
    expect(await make({})).toBe(403);
    expect(await make({ requests_per_minute: 10 })).toBe(403);
    expect(await make({ requests_per_minute: 10, requests_in_flight: 3 })).toBe(403);
    expect(await make({ requests_per_minute: 10, requests_in_flight: 2 })).toBe(201);
  });
});

describe('instances that share a store', () => {
  const folder = mkdtempSync(join(tmpdir(), 'model-gateway-rate-limits-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('admit together what one would admit', async () => {
    const path = join(folder, 'shared.db');
    const stores = [sqliteStore(path), sqliteStore(path)];
    const limits: Limits = { key: { requestsPerMinute: 7, tokensPerMinute: 100_000, requestsInFlight: 100 } };
    const both = stores.map((store) =>
      testGateway({ store, rateLimits: limits, ids: randomIds, storeTimeoutMs: 60_000 }),
    );
    for (const { upstream } of both) upstream.always({ body: completion() });
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) => both[n % 2]?.send(ask) as Promise<Response>),
    );
    await Promise.all(answers.map((answer) => answer.text()));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(7);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(23);
    const shown = await Promise.all(
      both.map(({ gateway: one }) => one.fetch('http://x/v1/key', { headers: bearer(testKey) })),
    );
    for (const response of shown)
      expect((await response.json()).data.rate_limits).toMatchObject([
        { remaining: 0 },
        { remaining: 100_000 - 7 * used },
        { remaining: 100 },
      ]);
    for (const { gateway: one } of both) await one.close();
    for (const store of stores) await store.disconnect();
  });
  it('two gateways of one process on one Keyv count together', async () => {
    const store = new Keyv();
    const both = [0, 1].map(() => gateway({ key: { requestsPerMinute: 3 } }, { store, ids: randomIds }));
    const statuses: number[] = [];
    for (let n = 0; n < 6; n++) statuses.push((await (both[n % 2] as TenantGateway).post(ask)).status);
    expect(statuses).toEqual([200, 200, 200, 429, 429, 429]);
  });
});

describe('a store that does not respond', () => {
  /** Works until it is told to fail. */
  function failing() {
    const store = sqliteStore(':memory:');
    const { database } = store;
    let fails = false;
    const transact: typeof database.transact = (work) =>
      fails ? Promise.reject(new Error('connection lost')) : database.transact(work);
    return {
      store: Object.assign(Object.create(store), {
        database: {
          ...database,
          prepare: database.prepare,
          define: database.define,
          read: database.read,
          transact,
          isShared: true,
        },
      }),
      fail: () => {
        fails = true;
      },
    };
  }

  it.each<['refuse' | 'allow', number]>([
    ['refuse', 503],
    ['allow', 200],
  ])('%s: requests that are limited are %d', async (onStoreFailure, status) => {
    const { store, fail } = failing();
    const { post, upstream } = gateway(
      { key: { requestsPerMinute: 1, requestsInFlight: 1 }, onStoreFailure },
      { store },
    );
    expect((await post(ask)).status).toBe(200);
    expect((await post(ask)).status).toBe(429);
    fail();
    const answer = await post(ask);
    expect(answer.status).toBe(status);
    expect(upstream.sent).toHaveLength(status === 200 ? 2 : 1);
    if (status === 503) expect(answer.headers.get('retry-after')).toBe('1');
  });
});

describe('an explanation', () => {
  it.each(['/chat/completions/explain', '/responses/explain'])(
    'counts as a request, not as tokens: %s',
    async (path) => {
      const tested = gateway({ key: { requestsPerMinute: 2, tokensPerMinute: 1_000, requestsInFlight: 5 } });
      const { call } = tested;
      const body = path.startsWith('/chat') ? ask : { model: 'acme/fast', input: 'Hello', max_output_tokens: 100 };
      const answers = await Promise.all(Array.from({ length: 3 }, () => call('POST', path, body)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 429]);
      for (const { status, json } of answers) if (status === 429) checkError(429, json);
      expect(await left(tested)).toMatchObject({ 'key tokens_per_minute': 1_000, 'key requests_in_flight': 5 });
    },
  );
});
