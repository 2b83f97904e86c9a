import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { defaultOptions, loadConfig } from '../../../adapters/cli/config.ts';
import { builtInProviders, createGateway } from '../../../src/index.ts';

describe('defaultOptions', () => {
  it('is the sandbox alone where nothing is set', () => {
    expect(defaultOptions({})).toEqual({ providers: { sandbox: {} } });
    expect(defaultOptions({ OPENAI_API_KEY: '', LOCAL_BASE_URL: '' })).toEqual({ providers: { sandbox: {} } });
  });

  it('takes every built-in provider whose variable is set, the most usual one first', () => {
    const env = { OPENAI_API_KEY: 'a', GOOGLE_API_KEY: 'c', GEMINI_API_KEY: 'b' };
    expect(defaultOptions(env).providers).toEqual({
      sandbox: {},
      openai: { apiKey: 'a' },
      'google-ai-studio': { apiKey: 'b' },
    });
    const named = builtInProviders.flatMap(({ env: names, credentialShape }) => [
      ...names,
      ...Object.values(credentialShape?.parts ?? {}).flatMap((part) => part.env ?? []),
    ]);
    const all = Object.fromEntries(named.map((name) => [name, 'key']));
    const expected = builtInProviders.filter(({ slug, env: names }) => slug === 'sandbox' || names.length > 0);
    expect(Object.keys(defaultOptions(all).providers).sort()).toEqual(expected.map(({ slug }) => slug).sort());
  });

  it('takes a provider whose credential has several parts only with all that it needs', () => {
    const CLOUDFLARE_API_TOKEN = 'a-token';
    const CLOUDFLARE_ACCOUNT_ID = '0123456789abcdef0123456789abcdef';
    expect(defaultOptions({ CLOUDFLARE_API_TOKEN })).toEqual({ providers: { sandbox: {} } });
    expect(defaultOptions({ CLOUDFLARE_ACCOUNT_ID })).toEqual({ providers: { sandbox: {} } });
    const { providers } = defaultOptions({ CLOUDFLARE_API_TOKEN, CLOUDFLARE_ACCOUNT_ID });
    expect(providers).toEqual({
      sandbox: {},
      cloudflare: { apiKey: 'a-token', credential: { accountId: CLOUDFLARE_ACCOUNT_ID } },
    });
    expect(() => createGateway({ providers, authenticate: 'host' })).not.toThrow();
  });

  it('takes a local server, with and without a key', () => {
    const LOCAL_BASE_URL = 'http://127.0.0.1:11434/v1';
    expect(defaultOptions({ LOCAL_BASE_URL }).providers).toEqual({ sandbox: {}, local: { baseUrl: LOCAL_BASE_URL } });
    expect(defaultOptions({ LOCAL_BASE_URL, LOCAL_API_KEY: 'k' }).providers).toMatchObject({ local: { apiKey: 'k' } });
  });
});

describe('loadConfig', () => {
  const folder = mkdtempSync(join(tmpdir(), 'model-gateway-config-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const write = (name: string, text: string) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };

  it.each(['a.mjs', 'a.ts'])('takes the default export of %s', async (name) => {
    const types = name.endsWith('.ts') ? ': { providers: object }' : '';
    const path = write(name, `const options${types} = { providers: { sandbox: {} } };\nexport default options;\n`);
    expect(await loadConfig(path)).toEqual({ providers: { sandbox: {} } });
  });

  it('says what is wrong with a file', async () => {
    await expect(loadConfig(join(folder, 'none.mjs'))).rejects.toThrow(/There is no config file .*none\.mjs/);
    await expect(loadConfig(write('empty.mjs', 'export const options = {};'))).rejects.toThrow(
      'needs a default export',
    );
    await expect(loadConfig(write('thrown.mjs', 'throw new Error("SECRET is not set");'))).rejects.toThrow(
      'SECRET is not set',
    );
  });
});
