import { describe, expect, it } from 'vitest';
import { openaiChat } from '../../src/dialects/openai-chat/index.ts';
import { builtInProviders } from '../../src/providers/index.ts';
import { type CredentialShape, defineProvider, type Provider } from '../../src/providers/provider.ts';
import { hello, testGateway } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

const secrets = { current: 'a master secret of the tests, which is long enough' };
/** Stands where a part should be, and never in a response. */
const canary = 'canary-0123456789-never-shown';

/** For each built-in provider whose credentials have parts: one that it takes, and what the label may show of it. */
const samples: Record<string, { key: Record<string, string>; label: string }> = {
  'amazon-bedrock': {
    key: {
      region: 'us-east-1',
      accessKeyId: 'AKIA0123456789ABCDEF',
      secretAccessKey: 'secret-access-key-0123456789-abcdef',
    },
    label: 'AKIA0...CDEF',
  },
  azure: { key: { apiKey: 'azure-key-0123456789abcdef', resource: 'my-resource' }, label: 'azure...cdef' },
  cloudflare: {
    key: { apiKey: 'cf-token-0123456789abcdef', accountId: '0123456789abcdef0123456789abcdef' },
    label: 'cf-to...cdef',
  },
  'google-vertex': { key: { apiKey: 'vertex-key-0123456789abcdef' }, label: 'verte...cdef' },
};

const shaped = builtInProviders.filter((provider) => provider.credentialShape !== undefined);

function byok() {
  const { call } = testGateway({ secrets, models: [] });
  return async (provider: string, key: unknown) => {
    const text = typeof key === 'string' ? key : JSON.stringify(key);
    return call('POST', '/byok', { provider, key: text });
  };
}

describe.each(shaped.map((one) => [one.slug, one] as const))('a credential of %s', (slug, provider) => {
  const { parts, oneOf } = provider.credentialShape as CredentialShape;
  const names = Object.keys(parts);

  it('is taken with all its parts, and the label shows ends of its secret', async () => {
    const { key, label } = samples[slug] ?? {};
    expect(key, `this test needs a sample of the credentials of ${slug}`).toBeDefined();
    const { status, json } = await byok()(slug, key);
    expect([status, json.data?.label]).toEqual([201, label]);
  });
  it.each(names)(
    'is not used where %s is wrong, which is said by the name of the part and without any secret',
    async (name) => {
      const others = Object.fromEntries(names.filter((one) => one !== name).map((one) => [one, canary]));
      for (const wrong of [5, null, '', [canary], `${canary}\u0000`]) {
        const { status, json, text } = await byok()(slug, { ...others, [name]: wrong });
        expect([status, json.data?.unusable_reason]).toEqual([
          201,
          expect.stringContaining(`key.${name}: expected ${parts[name]?.expected}`),
        ]);
        expect(text).not.toContain(canary);
      }
    },
  );
  it('is not used without a part that it needs', async () => {
    const { status, json } = await byok()(slug, {});
    const needed = names.filter((name) => parts[name]?.isOptional !== true).map((name) => `key.${name}`);
    expect(status).toBe(201);
    const reasons: string[] = json.data.unusable_reason?.split('; ') ?? [];
    const paths = reasons.map((reason) => reason.replace(/: expected.*/, ''));
    expect(paths).toEqual(needed.length > 0 ? needed : oneOf ? ['key'] : paths);
  });
  it('is not used with a part that there is not, whatever its name', async () => {
    const { key = {} } = samples[slug] ?? {};
    for (const [name, path] of [
      ['zone', 'key.zone'],
      ['constructor', 'key.constructor'],
      [`${canary} as a name`, 'key'],
    ] as const) {
      const { status, json, text } = await byok()(slug, { ...key, [name]: canary });
      expect([status, json.data?.unusable_reason.split(':')[0]]).toEqual([201, path]);
      expect(text).not.toContain(canary);
    }
  });
  it('is not used as text that is no JSON object', async () => {
    for (const key of ['[]', `"${canary}`, `{"apiKey":"${canary}"`, `${canary} ${canary}`]) {
      const { status, json, text } = await byok()(slug, key);
      // A provider whose only needed part is the key takes any text for one.
      const takesAny = !key.startsWith('{') && names.every((name) => name === 'apiKey' || parts[name]?.isOptional);
      expect(status).toBe(201);
      if (!takesAny) expect(json.data.unusable_reason).toMatch(/^key/);
      expect(text).not.toContain(canary);
    }
  });
});

describe('a credential of a provider that takes one string', () => {
  it('is not used as JSON text of several lines, which no header takes', async () => {
    const { status, json, text } = await byok()('groq', JSON.stringify({ private_key: canary }, null, 2));
    expect([status, json.data.unusable_reason]).toEqual([
      201,
      'key: expected the key alone, on one line: the credentials of this provider have no further parts',
    ]);
    expect(text).not.toContain(canary);
  });
});

describe('a stored credential that its provider no longer takes', () => {
  it('counts as one that is refused: the next target follows', async () => {
    const acme = (credentialShape?: CredentialShape): Provider => ({
      ...defineProvider({
        slug: 'acme',
        baseUrl: 'https://acme.test/v1',
        dialect: openaiChat,
        byok: true,
        env: ['NEVER_SET'],
      }),
      ...(credentialShape ? { credentialShape } : {}),
    });
    const models = [
      {
        slug: 'acme/one',
        endpoints: [
          { provider: 'acme', model: 'm' },
          { provider: 'other', model: 'm' },
        ],
      },
    ];
    const other = { baseUrl: 'https://other.test/v1' };
    const provider = acme();
    const { call, post, upstream } = testGateway({ secrets, providers: { acme: provider, other }, models });
    expect((await call('POST', '/byok', { provider: 'acme', key: 'sk-0123456789' })).status).toBe(201);
    provider.credentialShape = { parts: { apiKey: { expected: 'a key' }, region: { expected: 'a region' } } };
    upstream.always({ body: completion() });
    const { status } = await post({ model: 'acme/one', messages: hello });
    expect([status, upstream.sent.map(({ url }) => new URL(url).host)]).toEqual([200, ['other.test']]);
  });
});
