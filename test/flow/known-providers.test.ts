import { describe, expect, it, vi } from 'vitest';
import { openaiChat } from '../../src/dialects/openai-chat/index.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { builtInProviders } from '../../src/providers/index.ts';
import { defineProvider } from '../../src/providers/provider.ts';
import { providersWithoutAddress } from '../../src/providers/without-address.ts';
import { byokProviders } from '../../src/schema/tenants/byok-providers.ts';
import { hello, testGateway, testPricing } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

const secrets = { current: 'a master secret of the tests, which is long enough' };
const key = 'sk-own-0123456789-0123456789';
const metadata = { 'x-service-metadata': 'enabled' };

function byok(options: Partial<GatewayOptions> = {}) {
  const tested = testGateway({ secrets, models: [], ...options });
  const bring = async (provider: string) => {
    const { status, json } = await tested.call('POST', '/byok', { provider, key });
    return { status, message: json.error?.message as string | undefined, issues: json.error?.metadata?.issues };
  };
  return { ...tested, bring };
}

describe('a workspace', () => {
  it('brings a plain key for each provider of the closed list, and is told where it cannot be used', async () => {
    const { call } = byok();
    const withoutAddress = new Set<string>(providersWithoutAddress.map(({ slug }) => slug));
    expect(byokProviders).toHaveLength(88);
    for (const slug of byokProviders) {
      const { status, json } = await call('POST', '/byok', { provider: slug, key });
      expect([slug, status, json.data?.provider]).toEqual([slug, 201, slug]);
      const shape = builtInProviders.find((provider) => provider.slug === slug)?.credentialShape;
      const reason = json.data.unusable_reason;
      if (withoutAddress.has(slug)) expect([slug, reason]).toEqual([slug, expect.stringMatching(/address/)]);
      else if (shape) expect([slug, reason ?? 'key:']).toEqual([slug, expect.stringMatching(/^key[.:]/)]);
      else expect([slug, reason]).toEqual([slug, undefined]);
      expect((await call('GET', `/byok/${json.data.id}`)).json).toEqual(json);
    }
    const [some = ''] = withoutAddress;
    const setUp = byok({ providers: { [some]: { baseUrl: 'https://own.test/v1', byok: true } } });
    const made = await setUp.call('POST', '/byok', { provider: some, key });
    expect(made.json.data).not.toHaveProperty('unusable_reason');
  });
  it('has a credential that lacks a part left out, with the part, until its key is changed', async () => {
    const models = [{ slug: 'cf/llama', endpoints: [{ provider: 'cloudflare', model: '@cf/llama' }] }];
    const { call, post, upstream } = byok({ providers: { cloudflare: {} }, models });
    const made = await call('POST', '/byok', { provider: 'cloudflare', key });
    const lacks = 'key.accountId: expected the id of an account: 32 hexadecimal digits';
    expect(made.json.data).toMatchObject({ label: 'sk-ow...6789', unusable_reason: lacks });
    const refused = await post({ model: 'cf/llama', messages: hello });
    expect([refused.status, refused.json.error.metadata?.excluded]).toEqual([
      404,
      [{ model: 'cf/llama', provider: 'cloudflare', filter: 'byok_incomplete', lacks }],
    ]);
    const explained = await call('POST', '/chat/completions/explain', { model: 'cf/llama', messages: hello });
    expect(explained.json.data.excluded).toEqual(refused.json.error.metadata?.excluded);
    expect(upstream.sent).toEqual([]);
    const whole = JSON.stringify({ apiKey: key, accountId: '0123456789abcdef0123456789abcdef' });
    const changed = await call('PATCH', `/byok/${made.json.data.id}`, { key: whole });
    expect(changed.json.data).not.toHaveProperty('unusable_reason');
    upstream.answer({ body: completion() });
    expect((await post({ model: 'cf/llama', messages: hello })).json.usage?.is_byok).toBe(true);
  });
  it('brings a key for a provider that is set up beside the list, which is called with it', async () => {
    const { bring, post, upstream, call } = byok({
      providers: { acme: { baseUrl: 'https://acme.test/v1', byok: true } },
    });
    upstream.answer({ body: completion() });
    expect((await bring('acme')).status).toBe(201);
    expect((await post({ model: 'acme/x', messages: hello })).json.usage?.is_byok).toBe(true);
    expect(upstream.sent[0]?.headers.authorization).toBe(`Bearer ${key}`);
    const listed = await call('GET', '/byok?provider=acme');
    expect([listed.json.total_count, listed.json.data[0].provider]).toEqual([1, 'acme']);
  });
  it.each([
    [
      'opnai',
      /^provider: expected the slug of a provider that takes credentials of workspaces; did you mean "openai"\?$/,
    ],
    ['sandbox', /^provider: expected the slug of a provider/],
    ['closed', /^provider: expected another provider: this gateway sends "closed" no credentials of workspaces$/],
    ['closd', /such as "openai"$/],
    ['constructor', /^provider: expected the slug/],
  ])('brings none for %s', async (slug, message) => {
    const { bring } = byok({ providers: { sandbox: {}, closed: { baseUrl: 'https://closed.test/v1' } } });
    const refused = await bring(slug);
    expect([refused.status, refused.message]).toEqual([400, expect.stringMatching(message)]);
    expect(refused.issues).toEqual([{ path: 'provider', message: expect.any(String) }]);
  });
  it('asks for no credentials of a provider that is none', async () => {
    const { call } = byok();
    const { status, json } = await call('GET', '/byok?provider=opnai');
    expect([status, json.error.message]).toEqual([400, expect.stringMatching(/did you mean "openai"\?$/)]);
    expect((await call('GET', '/byok?provider=anthropic')).status).toBe(200);
  });
});

describe('a provider without a known address', () => {
  it.each(providersWithoutAddress.map(({ slug, serves }) => [slug, serves] as const))(
    '%s is refused in the options without an address, and the message says why',
    (slug, serves) => {
      const why =
        serves === null
          ? 'no address of this provider is known'
          : `this provider is known to serve ${serves} alone, at no address for chat`;
      expect(() => byok({ providers: { [slug]: { apiKey: key } } })).toThrow(
        `providers.${slug}.baseUrl: expected a URL: ${why}`,
      );
    },
  );
  it('is called at the address of the operator, with the key in the header that is known of it', async () => {
    const providers = {
      seed: { baseUrl: 'https://seed.test/v1', apiKey: key },
      decart: { baseUrl: 'https://decart.test/v1', apiKey: key },
    };
    const { post, upstream } = byok({ providers });
    upstream.always({ body: completion() });
    const { json } = await post({ model: 'seed/some-model', messages: hello });
    await post({ model: 'decart/some-model', messages: hello });
    expect(json.provider).toBe('ByteDance Seed');
    expect(upstream.sent.map(({ url }) => url)).toEqual([
      'https://seed.test/v1/chat/completions',
      'https://decart.test/v1/chat/completions',
    ]);
    expect(upstream.sent[0]?.headers.authorization).toBe(`Bearer ${key}`);
    expect(upstream.sent[1]?.headers).toMatchObject({ 'x-api-key': key });
    expect(upstream.sent[1]?.headers).not.toHaveProperty('authorization');
  });
  it('is not sent the credential of a workspace where the operator did not say so', async () => {
    const { bring, post, upstream } = byok({ providers: { seed: { baseUrl: 'https://seed.test/v1' } } });
    expect((await bring('seed')).status).toBe(201);
    upstream.answer({ body: completion() });
    const { json } = await post({ model: 'seed/some-model', messages: hello }, metadata);
    expect(json.usage?.is_byok).toBe(false);
    expect(upstream.sent[0]?.headers).not.toHaveProperty('authorization');
  });
  it('is named, with the reason, where a request asks for it', async () => {
    const { post, upstream } = byok();
    const ask = async (model: string) => {
      const { status, json } = await post({ model, messages: hello });
      return [status, json.error.message];
    };
    expect(await ask('seed/some-model')).toEqual([
      400,
      '"seed/some-model" is not a model of this gateway: no address of this provider is known, and the operator has set none',
    ]);
    expect(await ask('heygen/some-model')).toEqual([400, expect.stringMatching(/known to serve video alone/)]);
    expect(await ask('seedy/some-model')).toEqual([400, '"seedy/some-model" is not a model of this gateway']);
    expect(upstream.sent).toEqual([]);
  });
  it('is no unknown provider in preferences', async () => {
    const { post, upstream } = byok({ providers: { groq: { apiKey: key } } });
    upstream.answer({ body: completion() });
    const ask = { model: 'groq/some-model', messages: hello, provider: { ignore: ['seed'] } };
    expect((await post(ask, metadata)).json.service_metadata?.params).toBeUndefined();
  });
});

describe('a slug in a request that is nearly right', () => {
  const providers = {
    up: { baseUrl: 'https://up.test/v1', name: 'Up' },
    groq: { apiKey: 'gsk-0123456789' },
    openai: {},
  };
  const models = [
    {
      slug: 'acme/fast-one',
      endpoints: [
        { provider: 'up', model: 'm', pricing: testPricing },
        { provider: 'groq', model: 'm', pricing: testPricing },
      ],
    },
    { slug: 'acme/hidden', endpoints: [{ provider: 'openai', model: 'm' }] },
  ];
  const gateway = (more: Partial<GatewayOptions> = {}) => {
    const tested = testGateway({ secrets, providers, models, catalog: { builtInModels: false }, ...more });
    tested.upstream.always({ body: completion() });
    return tested;
  };

  it('of a model is told what it may mean', async () => {
    const { post } = gateway();
    const { status, json } = await post({ model: 'acme/fast-noe:nitro', messages: hello });
    expect([status, json.error.message, json.error.metadata]).toEqual([
      400,
      '"acme/fast-noe:nitro" is not a model of this gateway; did you mean "acme/fast-one"?',
      expect.objectContaining({ did_you_mean: ['acme/fast-one'] }),
    ]);
  });
  it('of a model is not told of those that the workspace cannot come to', async () => {
    const { post, call } = gateway();
    const ask = async () => (await post({ model: 'acme/hiddne', messages: hello })).json.error.metadata?.did_you_mean;
    expect(await ask()).toBeUndefined();
    const allowed = { provider: 'openai', key, allowed_models: ['acme/other'] };
    const { id } = (await call('POST', '/byok', allowed)).json.data;
    expect(await ask()).toBeUndefined();
    await call('PATCH', `/byok/${id}`, { allowed_models: null });
    expect(await ask()).toEqual(['acme/hidden']);
  });
  it('of a provider that begins the slug of a model is told what it may mean', async () => {
    const { post } = gateway();
    const ask = async (model: string) => (await post({ model, messages: hello })).json.error.message;
    expect(await ask('gorq/llama-9')).toBe(
      '"gorq/llama-9" is not a model of this gateway; did you mean "groq/llama-9"?',
    );
    // It has no key, and the workspace brings none.
    expect(await ask('opnai/gpt-9')).toBe('"opnai/gpt-9" is not a model of this gateway');
  });
  it('of a provider is in the metadata where it had no effect', async () => {
    const { post, call } = gateway();
    const body = {
      model: 'acme/fast-one',
      messages: hello,
      provider: { order: ['Gorq', 'up'], ignore: ['opnai/flex', 'groq/turbo', '__proto__'] },
    };
    const unknown = { Gorq: ['groq'], 'opnai/flex': ['openai'] };
    const { status, json } = await post(body, metadata);
    expect([status, json.service_metadata?.params?.unknown_providers]).toMatchObject([200, unknown]);
    const { data } = (await call('POST', '/chat/completions/explain', body)).json;
    expect(data.params.unknown_providers).toMatchObject(unknown);
  });
  it('of a provider is in the error where nothing is left', async () => {
    const { post } = gateway();
    const { status, json } = await post({ model: 'acme/fast-one', messages: hello, provider: { only: ['gorq'] } });
    expect([status, json.error.message]).toEqual([
      404,
      'No endpoint of acme/fast-one is left (filtered by: only); "gorq" is no provider of this gateway; did you mean "groq"?',
    ]);
    expect(json.error.metadata?.unknown_providers).toEqual({ gorq: ['groq'] });
  });
  it('of a provider is shown a few times, however many there are', async () => {
    const { post } = gateway();
    const ignore = Array.from({ length: 60 }, (_, at) => `provider-${at}`);
    const { json } = await post({ model: 'acme/fast-one', messages: hello, provider: { ignore } }, metadata);
    expect(Object.keys(json.service_metadata?.params?.unknown_providers ?? {})).toHaveLength(5);
  });
  it('is in no metadata where it is right', async () => {
    const { post } = gateway();
    const provider = { order: ['groq', 'deepinfra'], ignore: ['mistral'] };
    const { json } = await post({ model: 'acme/fast-one', messages: hello, provider }, metadata);
    expect(json.service_metadata?.params).toBeUndefined();
  });
  it.each<[string, Partial<GatewayOptions>, RegExp]>([
    [
      'in providers',
      { providers: { opnai: { apiKey: 'k' } }, models: [] },
      /providers\.opnai\.baseUrl: .*did you mean "openai"\?/,
    ],
    [
      'in models',
      { models: [{ slug: 'a/b', endpoints: [{ provider: 'gorq', model: 'm' }] }] },
      /models\[0\]\.endpoints\[0\]\.provider: .*did you mean "groq"\?/,
    ],
  ])('%s of the options is told what it may mean', (_, options, message) => {
    expect(() => gateway(options)).toThrow(message);
  });
});

describe('a provider without a key', () => {
  function warningsOf(options: Partial<GatewayOptions>) {
    const warn = vi.fn();
    testGateway({ models: [], logger: { info: () => undefined, error: () => undefined, warn }, ...options });
    return warn.mock.calls;
  }

  it('is warned of at the start, once', () => {
    const endpoints = [{ provider: 'openai', model: 'm' }];
    const models = [
      { slug: 'acme/a', endpoints },
      { slug: 'acme/b', endpoints },
    ];
    expect(warningsOf({ providers: { openai: {}, groq: { apiKey: 'gsk-0123456789' } }, models })).toEqual([
      [
        {
          provider: 'openai',
          environment: ['OPENAI_API_KEY'],
          options: ['providers.openai.apiKey'],
          models: ['acme/a', 'acme/b'],
        },
        'The provider openai has no key, so none of yours is used for it, though 2 models name it: ' +
          'set providers.openai.apiKey, such as from process.env.OPENAI_API_KEY',
      ],
    ]);
  });
  it('is warned of with every part that is missing, and where a provider in code finds its key', () => {
    vi.stubEnv('ACME_API_KEY', undefined);
    const acme = defineProvider({
      slug: 'acme',
      baseUrl: 'https://acme.test',
      dialect: openaiChat,
      env: ['ACME_API_KEY'],
    });
    expect(warningsOf({ providers: { cloudflare: {}, acme } }).map(([, message]) => message)).toEqual([
      expect.stringMatching(
        /set providers\.cloudflare\.apiKey and providers\.cloudflare\.credential\.accountId, such as/,
      ),
      expect.stringMatching(/set defineProvider\(\{ slug: 'acme' \}\)\.apiKey, or the variable ACME_API_KEY$/),
    ]);
  });
  it('is not warned of where it needs none, or workspaces bring theirs', () => {
    const acme = defineProvider({ slug: 'acme', baseUrl: 'https://acme.test', dialect: openaiChat });
    const local = { baseUrl: 'http://127.0.0.1:1/v1' };
    expect(warningsOf({ providers: { acme, local, sandbox: {}, openai: { byok: true } } })).toEqual([]);
  });
});
