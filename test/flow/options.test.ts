import { describe, expect, it } from 'vitest';
import { openaiChat } from '../../src/dialects/openai-chat/index.ts';
import { createGateway } from '../../src/gateway.ts';
import { type GatewayOptions, OptionsError } from '../../src/options.ts';
import { defineProvider } from '../../src/providers/provider.ts';
import { hello, testGateway } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

const secret = 'sk-very-secret-value';
const keys = [{ key: secret }];

/** The issues of options that must not be taken; checks that no value shows. */
function issuesOf(options: unknown): readonly { path: string; message: string }[] {
  try {
    createGateway(options as GatewayOptions);
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    expect([error.message, error.stack, JSON.stringify(error), String(error.cause)].join()).not.toContain('secret');
    for (const { path, message } of error.issues)
      expect(error.message).toContain(path === '' ? message : `${path}: ${message}`);
    return error.issues;
  }
  throw new Error('These options were taken');
}

const local = { baseUrl: 'http://127.0.0.1:11434/v1' };
const model = { slug: 'acme/fast', endpoints: [{ provider: 'local', model: 'x' }] };

const perMillion: [string, object, string][] = [
  ['prompt', { prompt: '3', completion: '0.000015' }, '0.000003'],
  ['completion', { prompt: 0.000003, completion: 15 }, '0.000015'],
  ['inputCacheRead', { prompt: '3e-6', completion: '15e-6', inputCacheRead: '0.3' }, '0.0000003'],
  [
    'longPrompts[0].prompt',
    { prompt: '3e-6', completion: '15e-6', longPrompts: [{ abovePromptTokens: 200_000, prompt: '6' }] },
    '0.000006',
  ],
];

describe('a mistake in the options names the option and what was expected', () => {
  it.each<[string, object, string, RegExp]>([
    ['no way to authenticate', {}, 'apiKeys', /expected at least one key.* or the option authenticate/],
    ['an empty list of keys', { apiKeys: [] }, 'apiKeys', /expected at least one key/],
    ['a key that is undefined', { apiKeys: [{ key: undefined }] }, 'apiKeys[0].key', /expected string/],
    ['a key that is no object', { apiKeys: [secret] }, 'apiKeys[0]', /expected object/],
    ['a key that is too short', { apiKeys: [{ key: 'secret' }] }, 'apiKeys[0].key', /at least 8 characters/],
    [
      'an unknown permission',
      { apiKeys: [{ key: secret, permissions: ['secret-admin'] }] },
      'apiKeys[0].permissions[0]',
      /inference/,
    ],
    ['no permission', { apiKeys: [{ key: secret, permissions: [] }] }, 'apiKeys[0].permissions', /at least 1/],
    ['an unknown option', { apiKeys: keys, provider: {} }, 'provider', /unknown key/],
    [
      "a provider of one's own without an address",
      { apiKeys: keys, providers: { mine: { apiKey: secret } } },
      'providers.mine.baseUrl',
      /expected a URL/,
    ],
    [
      "a provider's key instead of its options",
      { apiKeys: keys, providers: { openai: secret } },
      'providers.openai',
      /expected object/,
    ],
    [
      'a misspelt provider option',
      { apiKeys: keys, providers: { openai: { apikey: secret } } },
      'providers.openai.apikey',
      /unknown key/,
    ],
    [
      'an empty provider key',
      { apiKeys: keys, providers: { openai: { apiKey: '' } } },
      'providers.openai.apiKey',
      /at least 1/,
    ],
    [
      'a provider key that is no text',
      { apiKeys: keys, providers: { openai: { apiKey: 5 } } },
      'providers.openai.apiKey',
      /expected string/,
    ],
    [
      'an address that is none',
      { apiKeys: keys, providers: { mine: { baseUrl: secret } } },
      'providers.mine.baseUrl',
      /http/,
    ],
    [
      'an address of another scheme',
      { apiKeys: keys, providers: { mine: { baseUrl: 'ftp://secret.test' } } },
      'providers.mine.baseUrl',
      /http/,
    ],
    ['a slug that is none', { apiKeys: keys, providers: { 'My Provider': local } }, 'providers["My Provider"]', /slug/],
    [
      'a header that is none',
      { apiKeys: keys, providers: { mine: { ...local, headers: { 'x y': secret } } } },
      'providers.mine.headers["x y"]',
      /header name/,
    ],
    [
      'a header value with a line break',
      { apiKeys: keys, providers: { mine: { ...local, headers: { a: `${secret}\r\nb: c` } } } },
      'providers.mine.headers.a',
      /header value/,
    ],
    [
      'an unknown dialect',
      { apiKeys: keys, providers: { mine: { ...local, dialect: 'secret' } } },
      'providers.mine.dialect',
      /openai-chat/,
    ],
    [
      'a misspelt quirk',
      { apiKeys: keys, providers: { mine: { ...local, quirks: { dropParam: [] } } } },
      'providers.mine.quirks.dropParam',
      /unknown key/,
    ],
    [
      'a model without an author',
      { apiKeys: keys, providers: { local }, models: [{ ...model, slug: 'fast' }] },
      'models[0].slug',
      /author\/model/,
    ],
    [
      'a model without endpoints',
      { apiKeys: keys, models: [{ slug: 'acme/fast', endpoints: [] }] },
      'models[0].endpoints',
      /at least 1/,
    ],
    [
      'an endpoint of a provider that is not there',
      {
        apiKeys: keys,
        providers: { local },
        models: [{ slug: 'acme/fast', endpoints: [model.endpoints[0], { provider: 'remote', model: 'x' }] }],
      },
      'models[0].endpoints[1].provider',
      /configured provider/,
    ],
    [
      'a negative price',
      {
        apiKeys: keys,
        providers: { local },
        models: [
          {
            slug: 'acme/fast',
            endpoints: [{ provider: 'local', model: 'x', pricing: { prompt: -1, completion: '0' } }],
          },
        ],
      },
      'models[0].endpoints[0].pricing.prompt',
      /decimal/,
    ],
    [
      'a price in words',
      {
        apiKeys: keys,
        providers: { local },
        models: [
          {
            slug: 'acme/fast',
            endpoints: [{ provider: 'local', model: 'x', pricing: { prompt: '0.000001', completion: 'secret' } }],
          },
        ],
      },
      'models[0].endpoints[0].pricing.completion',
      /decimal/,
    ],
    [
      'half a price',
      {
        apiKeys: keys,
        providers: { local },
        models: [
          { slug: 'acme/fast', endpoints: [{ provider: 'local', model: 'x', pricing: { prompt: '0.000001' } }] },
        ],
      },
      'models[0].endpoints[0].pricing.completion',
      /expected/,
    ],
    ['a brand that fits no header', { apiKeys: keys, brand: 'My Secret' }, 'brand', /lower-case/],
    ['a base path without a slash', { apiKeys: keys, basePath: 'v1' }, 'basePath', /path such as/],
    ['a base path with a slash at its end', { apiKeys: keys, basePath: '/v1/' }, 'basePath', /path such as/],
    ['a time-out of nothing', { apiKeys: keys, timeouts: { headersMs: 0 } }, 'timeouts.headersMs', /at least 1/],
    [
      'a time-out that is no number',
      { apiKeys: keys, timeouts: { idleMs: '5s' } },
      'timeouts.idleMs',
      /integer|number/,
    ],
    ['a misspelt limit', { apiKeys: keys, limits: { bodyByte: 5 } }, 'limits.bodyByte', /unknown key/],
    ['no attempts', { apiKeys: keys, retry: { maxAttempts: 0 } }, 'retry.maxAttempts', /at least 1/],
    ['a clock that does not tell the time', { apiKeys: keys, clock: {} }, 'clock', /now and after/],
    ['a logger that does not log', { apiKeys: keys, logger: { info() {} } }, 'logger', /info, warn and error/],
    ['a recorder that is no function', { apiKeys: keys, onRecord: [] }, 'onRecord', /function/],
    ['no options at all', [] as object, '', /expected object/],
  ])('%s', (_, options, path, message) => {
    const issues = issuesOf(options);
    expect(issues.map((issue) => issue.path)).toContain(path);
    expect(issues.find((issue) => issue.path === path)?.message).toMatch(message);
  });
  it.each(perMillion)('a price per million tokens where one per token is expected: %s', (field, pricing, meant) => {
    const models = [{ slug: 'acme/fast', endpoints: [{ provider: 'local', model: 'x', pricing }] }];
    expect(issuesOf({ apiKeys: keys, providers: { local }, models })).toEqual([
      {
        path: `models[0].endpoints[0].pricing.${field}`,
        message: expect.stringContaining(`per million tokens, write "${meant}"`),
      },
    ]);
  });
  it('and every one of several', () => {
    const issues = issuesOf({ apiKeys: keys, brand: 5, retry: { maxAttempts: 0 }, models: 'all' });
    expect(issues.map(({ path }) => path).sort()).toEqual(['brand', 'models', 'retry.maxAttempts']);
  });
});

describe('the options', () => {
  it('do nothing when the gateway is made', () => {
    const { upstream, clock } = testGateway();
    expect([upstream.sent, clock.pending]).toEqual([[], 0]);
  });
  it("send a provider's own headers with every request, and its key", async () => {
    const { post, upstream } = testGateway({
      providers: { up: { baseUrl: 'https://up.test/v1/', apiKey: 'sk-upstream', headers: { 'X-Team': 'one' } } },
      models: [],
    });
    upstream.answer({ body: completion() });
    await post({ model: 'up/x', messages: hello });
    expect(upstream.sent[0]).toMatchObject({
      url: 'https://up.test/v1/chat/completions',
      headers: { 'x-team': 'one', authorization: 'Bearer sk-upstream' },
    });
  });
  it("send no key to a provider of one's own that has none", async () => {
    const { post, upstream } = testGateway({ providers: { up: { baseUrl: 'https://up.test/v1' } }, models: [] });
    upstream.answer({ body: completion() });
    await post({ model: 'up/x', messages: hello });
    expect(upstream.sent[0]?.headers).not.toHaveProperty('authorization');
  });
  it('take a provider made in code', async () => {
    const mine = defineProvider({
      slug: 'mine',
      name: 'Mine',
      baseUrl: 'https://mine.test',
      dialect: openaiChat,
      auth: (request) => ({ ...request, headers: { ...request.headers, 'x-key': 'k' } }),
    });
    const { post, upstream } = testGateway({ providers: { mine }, models: [] });
    upstream.answer({ body: completion() });
    expect((await post({ model: 'mine/x', messages: hello })).json.provider).toBe('Mine');
    expect(upstream.sent[0]).toMatchObject({ url: 'https://mine.test/chat/completions', headers: { 'x-key': 'k' } });
  });
  it('take a fetch for the network', async () => {
    const { upstream, ...first } = testGateway();
    const { post, run } = testGateway({ transport: undefined, fetch: upstream.fetch });
    upstream.answer({ body: completion() });
    expect((await run(post({ model: 'acme/fast', messages: hello }))).status).toBe(200);
    expect(first.records).toEqual([]);
  });
  it('keep on serving when a logger or a recorder throws', async () => {
    const fail = () => {
      throw new Error('disk full');
    };
    const { post, upstream } = testGateway({ onRecord: fail, logger: { info: fail, warn: fail, error: fail } });
    upstream.answer({ body: completion() });
    expect((await post({ model: 'acme/fast', messages: hello })).status).toBe(200);
  });
  it('log one line per request, without prompt, answer or key', async () => {
    const lines: [string, object, string][] = [];
    const log = (level: string) => (fields: object, message: string) => void lines.push([level, fields, message]);
    const { post, upstream } = testGateway({
      logger: { info: log('info'), warn: log('warn'), error: log('error') },
      retry: { maxAttempts: 1 },
    });
    upstream.answer({ body: completion() }, { status: 500 });
    await post({ model: 'acme/fast', messages: hello });
    await post({ model: 'acme/fast', messages: hello });
    expect(lines).toMatchObject([
      [
        'info',
        {
          id: expect.stringMatching(/^gen-/),
          model: 'acme/fast',
          provider: 'Up',
          status: 200,
          outcome: 'ok',
          attempts: 1,
          costNanoUsd: 36_000,
        },
        'request',
      ],
      ['warn', { status: 502, outcome: 'failed' }, 'request'],
    ]);
    expect(JSON.stringify(lines)).not.toMatch(/sk-|Hello/);
  });
});
