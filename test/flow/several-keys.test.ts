import { describe, expect, it } from 'vitest';
import { openaiChat } from '../../src/dialects/openai-chat/index.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { defineProvider, inHeader } from '../../src/providers/provider.ts';
import { hello, managementKey, testGateway, testPricing } from '../support/gateway.ts';
import { completion, errorBody, textStream } from '../support/upstream.ts';

const keyA = 'sk-first-0123456789';
const keyB = 'sk-second-0123456789';
const limited = { status: 429, headers: { 'retry-after': '30' }, body: errorBody('Slow down') };
const refused = { status: 401, body: errorBody('Wrong key') };
const ok = { body: completion() };
const ask = { model: 'acme/one', messages: hello };
const both = { ...ask, model: 'acme/both' };

type Own = NonNullable<NonNullable<GatewayOptions['providers']>[string]>;

function withKeys(own: object = {}, options: Partial<GatewayOptions> = {}) {
  const warnings: [object, string][] = [];
  const pricing = testPricing;
  const tested = testGateway({
    providers: {
      own: {
        baseUrl: 'https://own.test/v1',
        name: 'Own',
        apiKeys: [keyA, { key: keyB, label: 'team-b' }],
        ...own,
      } as Own,
      alt: { baseUrl: 'https://alt.test/v1', apiKey: 'sk-alt-0123456789', name: 'Alt' },
    },
    models: [
      { slug: 'acme/one', endpoints: [{ provider: 'own', model: 'm', pricing }] },
      { slug: 'acme/other', endpoints: [{ provider: 'own', model: 'other', pricing }] },
      {
        slug: 'acme/both',
        endpoints: [
          { provider: 'own', model: 'm', pricing },
          { provider: 'alt', model: 'm', pricing },
        ],
      },
    ],
    logger: { info: () => undefined, error: () => undefined, warn: (...line) => void warnings.push(line) },
    ...options,
  });
  const keys = () =>
    tested.upstream.sent
      .map(({ headers: { authorization } }) =>
        authorization === `Bearer ${keyA}` ? 'A' : authorization === `Bearer ${keyB}` ? 'B' : '?',
      )
      .join('');
  return { ...tested, keys, warnings };
}

describe('a provider with several keys', () => {
  it.each([
    ['order', 'AAAA'],
    ['round-robin', 'ABAB'],
    [undefined, 'ABAB'],
    ['least-loaded', 'ABAB'],
  ])('uses them by the strategy %s', async (keyStrategy, expected) => {
    const { post, upstream, keys } = withKeys(keyStrategy === undefined ? {} : { keyStrategy });
    upstream.always(ok);
    for (let n = 0; n < 4; n++) expect((await post(ask)).status).toBe(200);
    expect(keys()).toBe(expected);
  });
  it('gives a request to the key with the fewest in flight', async () => {
    const { post, send, clock, upstream, keys, run } = withKeys({ keyStrategy: 'least-loaded' });
    upstream.answer({ ...ok, afterMs: 5_000 });
    const slow = send(ask);
    await clock.advance(0);
    upstream.answer(ok, ok, ok);
    for (let n = 0; n < 3; n++) await post(ask);
    expect(keys()).toBe('ABBB');
    await run(slow);
    upstream.answer(ok, ok);
    await post(ask);
    await post(ask);
    expect(keys().slice(4).split('').toSorted().join('')).toBe('AB');
  });
  it('shares 10 requests at once evenly', async () => {
    for (const keyStrategy of ['round-robin', 'least-loaded']) {
      const { send, run, upstream, keys } = withKeys({ keyStrategy });
      upstream.always({ ...ok, afterMs: 100 });
      await run(Promise.all(Array.from({ length: 10 }, () => send(ask))));
      expect(keys().split('').toSorted().join('')).toBe('AAAAABBBBB');
    }
  });
  it('tries the next key at once where one is rate limited, and leaves that one alone for its Retry-After', async () => {
    const { post, clock, upstream, keys, gateway, records } = withKeys({ keyStrategy: 'order' });
    const startedMs = clock.now();
    upstream.answer(limited, ok, ok, ok);
    expect((await post(ask)).status).toBe(200);
    expect([keys(), clock.now()]).toEqual(['AB', startedMs]);
    expect(records[0]?.attempts.map(({ status, key }) => [status, key])).toEqual([
      [429, 'key-1'],
      [200, 'team-b'],
    ]);
    expect(gateway.state().inCooldown).toEqual([
      {
        endpoint: 'own',
        model: 'm',
        credentialId: null,
        key: 'key-1',
        workspaceId: expect.any(String),
        until: new Date(startedMs + 30_000).toISOString(),
      },
    ]);
    await post(ask);
    expect(keys()).toBe('ABB');
    await clock.advance(30_000);
    await post(ask);
    expect(keys()).toBe('ABBA');
  });
  it('is in cooldown when all of its keys are, until the first of them is back', async () => {
    const { post, clock, upstream } = withKeys();
    upstream.answer(limited, { ...limited, headers: { 'retry-after': '12' } });
    const { status, headers } = await post(ask);
    expect([status, headers.get('retry-after')]).toEqual([429, '12']);
    const resting = await post(ask);
    expect([resting.status, resting.headers.get('retry-after'), resting.json.error.metadata?.error_type]).toEqual([
      503,
      '12',
      'cooldown',
    ]);
    await clock.advance(12_000);
    upstream.answer(ok);
    expect((await post(ask)).status).toBe(200);
    // The other model has limits of its own.
    upstream.answer(ok);
    expect((await post({ ...ask, model: 'acme/other' })).status).toBe(200);
  });
  it('goes to another endpoint when all of its keys are limited', async () => {
    const { post, upstream } = withKeys();
    upstream.answer(limited, limited, ok, ok);
    expect((await post(both)).json.provider).toBe('Alt');
    expect((await post(both)).json.provider).toBe('Alt');
    expect(upstream.sent).toHaveLength(4);
  });
  it('waits for the pause where the last key is limited for a short time, and nothing else is left', async () => {
    const { post, clock, upstream, keys } = withKeys({ keyStrategy: 'order' });
    const startedMs = clock.now();
    const short = { ...limited, headers: { 'retry-after': '2' } };
    upstream.answer(short, short, ok);
    expect((await post(ask)).status).toBe(200);
    expect([keys(), clock.now() - startedMs]).toEqual(['ABB', 2000]);
  });
  it('leaves a key alone after a 429 without Retry-After for retry.keyCooldownMs', async () => {
    const { post, clock, upstream, keys } = withKeys({ keyStrategy: 'order' }, { retry: { keyCooldownMs: 3_000 } });
    upstream.answer({ ...limited, headers: {} });
    upstream.always(ok);
    await post(ask);
    await clock.advance(2_999);
    await post(ask);
    await clock.advance(1);
    await post(ask);
    expect(keys()).toBe('ABBA');
  });
  it('leaves a refused key alone for all workspaces, names it masked, and is well', async () => {
    const { post, upstream, keys, warnings, gateway, clock } = withKeys({ keyStrategy: 'order' });
    upstream.answer(refused);
    upstream.always(ok);
    for (let n = 0; n < 3; n++) expect((await post(ask)).status).toBe(200);
    expect(keys()).toBe('ABBB');
    const [fields, message] = warnings.find(([, text]) => text === 'provider refused the key') ?? [];
    expect([message, fields]).toEqual([
      'provider refused the key',
      expect.objectContaining({ label: 'key-1', status: 401 }),
    ]);
    expect(JSON.stringify(warnings)).not.toContain(keyA);
    expect(gateway.state().inCooldown).toMatchObject([{ key: 'key-1', workspaceId: null }]);
    await clock.advance(60_000);
    await post(ask);
    expect(keys()).toBe('ABBBA');
  });
  it('is asked with the same key again after a failure of the server, and then at the next endpoint', async () => {
    const { post, upstream, keys } = withKeys({ keyStrategy: 'order' });
    upstream.answer({ status: 503, body: errorBody('No') }, { status: 503, body: errorBody('No') }, ok);
    expect((await post(both)).json.provider).toBe('Alt');
    expect(keys()).toBe('AA?');
  });
  it('is in cooldown with all keys after failures of the server in a row', async () => {
    const { post, upstream } = withKeys({}, { retry: { maxAttempts: 1 }, health: { failuresToCooldown: 2 } });
    upstream.answer({ status: 500, body: errorBody('No') }, { status: 500, body: errorBody('No') });
    await post(ask);
    await post(ask);
    expect((await post(ask)).status).toBe(503);
    expect(upstream.sent).toHaveLength(2);
  });
  it.each([
    ['a session', { session_id: 's-1' }],
    ['a cache key', { prompt_cache_key: 'c-1' }],
    ['a user', { user: 'u-1' }],
  ])('serves %s with one key while that is well', async (_, name) => {
    const { post, upstream, keys, clock } = withKeys();
    upstream.answer(ok, ok, ok, limited, ok, ok);
    upstream.always(ok);
    for (let n = 0; n < 3; n++) await post({ ...ask, ...name });
    const [first, , third] = keys();
    expect(third).toBe(first);
    const other = first === 'A' ? 'B' : 'A';
    await post({ ...ask, ...name });
    await post({ ...ask, ...name });
    expect(keys()).toBe(`${first?.repeat(4)}${other.repeat(2)}`);
    await clock.advance(30_000);
    await post({ ...ask, ...name });
    expect(keys().at(-1)).toBe(first);
  });
  it('spreads sessions over its keys', async () => {
    const { post, upstream, keys } = withKeys();
    upstream.always(ok);
    for (let n = 0; n < 20; n++) await post({ ...ask, session_id: `session ${n}` });
    expect(new Set(keys())).toEqual(new Set('AB'));
  });
  it('serves a stream with the second key when the first fails before the first byte, and settles the hold once', async () => {
    const { post, upstream, call, records, keys } = withKeys({ keyStrategy: 'order' });
    await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 1 });
    upstream.answer(limited, { body: textStream('Hi', ' there') });
    const { text } = await post({ ...ask, stream: true });
    expect([text.includes('[DONE]'), keys()]).toEqual([true, 'AB']);
    const { data } = (await call('GET', '/workspaces/default/budgets/daily')).json;
    expect([data.held_usd, Math.round(data.spent_usd * 1e9)]).toEqual([0, records[0]?.costNanoUsd]);
    expect(records[0]?.attempts.map(({ costNanoUsd }) => costNanoUsd)[0]).toBe(0);
  });
  it('no longer counts a stream whose client has left', async () => {
    const { send, post, upstream, keys, run, clock } = withKeys({ keyStrategy: 'least-loaded' });
    upstream.answer({ body: [textStream('Hi')[0] as string, { waitMs: 60_000 }] });
    const client = new AbortController();
    const response = await run(send({ ...ask, stream: true }, {}, client.signal));
    const reader = response.body?.getReader();
    await run(reader?.read() as Promise<unknown>);
    upstream.always(ok);
    await post(ask);
    await post(ask);
    expect(keys()).toBe('ABB');
    client.abort();
    await reader?.cancel().catch(() => undefined);
    await clock.advance(0);
    await post(ask);
    await post(ask);
    expect(keys().slice(3).split('').toSorted().join('')).toBe('AB');
  });
  it('shows each endpoint once in the metadata, and each key in an explanation, which takes no turn', async () => {
    const { post, upstream, call, keys } = withKeys();
    const explained = await call('POST', '/chat/completions/explain', ask);
    expect(
      explained.json.data.candidates.map(({ provider, key }: { provider: string; key: string }) => [provider, key]),
    ).toEqual([
      ['own', 'key-1'],
      ['own', 'team-b'],
    ]);
    upstream.answer(limited, ok);
    const { json } = await post(ask, { 'x-service-metadata': 'enabled' });
    expect(json.service_metadata?.endpoints).toMatchObject({
      total: 1,
      available: [{ provider: 'Own', selected: true }],
    });
    expect(keys()).toBe('AB');
  });
  it('tries the next key also for a request that allows no fallbacks', async () => {
    const { post, upstream, keys } = withKeys({ keyStrategy: 'order' });
    upstream.answer(limited, ok);
    expect((await post({ ...both, provider: { allow_fallbacks: false } })).status).toBe(200);
    upstream.answer(limited);
    expect((await post({ ...both, provider: { allow_fallbacks: false } })).status).toBe(429);
    expect(keys()).toBe('ABB');
  });
  it('renews a key of a function once before it tries the next key', async () => {
    const token = ({ refused: old }: { refused?: string | undefined }) => (old === undefined ? keyA : keyB);
    const { post, upstream, keys } = withKeys({ keyStrategy: 'order', apiKeys: [token, 'sk-third-0123456789'] });
    upstream.answer(refused, refused, ok);
    expect((await post(ask)).status).toBe(200);
    expect(keys()).toBe('AB?');
  });
  it('uses the next key where the function of one has none', async () => {
    const { post, upstream, keys, gateway } = withKeys({
      keyStrategy: 'order',
      apiKeys: [() => Promise.reject(new Error('down')), keyB],
    });
    upstream.always(ok);
    expect((await post(ask)).status).toBe(200);
    expect(keys()).toBe('B');
    expect(gateway.state().inCooldown).toMatchObject([{ key: 'key-1' }]);
  });
  it('comes after the keys that a workspace brings', async () => {
    const { post, upstream, call, keys, records } = withKeys(
      { byok: true, keyStrategy: 'order' },
      { secrets: { current: 'a-master-secret-of-at-least-32-characters' } },
    );
    const made = await call(
      'POST',
      '/byok',
      { provider: 'own', key: 'sk-brought-0123456789' },
      { authorization: `Bearer ${managementKey}` },
    );
    expect(made.status).toBeLessThan(300);
    upstream.answer(limited, limited, ok);
    expect((await post(ask)).status).toBe(200);
    expect(keys()).toBe('?AB');
    expect(records[0]?.attempts.map(({ isByok, key }) => [isByok, key])).toEqual([
      [true, undefined],
      [false, 'key-1'],
      [false, 'team-b'],
    ]);
  });
});

describe('a provider in code', () => {
  const made = { slug: 'own', baseUrl: 'https://own.test/v1', dialect: openaiChat, auth: inHeader('x-key') };
  it('may have several keys, which its auth gets one at a time', async () => {
    const own = defineProvider({ ...made, apiKeys: [keyA, { key: () => keyB, label: 'b' }], keyStrategy: 'order' });
    const { post, upstream, records } = testGateway({ providers: { own }, models: [] });
    upstream.answer(limited, ok);
    expect((await post({ model: 'own/m', messages: hello })).status).toBe(200);
    expect(upstream.sent.map(({ headers }) => headers['x-key'])).toEqual([keyA, keyB]);
    expect(records[0]?.attempts.map(({ key }) => key)).toEqual(['key-1', 'b']);
  });
  it('refuses a misspelt name, and keys in another form', () => {
    expect(() => defineProvider({ ...made, apiKeys: [] })).toThrow('defineProvider.apiKeys');
    expect(() => defineProvider({ ...made, keyStrategy: 'any' as never })).toThrow('defineProvider.keyStrategy');
    expect(() => defineProvider({ ...made, healthCheck: { pth: '/' } as never })).toThrow(
      'defineProvider.healthCheck.pth',
    );
    const both = defineProvider({ ...made, apiKey: keyA, apiKeys: [keyB] });
    expect(() => testGateway({ providers: { own: both }, models: [] })).toThrow('expected none beside apiKeys');
  });
});

describe('the options of several keys', () => {
  it.each([
    [{ apiKey: keyA }, 'providers.own.apiKey: expected none beside apiKeys'],
    [{ apiKeys: undefined, keyStrategy: 'order' }, 'providers.own.keyStrategy: expected none without apiKeys'],
    [{ apiKeys: [] }, 'providers.own.apiKeys'],
    [{ apiKeys: [keyA, keyA] }, 'providers.own.apiKeys[1]: expected a key that is not in the list yet'],
    [
      { apiKeys: [keyA, { key: keyB, label: 'key-1' }] },
      'providers.own.apiKeys[1].label: expected a label that no other key',
    ],
    [{ apiKeys: [{ key: keyA, lable: 'x' }] }, 'providers.own.apiKeys[0].lable: unknown key'],
    [{ apiKeys: ['%MY_KEY%'] }, 'providers.own.apiKeys[0]: expected the key itself'],
    [{ apiKeys: [keyA, 'two\nlines'] }, 'providers.own.apiKeys[1]: expected a key of visible ASCII'],
    [{ keyStrategy: 'random' }, 'providers.own.keyStrategy: expected one of'],
  ])('%j are refused by name, without a key', (own, message) => {
    let error: unknown = null;
    try {
      withKeys(own);
    } catch (thrown) {
      error = thrown;
    }
    expect(String(error)).toContain(message);
    expect(String(error)).not.toMatch(/0123456789/);
  });
});
