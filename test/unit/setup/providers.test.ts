import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Dialect } from '../../../src/dialects/dialect.ts';
import { profiles } from '../../../src/dialects/fit/index.ts';
import { openaiChat } from '../../../src/dialects/openai-chat/index.ts';
import { builtInProviders } from '../../../src/providers/index.ts';
import { type CredentialShape, defineProvider, type OutgoingRequest } from '../../../src/providers/provider.ts';
import { registry } from '../../../src/providers/registry.ts';
import { credentialOfKey } from '../../../src/setup/credential-parts.ts';
import { type Configured, configureProviders, type ProviderSettings } from '../../../src/setup/providers.ts';
import { dialects } from '../../support/dialects.ts';

const shape: CredentialShape = {
  parts: {
    region: { expected: 'a region such as us-east-1', isSecret: false },
    apiKey: { expected: 'an API key', isOptional: true },
    accessKeyId: { expected: 'an access key id', isOptional: true },
    secretAccessKey: { expected: 'a secret access key', isOptional: true },
  },
  oneOf: [['apiKey'], ['accessKeyId', 'secretAccessKey']],
};
const cloud = defineProvider({
  slug: 'cloud',
  baseUrl: ({ parts }) => `https://${parts?.region}.cloud.test`,
  dialect: openaiChat,
  credentialShape: shape,
});
const plain = defineProvider({ slug: 'plain', baseUrl: 'https://plain.test', dialect: openaiChat });

/** A dialect whose only quirk is no other's. */
const strange: Dialect<{ isStrange?: boolean }> = {
  ...openaiChat,
  name: 'strange',
  quirks: () => z.strictObject({ isStrange: z.boolean().optional() }),
  generatesOn: () => false,
  sharesStored: () => false,
  minMaxTokens: () => 0,
  unsupportedParameters: () => [],
  counting: () => ({}),
  profile: () => profiles.freeChat,
  count: () => null,
  takesWhole: () => false,
  encodeRequest: ({ request, upstreamModel }) => openaiChat.encodeRequest({ request, upstreamModel, quirks: {} }),
  decodeResult: (body) => openaiChat.decodeResult(body, {}),
  streamDecoder: () => openaiChat.streamDecoder({}),
};

function configure(settings: Record<string, ProviderSettings>) {
  return configureProviders(settings, [cloud, plain], { ...dialects, strange });
}

const secretAccessKey = 'aws-secret-0123456789';
const parts = { region: 'us-east-1', accessKeyId: 'AKIA0123', secretAccessKey };

describe('a credential with several parts in the options', () => {
  it('is the credential of the provider', () => {
    const { credential, isUsable } = configure({ cloud: { credential: parts } }).get('cloud') ?? {};
    expect([credential, isUsable]).toEqual([{ secret: '', parts }, true]);
    expect(configure({ cloud: { apiKey: 'k', credential: { region: 'eu' } } }).get('cloud')?.credential).toEqual({
      secret: 'k',
      parts: { region: 'eu' },
    });
  });
  it('need not be set: the provider is then not usable without a credential of the caller’s', () => {
    expect(configure({ cloud: {} }).get('cloud')).toMatchObject({ isUsable: false, credential: { secret: '' } });
  });
  it.each<[ProviderSettings, string, RegExp]>([
    [{ apiKey: 'k' }, 'providers.cloud.credential.region', /^expected a region such as us-east-1$/],
    [{ credential: { region: 'us' } }, 'providers.cloud.credential', /apiKey, or accessKeyId and secretAccessKey/],
    [{ credential: { ...parts, zone: 'a' } }, 'providers.cloud.credential.zone', /expected no such part, but region/],
    [{ apiKey: 'two\nlines', credential: { region: 'us' } }, 'providers.cloud.apiKey', /an API key/],
    [{ apiKey: 'k', credential: { region: 'evil.test/x?' } }, 'providers.cloud.credential.region', /a region/],
  ])('%j is refused by name', (settings, path, message) => {
    expect(() => configure({ cloud: settings })).toThrow(
      expect.objectContaining({ path, message: expect.stringMatching(message) }),
    );
  });
  it('is refused where the provider takes one string', () => {
    expect(() => configure({ plain: { credential: { region: 'x' } } })).toThrow(/have no further parts/);
  });
});

describe('the key of a provider in code', () => {
  const made = {
    made: defineProvider({ slug: 'made', baseUrl: 'https://m.test', dialect: openaiChat, env: ['A', 'B'] }),
  };
  const keyOf = (environment: Record<string, string | undefined>) =>
    configureProviders(made, [], dialects, environment).get('made');

  it('is the first variable that is set', () => {
    expect(keyOf({ A: ' ', B: 'key-b ' })).toMatchObject({ credential: { secret: 'key-b' }, isUsable: true });
    expect(keyOf({ A: 'key-a', B: 'key-b' })).toMatchObject({ credential: { secret: 'key-a' } });
    expect(keyOf({})).toMatchObject({ credential: { secret: '' }, isUsable: false });
  });
  it('is none where the variables may not be read', () => {
    const closed = new Proxy(
      {},
      {
        get: () => {
          throw new Error('Requires env access');
        },
      },
    );
    expect(keyOf(closed)).toMatchObject({ credential: { secret: '' }, isUsable: false });
  });
});

describe('a key that a workspace brings for a provider with several parts', () => {
  it('is the JSON text of them', () => {
    expect(credentialOfKey(shape, JSON.stringify(parts))).toEqual({
      credential: { secret: '', parts },
      secrets: ['AKIA0123', secretAccessKey],
    });
  });
  it('may be the key alone where nothing else is required', () => {
    const keyOnly = { parts: { apiKey: { expected: 'a key' }, account: { expected: 'an account', isOptional: true } } };
    expect(credentialOfKey(keyOnly, 'sk-1')).toEqual({ credential: { secret: 'sk-1' }, secrets: ['sk-1'] });
  });
  it('may be a file that the provider issues, under the names that stand there', () => {
    const account: CredentialShape = {
      parts: {
        project: { expected: 'a project', isSecret: false },
        privateKey: { expected: 'a private key', pattern: /^-----BEGIN[\s\S]+-----\n$/ },
      },
      aliases: { project_id: 'project', private_key: 'privateKey', type: null },
    };
    const privateKey = '-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\n';
    const file = { type: 'service_account', project_id: 'mine', private_key: privateKey };
    const read = { credential: { secret: '', parts: { project: 'mine', privateKey } }, secrets: [privateKey] };
    expect(credentialOfKey(account, JSON.stringify(file))).toEqual(read);
    expect(credentialOfKey(account, JSON.stringify({ ...file, project_id: 'its', project: 'mine' }))).toEqual(read);
    expect(credentialOfKey(account, JSON.stringify({ ...file, project_id: undefined }))).toMatchObject({
      issues: [{ path: 'project' }],
    });
    expect(credentialOfKey(account, JSON.stringify({ ...file, toString: 'x' }))).toMatchObject({
      issues: [{ path: 'toString' }],
    });
    const proto = JSON.stringify(file).replace('"type"', '"__proto__"');
    expect(credentialOfKey(account, proto)).toMatchObject({ issues: [{ path: '__proto__' }] });
  });
  it.each<[string, string]>([
    ['sk-1', 'region'],
    ['{"region":5,"apiKey":"k"}', 'region'],
    ['{"region":"us","apiKey":"k","constructor":"x"}', 'constructor'],
    ['{"region":"us","apiKey":"k","a b":"x"}', ''],
    ['[]', 'region'],
    ['{', ''],
  ])('%s is refused at "%s"', (key, path) => {
    expect(credentialOfKey(shape, key)).toMatchObject({ issues: [{ path }] });
  });
  it('never shows a value in what it says of it', () => {
    const read = credentialOfKey(shape, '{"region":"a-secret-value!","apiKey":"another secret\\n"}');
    expect(JSON.stringify(read)).not.toMatch(/a-secret|another/);
  });
});

describe('a dialect that is not the usual one of a provider', () => {
  /** As it will be called in the options; what it does is of no matter here. */
  const named = (name: string): Dialect<object> => ({ ...strange, name, quirks: () => z.looseObject({}) });
  const known = {
    ...dialects,
    'anthropic-messages': named('anthropic-messages'),
    'openai-responses': named('openai-responses'),
  };
  const configured = (slug: string, settings: ProviderSettings) =>
    configureProviders({ [slug]: settings }, builtInProviders, known).get(slug) as Configured;
  /** What a request with a key becomes. */
  const headersOf = ({ provider }: Configured) => {
    const request = { method: 'POST' as const, url: '', headers: {}, body: '' };
    const simple = provider.auth as (...args: unknown[]) => unknown;
    return (simple(request, { secret: 'k' }) as OutgoingRequest).headers;
  };
  const further = registry.flatMap(({ slug, also = {}, quirks: { generatesOn } }) =>
    Object.entries(also).map(([name, { baseUrl, quirks }]) => {
      const all = { ...(generatesOn === undefined ? {} : { generatesOn }), ...quirks };
      return [slug, name, { baseUrl, quirks: all }] as const;
    }),
  );

  it.each(further)('of %s, %s, chooses its address and its quirks', (slug, dialect, address) => {
    const one = configured(slug, { dialect });
    expect(one.provider).toMatchObject({ slug, baseUrl: address.baseUrl, dialect: { name: dialect } });
    expect(one.provider.quirks).toEqual(address.quirks);
    expect(one).toMatchObject({ takesByok: true, isUsable: false });
    expect(configured(slug, { dialect, apiKey: 'k', quirks: { own: 1 } })).toMatchObject({
      isUsable: true,
      credential: { secret: 'k' },
      provider: { quirks: { ...address.quirks, own: 1 } },
    });
  });
  it('comes with the way in which the key is sent there', () => {
    expect(headersOf(configured('minimax', { dialect: 'anthropic-messages' }))).toEqual({ 'x-api-key': 'k' });
    expect(headersOf(configured('moonshotai', { dialect: 'anthropic-messages' }))).toEqual({
      authorization: 'Bearer k',
    });
    expect(headersOf(configured('minimax', {}))).toEqual({ authorization: 'Bearer k' });
  });
  it('is spoken at the address of the operator, where that is set', () => {
    const baseUrl = 'https://proxy.test/minimax/v1';
    const one = configured('minimax', { dialect: 'anthropic-messages', baseUrl });
    expect(one).toMatchObject({ provider: { baseUrl }, takesByok: false });
    expect(headersOf(one)).toEqual({ 'x-api-key': 'k' });
    expect(configured('groq', { dialect: 'anthropic-messages', baseUrl }).provider).toMatchObject({
      baseUrl,
      quirks: {},
      dialect: { name: 'anthropic-messages' },
    });
  });
  it('is refused without an address where none is known', () => {
    const refused = (slug: string, dialect: string) => () => configured(slug, { dialect, apiKey: 'k' });
    expect(refused('groq', 'anthropic-messages')).toThrow(
      expect.objectContaining({
        path: 'providers.groq.baseUrl',
        message:
          'expected a URL: no address is known at which this provider speaks anthropic-messages; it is known to speak openai-chat',
      }),
    );
    expect(refused('minimax', 'openai-responses')).toThrow(/known to speak openai-chat, anthropic-messages$/);
    expect(refused('sandbox', 'anthropic-messages')).toThrow(/known to speak openai-chat$/);
  });
  it('may be the usual one by name, which changes nothing', () => {
    const [openai] = registry.filter(({ slug }) => slug === 'openai');
    expect(configured('openai', { dialect: 'openai-chat' }).provider).toEqual(openai);
  });
  it('of a server of the operator’s decides how the key is sent', () => {
    const baseUrl = 'https://acme.test/v1';
    expect(headersOf(configured('acme', { baseUrl, dialect: 'anthropic-messages' }))).toEqual({ 'x-api-key': 'k' });
    expect(headersOf(configured('acme', { baseUrl, dialect: 'openai-responses' }))).toEqual({
      authorization: 'Bearer k',
    });
    expect(headersOf(configured('acme', { baseUrl }))).toEqual({ authorization: 'Bearer k' });
  });
});

describe('quirks', () => {
  it('are checked by the dialect that was chosen, by name or by the provider', () => {
    const settings = { baseUrl: 'https://x.test', quirks: { isStrange: true } };
    expect(configure({ x: { ...settings, dialect: 'strange' } }).get('x')?.provider.quirks).toEqual({
      isStrange: true,
    });
    expect(() => configure({ x: settings })).toThrow(
      expect.objectContaining({ path: 'providers.x.quirks.isStrange', message: 'unknown key "isStrange"' }),
    );
    expect(() => configure({ x: { ...settings, dialect: 'strange', quirks: { minMaxTokens: 1 } } })).toThrow(
      /unknown key "minMaxTokens"/,
    );
  });
  it('of another dialect that a built-in provider speaks are its own, and those of a stream that was left stay', () => {
    const both = defineProvider({
      slug: 'both',
      baseUrl: 'https://x.test',
      dialect: openaiChat,
      quirks: { generatesOn: true, minMaxTokens: 5 },
      also: { strange: { baseUrl: 'https://x.test', quirks: { isStrange: true } } },
    });
    const quirksOf = (settings: object) =>
      configureProviders({ both: settings }, [both], { strange, 'openai-chat': openaiChat }).get('both')?.provider
        .quirks;
    expect(quirksOf({})).toEqual({ generatesOn: true, minMaxTokens: 5 });
    expect(quirksOf({ dialect: 'strange' })).toEqual({ generatesOn: true, isStrange: true });
    expect(quirksOf({ dialect: 'strange', quirks: { isStrange: false } })).toMatchObject({ isStrange: false });
  });
  it('of a provider in a table are those of its dialect, as the compiler sees', () => {
    const define = () =>
      // @ts-expect-error: no quirk of chat completions
      defineProvider({ slug: 'x', baseUrl: 'https://x.test', dialect: openaiChat, quirks: { isStrange: true } });
    expect(define).toThrow(/defineProvider\.quirks\.isStrange/);
    defineProvider({ slug: 'x', baseUrl: 'https://x.test', dialect: strange, quirks: { isStrange: true } });
  });
});
