import { describe, expect, it } from 'vitest';
import { openaiChat } from '../../src/dialects/openai-chat/index.ts';
import { clientCredentials } from '../../src/providers/keys/client-credentials.ts';
import { defineProvider } from '../../src/providers/provider.ts';
import { hello, testGateway, testPricing } from '../support/gateway.ts';
import { tokenEndpoint, tokenNumber } from '../support/token-endpoint.ts';
import { completion, errorBody, textStream } from '../support/upstream.ts';

const alt = { baseUrl: 'https://alt.test/v1', apiKey: 'sk-alt-0123456789', name: 'Alt' };
const secret = 's3cr3t-of-the-client';
const models = [
  { slug: 'acme/one', endpoints: [{ provider: 'own', model: 'm', pricing: testPricing }] },
  {
    slug: 'acme/two',
    endpoints: [
      { provider: 'own', model: 'm', pricing: testPricing },
      { provider: 'alt', model: 'm', pricing: testPricing },
    ],
  },
];
const refusal = { status: 401, body: errorBody('The token is not valid') };
const ask = { model: 'acme/one', messages: hello };

type ApiKey = NonNullable<Parameters<typeof defineProvider>[0]['apiKey']>;

function withKey(apiKey: ApiKey) {
  const logged: [object, string][] = [];
  const log = (...line: [object, string]) => void logged.push(line);
  const own = { baseUrl: 'https://own.test/v1', apiKey, name: 'Own', headers: { 'x-team': 'blue' } };
  const tested = testGateway({
    providers: { own, alt },
    models,
    logger: { info: () => undefined, error: log, warn: log },
  });
  return { ...tested, logged };
}

/** A gateway whose provider `own` takes tokens of client credentials. */
function withTokens(options: object = {}) {
  let key: ReturnType<typeof clientCredentials> = () => '';
  const tested = withKey((asked) => key(asked));
  const { clock } = tested;
  const endpoint = tokenEndpoint(clock);
  const given = { tokenUrl: 'https://auth.test/token', clientId: 'id', clientSecret: secret, clock };
  key = clientCredentials({ ...given, fetch: endpoint.fetch, ...options });
  return { ...tested, endpoint };
}

const bearers = (sent: readonly { headers: Record<string, string> }[]) =>
  sent.map(({ headers }) => headers.authorization?.replace('Bearer ', ''));

describe('client credentials', () => {
  it('cost 100 requests at once one call of the token endpoint', async () => {
    const { send, run, upstream, endpoint } = withTokens();
    endpoint.answer({ afterMs: 300 });
    upstream.always({ body: completion() });
    const statuses = await run(Promise.all(Array.from({ length: 100 }, async () => (await send(ask)).status)));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(endpoint.calls).toHaveLength(1);
    expect(new Set(bearers(upstream.sent))).toEqual(new Set([tokenNumber(1)]));
    expect(upstream.sent[0]?.headers['x-team']).toBe('blue');
  });
  it('are renewed once for all requests that the provider refused, each of which is served', async () => {
    const { send, run, post, upstream, endpoint, records, logged, gateway } = withTokens();
    upstream.answer({ body: completion() });
    await post(ask);
    upstream.answer(...Array.from({ length: 5 }, () => ({ ...refusal, afterMs: 50 })));
    upstream.always({ body: completion() });
    const statuses = await run(Promise.all(Array.from({ length: 5 }, async () => (await send(ask)).status)));
    expect(statuses).toEqual([200, 200, 200, 200, 200]);
    expect(endpoint.calls).toHaveLength(2);
    expect(bearers(upstream.sent.slice(6))).toEqual(Array.from({ length: 5 }, () => tokenNumber(2)));
    expect(records[1]?.attempts.map(({ status, costNanoUsd }) => [status, costNanoUsd])).toEqual([
      [401, 0],
      [200, 0],
    ]);
    expect([logged, gateway.state().cooldowns]).toEqual([[], 0]);
  });
  it('that the provider refuses again are the failure that they are', async () => {
    const { post, upstream, endpoint, gateway, logged } = withTokens();
    upstream.answer(refusal, refusal);
    const { status, json } = await post(ask);
    expect([status, json.error.metadata?.error_type]).toEqual([502, 'provider_credentials']);
    expect([upstream.sent.length, endpoint.calls.length]).toEqual([2, 2]);
    expect(logged.map(([, message]) => message)).toContain('provider refused the key');
    expect(gateway.state().cooldowns).toBe(1);
    expect((await post(ask)).status).toBe(503);
    expect(endpoint.calls).toHaveLength(2);
  });
  it('that cannot be had go to the next target; log and record name the host, the caller sees no more than the provider', async () => {
    const { post, upstream, endpoint, records, logged } = withTokens();
    endpoint.answer({ status: 401, body: { error: 'invalid_client', error_description: secret } });
    upstream.always({ body: completion() });
    expect((await post({ ...ask, model: 'acme/two' })).json.provider).toBe('Alt');
    const failure = 'The token endpoint auth.test answered with status 401 (invalid_client)';
    expect(records[0]?.attempts[0]).toMatchObject({
      status: 502,
      errorType: 'provider_credentials',
      failure,
      costNanoUsd: 0,
    });
    expect(logged[0]).toEqual([{ provider: 'own', reason: failure }, 'The auth of a provider failed']);
    const { status, json, text } = await post(ask);
    expect([status, json.error.metadata?.error_type]).toEqual([503, 'cooldown']);
    expect(text + JSON.stringify([records, logged])).not.toContain(secret);
  });
  it('whose endpoint is down, then up, are back as soon as it is asked again', async () => {
    const { post, upstream, endpoint, clock } = withTokens();
    endpoint.answer({ instead: 'refuse' });
    upstream.always({ body: completion() });
    const { status, json } = await post(ask);
    expect([status, json.error.message]).toEqual([502, 'The gateway could not authenticate with Own']);
    expect(json.error.metadata).toMatchObject({ error_type: 'provider_credentials', provider_name: 'Own' });
    const resting = await post(ask);
    expect([resting.status, resting.headers.get('retry-after'), endpoint.calls.length]).toEqual([503, '1', 1]);
    await clock.advance(1_000);
    expect([(await post(ask)).status, endpoint.calls.length]).toEqual([200, 2]);
  });
  it('whose endpoint hangs are given up in time', async () => {
    const { post, endpoint, upstream } = withTokens({ timeoutMs: 2_000 });
    endpoint.answer({ instead: 'hang' });
    upstream.always({ body: completion() });
    const { json } = await post({ ...ask, model: 'acme/two' });
    expect(json.provider).toBe('Alt');
    expect(endpoint.calls[0]?.isAborted).toBe(true);
  });
  it('are no longer asked for when the only client that waits has left', async () => {
    const { send, run, endpoint, clock } = withTokens();
    endpoint.answer({ instead: 'hang' });
    const client = new AbortController();
    const left = expect(send(ask, {}, client.signal)).rejects.toThrow();
    await clock.advance(0);
    client.abort();
    await run(left);
    expect(endpoint.calls.map(({ isAborted }) => isAborted)).toEqual([true]);
  });
  it('that end before a stream begins are renewed unseen, and the hold is settled once', async () => {
    const { post, upstream, call, records, run } = withTokens();
    await run(call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 1 }));
    upstream.answer(refusal, { body: textStream('Hi', ' there') });
    const { status, text } = await post({ ...ask, stream: true });
    expect([status, text.includes('[DONE]'), text.includes('error')]).toEqual([200, true, false]);
    const { data } = (await run(call('GET', '/workspaces/default/budgets/daily'))).json;
    expect(data.held_usd).toBe(0);
    expect(data.spent_usd * 1e9).toBeCloseTo(records[0]?.costNanoUsd as number);
    expect(records[0]?.generations).toHaveLength(1);
  });
  it('are redacted where the provider repeats a token', async () => {
    const { post, upstream, records } = withTokens();
    upstream.answer({ status: 400, body: errorBody(`bad header Bearer ${tokenNumber(1)}`) });
    const { text } = await post(ask);
    expect(text + JSON.stringify(records)).not.toContain(tokenNumber(1));
  });
});

describe('a key function', () => {
  it('is called for each attempt, and its key is sent as the provider wants it', async () => {
    let number = 0;
    const { post, upstream } = withKey(() => ` key-${++number}-0123456789\n`);
    upstream.always({ body: completion() });
    await post(ask);
    await post(ask);
    expect(bearers(upstream.sent)).toEqual(['key-1-0123456789', 'key-2-0123456789']);
  });
  it('that returns the same key after a 401 has no other: the refusal stands', async () => {
    const asked: unknown[] = [];
    const { post, upstream } = withKey(async ({ refused }) => {
      asked.push(refused);
      return 'key-0123456789';
    });
    upstream.answer(refusal);
    expect((await post(ask)).status).toBe(502);
    expect([asked, upstream.sent.length]).toEqual([[undefined, 'key-0123456789'], 1]);
  });
  it('that throws while it is asked for another key leaves the refusal as it is', async () => {
    const { post, upstream, logged } = withKey(({ refused }) => {
      if (refused !== undefined) throw new Error(`no other than ${refused}`);
      return 'key-0123456789';
    });
    upstream.answer(refusal);
    const { status, json } = await post(ask);
    expect([status, json.error.message]).toEqual([502, "Own refused the gateway's own credentials"]);
    expect(logged[0]?.[0]).toEqual({ provider: 'own', reason: 'Error: no other than [redacted]' });
  });
  it.each<[string, ApiKey]>([
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no'))],
    [
      'throws no error',
      () => {
        throw null;
      },
    ],
    ['returns nothing', () => undefined as never],
    ['returns an empty key', () => ''],
    ['returns a key of two lines', async () => 'a\nb'],
    ['never ends', () => new Promise<string>(() => undefined)],
  ])('that %s is followed by the next target', async (_, apiKey) => {
    const { post, upstream, logged } = withKey(apiKey);
    upstream.always({ body: completion() });
    expect((await post({ ...ask, model: 'acme/two' })).json.provider).toBe('Alt');
    expect(logged[0]).toEqual([{ provider: 'own', reason: expect.any(String) }, 'The auth of a provider failed']);
  });
  it('says how long to leave its provider alone, for every workspace', async () => {
    let calls = 0;
    const { post, clock, upstream } = withKey(() => {
      calls++;
      throw Object.assign(new Error('later'), { retryAfterMs: 7_000 });
    });
    upstream.always({ body: completion() });
    expect((await post(ask)).status).toBe(502);
    expect((await post(ask)).headers.get('retry-after')).toBe('7');
    await clock.advance(7_000);
    await post(ask);
    expect(calls).toBe(2);
  });
  it('works for a provider in code and for one whose credentials have parts', async () => {
    const acme = defineProvider({
      slug: 'acme',
      baseUrl: 'https://acme.test/v1',
      dialect: openaiChat,
      apiKey: () => 'key-of-acme-1',
      env: ['ACME_KEY'],
    });
    const { post, upstream } = testGateway({
      providers: {
        acme,
        cloudflare: { apiKey: async () => 'key-of-cloudflare', credential: { accountId: 'a'.repeat(32) } },
      },
      // With a price, so that no list of prices is loaded meanwhile.
      models: [{ slug: 'acme/flare', endpoints: [{ provider: 'cloudflare', model: 'm', pricing: testPricing }] }],
    });
    upstream.always({ body: completion() });
    expect((await post({ ...ask, model: 'acme/m' })).status).toBe(200);
    expect((await post({ ...ask, model: 'acme/flare' })).status).toBe(200);
    expect(bearers(upstream.sent)).toEqual(['key-of-acme-1', 'key-of-cloudflare']);
    expect(upstream.sent[1]?.url).toContain('a'.repeat(32));
  });
});
