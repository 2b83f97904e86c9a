import { afterEach, describe, expect, it, vi } from 'vitest';
import { openaiChat } from '../../src/dialects/openai-chat/index.ts';
import { type Auth, defineProvider } from '../../src/providers/provider.ts';
import { hello, testGateway, testPricing } from '../support/gateway.ts';
import { completion, errorBody } from '../support/upstream.ts';

const key = 'sk-acme-0123456789-0123456789';
const metadata = { 'x-service-metadata': 'enabled' };
const alt = { baseUrl: 'https://alt.test/v1', apiKey: 'sk-alt-0123456789', name: 'Alt' };
const models = [
  { slug: 'acme/one', endpoints: [{ provider: 'acme', model: 'm', pricing: testPricing }] },
  {
    slug: 'acme/two',
    endpoints: [
      { provider: 'acme', model: 'm', pricing: testPricing },
      { provider: 'alt', model: 'm', pricing: testPricing },
    ],
  },
];

/** A gateway with a provider whose `auth` is given, before another one. */
function withAuth(auth: Auth, baseUrl: Parameters<typeof defineProvider>[0]['baseUrl'] = 'https://acme.test/v1') {
  const warnings: [object, string][] = [];
  const log = () => undefined;
  const acme = defineProvider({ slug: 'acme', name: 'Acme', baseUrl, dialect: openaiChat, apiKey: key, auth });
  const tested = testGateway({
    providers: { acme, alt },
    models,
    logger: { info: log, error: log, warn: (fields, message) => void warnings.push([fields, message]) },
  });
  tested.upstream.always({ body: completion() });
  return { ...tested, warnings };
}

const failing: [string, Auth][] = [
  [
    'throws',
    () => {
      throw new Error(`the token endpoint refused ${key}`);
    },
  ],
  ['rejects', () => Promise.reject(new Error(`the token endpoint refused ${key}`))],
  [
    'throws what is no Error',
    () => {
      throw key;
    },
  ],
  ['throws an error of a caller’s fault', () => Promise.reject(Object.assign(new Error(key), { status: 400 }))],
  ['returns nothing', () => undefined as never],
  ['sets a header to no text', (request) => ({ ...request, headers: { 'x-key': undefined as never } })],
];

describe.each(failing)('an auth that %s', (_, auth) => {
  it('is followed by the next target', async () => {
    const { post, upstream, records } = withAuth(auth);
    const { status, json, text } = await post({ model: 'acme/two', messages: hello }, metadata);
    expect([status, json.provider]).toEqual([200, 'Alt']);
    expect(json.service_metadata?.attempts).toEqual([
      { provider: 'Acme', model: 'acme/two', status: 502 },
      { provider: 'Alt', model: 'acme/two', status: 200 },
    ]);
    expect(upstream.sent.map(({ url }) => url)).toEqual(['https://alt.test/v1/chat/completions']);
    expect(records[0]?.attempts.map((one) => one.status)).toEqual([502, 200]);
    expect(text + JSON.stringify(records)).not.toContain(key);
  });
  it('is a 502 without secrets where nothing else is left, and costs nothing', async () => {
    const { post, records, call } = withAuth(auth);
    await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 1 });
    for (const stream of [false, true]) {
      const { status, json, text } = await post({ model: 'acme/one', messages: hello, stream });
      if (stream) expect(status).toBe(503);
      else {
        expect([status, json.error.message]).toEqual([502, 'The gateway could not authenticate with Acme']);
        expect(json.error.metadata?.provider_name).toBe('Acme');
      }
      expect(text).not.toMatch(/token endpoint|sk-acme/);
    }
    expect(records[0]?.attempts).toHaveLength(1);
    const { data } = (await call('GET', '/workspaces/default/budgets/daily')).json;
    expect([data.spent_usd, data.held_usd]).toEqual([0, 0]);
  });
  it('tells the operator why, without the key', async () => {
    const { post, warnings } = withAuth(auth);
    await post({ model: 'acme/one', messages: hello });
    expect(warnings[0]).toEqual([{ provider: 'acme', reason: expect.any(String) }, 'The auth of a provider failed']);
    expect(JSON.stringify(warnings)).not.toContain(key);
  });
});

describe('an auth', () => {
  it('that never ends is given up', async () => {
    const { post, warnings } = withAuth(() => new Promise(() => {}));
    const { status, json } = await post({ model: 'acme/two', messages: hello });
    expect([status, json.provider]).toEqual([200, 'Alt']);
    expect(warnings[0]?.[0]).toEqual({ provider: 'acme', reason: 'auth took longer than 60000 ms' });
  });
  it('that fails sets the endpoint aside for the workspace alone: its request may be why', async () => {
    const { post, call, upstream } = withAuth((request) => {
      if (String(request.body).includes('unsignable')) throw new Error('no');
      return request;
    });
    const own = (await call('POST', '/workspaces', { name: 'Other', slug: 'other' })).json.data.id;
    const other = (await call('POST', '/keys', { name: 'k', workspace_id: own })).json.key;
    const ask = (text: string, headers?: Record<string, string>) =>
      post({ model: 'acme/one', messages: [{ role: 'user', content: text }] }, headers);
    expect((await ask('unsignable')).status).toBe(502);
    expect((await ask('hello')).status).toBe(503);
    expect((await ask('hello', { authorization: `Bearer ${other}` })).status).toBe(200);
    expect(upstream.sent).toHaveLength(1);
  });
  it('is not asked for another client that has left', async () => {
    const { send, run, records } = withAuth(() => new Promise(() => {}));
    const client = new AbortController();
    const response = send({ model: 'acme/two', messages: hello }, {}, client.signal);
    const left = expect(response).rejects.toThrow();
    client.abort();
    await run(left);
    expect(records.flatMap(({ attempts }) => attempts.map(({ provider }) => provider))).not.toContain('Alt');
  });
  it('may have no address to sign: a baseUrl that throws is the same failure', async () => {
    const { post } = withAuth(
      (request) => request,
      () => {
        throw new Error('no region');
      },
    );
    expect((await post({ model: 'acme/two', messages: hello })).json.provider).toBe('Alt');
  });
});

describe('a provider made in code', () => {
  afterEach(() => void vi.unstubAllEnvs());
  const made = (more: object = {}) =>
    defineProvider({ slug: 'acme', name: 'Acme', baseUrl: 'https://acme.test/v1', dialect: openaiChat, ...more });
  const ask = { model: 'acme/one', messages: hello };
  const [one] = models as [(typeof models)[0]];

  it('is called with its key as a bearer token, which is taken out of what the upstream echoes', async () => {
    const { post, upstream } = testGateway({ providers: { acme: made({ apiKey: key }) }, models: [one] });
    upstream.answer({ body: completion({}, { content: `Bearer ${key}` }) });
    const { text } = await post(ask);
    expect(upstream.sent[0]?.headers.authorization).toBe(`Bearer ${key}`);
    expect(text).not.toContain(key);
  });
  it('finds its key in the first variable that is set', async () => {
    vi.stubEnv('ACME_TOKEN', '');
    vi.stubEnv('ACME_API_KEY', `${key}\n`);
    const env = ['ACME_TOKEN', 'ACME_API_KEY'];
    const { post, upstream } = testGateway({ providers: { acme: made({ env }) }, models: [one] });
    upstream.answer({ body: completion() });
    expect((await post(ask)).status).toBe(200);
    expect(upstream.sent[0]?.headers.authorization).toBe(`Bearer ${key}`);
  });
  it('is not called without the key that it names', async () => {
    vi.stubEnv('ACME_API_KEY', undefined);
    const { post, upstream } = testGateway({ providers: { acme: made({ env: ['ACME_API_KEY'] }) }, models: [one] });
    const { status, json } = await post(ask);
    expect([status, json.error.metadata?.excluded]).toEqual([
      404,
      [{ model: 'acme/one', provider: 'acme', filter: 'credentials' }],
    ]);
    expect(upstream.sent).toEqual([]);
  });
  it('gives its auth the credential with all parts', async () => {
    const auth: Auth = (request, { secret, parts }) => ({
      ...request,
      headers: { 'x-key': `${parts?.user}:${secret}` },
    });
    const credentialShape = {
      parts: { apiKey: { expected: 'a key' }, user: { expected: 'a user', isSecret: false } },
    };
    const acme = made({ auth, credentialShape, apiKey: key, credential: { user: 'me' } });
    const { post, upstream } = testGateway({ providers: { acme }, models: [one] });
    upstream.answer({ body: completion() });
    await post(ask);
    expect(upstream.sent[0]?.headers['x-key']).toBe(`me:${key}`);
    expect(() => testGateway({ providers: { acme: made({ auth, credentialShape, apiKey: key }) } })).toThrow(
      /providers\.acme\.credential\.user: expected a user/,
    );
  });
});

describe('a base address with a query', () => {
  const secret = 'url-secret-0123456789';
  const baseUrl = `https://acme.test/v1/?api-version=2024-10-21&key=${secret}`;
  it.each([
    ['in the options', { baseUrl }],
    ['in code', defineProvider({ slug: 'acme', baseUrl, dialect: openaiChat })],
  ])('%s keeps it behind the path, and its key is in no response', async (_, acme) => {
    const { post, upstream } = testGateway({ providers: { acme }, models: [models[0] as (typeof models)[0]] });
    const echo = `you sent ${secret} on 2024-10-21`;
    upstream.answer({ body: completion({}, { content: echo }) }, { status: 400, body: errorBody(echo, 'x') });
    const answers = [
      await post({ model: 'acme/one', messages: hello }),
      await post({ model: 'acme/one', messages: hello }),
    ];
    expect(upstream.sent[0]?.url).toBe(`https://acme.test/v1/chat/completions?api-version=2024-10-21&key=${secret}`);
    for (const { text } of answers) {
      expect(text).not.toContain(secret);
      expect(text).toContain('on 2024-10-21');
    }
  });
  it('may hold no key where workspaces’ own credentials are sent too', () => {
    expect(() => testGateway({ providers: { acme: { baseUrl, byok: true } }, models: [] })).toThrow(
      /providers\.acme\.baseUrl: expected no key in the query where byok is true/,
    );
  });
});
