import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Dialect } from '../../../src/dialects/dialect.ts';
import { dialects } from '../../../src/dialects/index.ts';
import { openaiChat } from '../../../src/dialects/openai-chat.ts';
import { type CredentialShape, defineProvider } from '../../../src/providers/provider.ts';
import { credentialOfKey } from '../../../src/setup/credential-parts.ts';
import { configureProviders, type ProviderSettings } from '../../../src/setup/providers.ts';

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
  minMaxTokens: () => 0,
  unsupportedParameters: () => [],
  counting: () => ({}),
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
      dialectQuirks: { strange: { isStrange: true } },
    });
    const quirksOf = (settings: object) =>
      configureProviders({ both: settings }, [both], { strange, 'openai-chat': openaiChat }).get('both')?.provider
        .quirks;
    expect(quirksOf({})).toEqual({ generatesOn: true, minMaxTokens: 5 });
    expect(quirksOf({ dialect: 'strange' })).toEqual({ generatesOn: true, isStrange: true });
    expect(quirksOf({ dialect: 'strange', quirks: { isStrange: false } })).toMatchObject({ isStrange: false });
  });
  it('of a provider in a table are those of its dialect, as the compiler sees', () => {
    // @ts-expect-error: no quirk of chat completions
    defineProvider({ slug: 'x', baseUrl: 'https://x.test', dialect: openaiChat, quirks: { isStrange: true } });
    defineProvider({ slug: 'x', baseUrl: 'https://x.test', dialect: strange, quirks: { isStrange: true } });
  });
});
