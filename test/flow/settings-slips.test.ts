import { describe, expect, it } from 'vitest';
import { defaultOptions } from '../../adapters/cli/config.ts';
import { pastedKey } from '../../src/base/text/pasted-key.ts';
import { openaiChat } from '../../src/dialects/openai-chat/index.ts';
import { createGateway, OptionsError } from '../../src/index.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { builtInProviders } from '../../src/providers/index.ts';
import { defineProvider } from '../../src/providers/provider.ts';
import { exaSearch } from '../../src/search/exa.ts';
import { readAddress } from '../../src/setup/options/base-url.ts';
import { hello, testGateway, testKey } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

const secret = 'sk-real-0123456789abcdef';

/** The key as people paste it, and whether the operator is told. */
const pasted: [string, string, boolean][] = [
  ['a line end behind it', `${secret}\n`, false],
  ['a Windows line end behind it', `${secret}\r\n`, false],
  ['spaces and tabs around it', ` \t${secret}  `, false],
  ['a no-break space and a byte order mark', `\ufeff${secret}\u00a0`, false],
  ['a zero-width space', `\u200b${secret}\u200b`, false],
  ['double quotes', `"${secret}"`, true],
  ['single quotes and a line end', `'${secret}'\n`, true],
  ['curly quotes', `\u201c${secret}\u201d`, true],
  ['Bearer', `Bearer ${secret}`, true],
  ['a whole header, quoted', `"Authorization: Bearer ${secret}"`, true],
  ['x-api-key', `x-api-key: ${secret}`, true],
];

/** What cannot be a key. */
const impossible: [string, string][] = [
  ['a line end inside', `sk-real\n${secret}`],
  ['two headers', `${secret}\r\nx-evil: 1`],
  ['a NUL', `sk-\0${secret}`],
  ['a letter of another script', `sk-\u0430${secret}`],
  ['a zero-width space inside', `sk-\u200b${secret}`],
  ['the name of a variable', `$\{OPENAI_API_KEY}`],
  ['a reference of another gateway', 'os.environ/OPENAI_API_KEY'],
  ['no value as a text', 'undefined'],
  ['blanks alone', ' \n '],
];

function optionsWith(provider: object): GatewayOptions {
  return {
    providers: { up: { baseUrl: 'https://up.test/v1', ...provider } },
    models: [{ slug: 'acme/fast', endpoints: [{ provider: 'up', model: 'm' }] }],
    apiKeys: [{ key: testKey }],
  };
}

function logged(): { lines: string[]; logger: NonNullable<GatewayOptions['logger']> } {
  const lines: string[] = [];
  const line = (fields: object, message: string) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  return { lines, logger: { info: () => undefined, warn: line, error: line } };
}

/** The error of a start, which names the option and never the secret. */
function startError(options: GatewayOptions): OptionsError {
  try {
    createGateway(options);
  } catch (error) {
    expect(error).toBeInstanceOf(OptionsError);
    expect(`${(error as Error).message} ${JSON.stringify((error as OptionsError).issues)}`).not.toContain(secret);
    return error as OptionsError;
  }
  throw new Error('it started');
}

describe('a key of the operator', () => {
  it.each(pasted)('with %s is sent without it', async (_, apiKey, isTold) => {
    const { lines, logger } = logged();
    const { upstream, post } = testGateway({ ...optionsWith({ apiKey }), logger });
    upstream.answer({ body: completion() });
    expect((await post({ model: 'acme/fast', messages: hello })).status).toBe(200);
    expect(upstream.sent[0]?.headers.authorization).toBe(`Bearer ${secret}`);
    const told = lines.filter((line) => line.includes('providers.up.apiKey'));
    expect(told.length > 0).toBe(isTold);
    expect(lines.join()).not.toContain(secret);
  });
  it.each(impossible)('with %s is refused at the start, by name', (_, apiKey) => {
    expect(startError(optionsWith({ apiKey })).issues).toMatchObject([{ path: 'providers.up.apiKey' }]);
  });
  it('in code is read in the same way', () => {
    const made = (apiKey: string) => ({
      ...optionsWith({}),
      providers: { up: defineProvider({ slug: 'up', baseUrl: 'https://up.test/v1', dialect: openaiChat, apiKey }) },
    });
    expect(() => createGateway(made(`"${secret}"\n`))).not.toThrow();
    expect(startError(made(`a\n${secret}`)).issues).toMatchObject([{ path: 'providers.up.apiKey' }]);
  });
  it('of blanks alone in the environment is not set', () => {
    expect(defaultOptions({ OPENAI_API_KEY: ' \n', LOCAL_BASE_URL: ' ' }).providers).toEqual({ sandbox: {} });
    expect(defaultOptions({ OPENAI_API_KEY: `${secret}\n` }).providers).toMatchObject({ openai: { apiKey: secret } });
  });
  it('of a search engine is read in the same way', () => {
    expect(() => exaSearch({ apiKey: ` "${secret}"\n` })).not.toThrow();
    expect(() => exaSearch({ apiKey: `a\n${secret}` })).toThrow(/^(?!.*sk-real).*is no key/);
  });
  it('is left alone where blanks, quotes and Bearer are part of it', () => {
    for (const key of ['a b', 'Bearer', 'it"s', "'", 'x"', 'bearer-token'])
      expect(pastedKey(key)).toEqual({ key, leftOut: [] });
  });
});

describe('a key of callers', () => {
  it.each([`${secret}\n`, `"${secret}"`, ` ${secret}`])(
    'in the options, %j, is the one that callers send',
    async (key) => {
      const { upstream, post } = testGateway({ ...optionsWith({}), apiKeys: [{ key }] });
      upstream.answer({ body: completion() });
      expect((await post({ model: 'acme/fast', messages: hello }, { authorization: `Bearer ${secret}` })).status).toBe(
        200,
      );
    },
  );
  it('with a blank inside is refused by name: nobody could send it', () => {
    expect(startError({ ...optionsWith({}), apiKeys: [{ key: `two ${secret}` }] }).issues).toMatchObject([
      { path: 'apiKeys[0].key' },
    ]);
  });
});

describe('a key that a workspace brings', () => {
  it.each(pasted)('with %s is stored without it', async (_, key) => {
    const { call } = testGateway({ secrets: { current: 'a master secret of the tests, which is long enough' } });
    const made = await call('POST', '/byok', { provider: 'openai', key });
    expect(made.status).toBe(201);
    expect(made.json.data.label).toBe(
      (await call('POST', '/byok', { provider: 'openai', key: secret })).json.data.label,
    );
    expect(made.text).not.toContain(secret);
  });
  it('with a line end inside is refused by name', async () => {
    const { call } = testGateway({ secrets: { current: 'a master secret of the tests, which is long enough' } });
    const made = await call('POST', '/byok', { provider: 'openai', key: `sk\n${secret}` });
    expect([made.status, made.json.error.metadata.issues[0].path]).toEqual([400, 'key']);
    expect(made.text).not.toContain(secret);
  });
});

describe('the address of a provider', () => {
  const reached = 'https://up.test/v1/chat/completions';
  it.each([
    ['https://up.test/v1', false],
    ['https://up.test/v1/', false],
    ['https://up.test/v1///', false],
    ['https://up.test/v1/chat/completions', true],
    ['https://up.test/v1/chat/completions/', true],
    ['https://up.test/v1/responses', true],
    ['https://up.test/v1/messages', true],
    ['https://up.test/v1/embeddings', true],
    ['https://up.test/v1/models', true],
    ['https://up.test//v1', true],
    ['https://up.test//v1//chat/completions', true],
    [' https://up.test/v1\n', false],
  ])('%j is called where it was meant', async (baseUrl, isTold) => {
    const { lines, logger } = logged();
    const { upstream, post } = testGateway({ ...optionsWith({ baseUrl }), logger });
    upstream.answer({ body: completion() });
    expect((await post({ model: 'acme/fast', messages: hello })).status).toBe(200);
    expect(upstream.sent[0]?.url).toBe(reached);
    expect(lines.some((line) => line.includes('providers.up.baseUrl'))).toBe(isTold);
  });
  it.each([
    'up.test/v1',
    'localhost:8000/v1',
    'ftp://up.test/v1',
    'https://https://up.test/v1',
    `https://me:${secret}@up.test/v1`,
    'https://up.test/v 1',
    '"https://up.test/v1"',
    '',
  ])('%j is refused at the start, by name', (baseUrl) => {
    const [issue] = startError(optionsWith({ baseUrl })).issues;
    expect(issue?.path).toMatch(/^providers\.up(?:\.baseUrl)?$/);
  });

  const read = (url: string, dialect = 'openai-chat') => readAddress(url, dialect, builtInProviders);
  it.each([
    ['https://api.openai.com', 'openai-chat', 'https://api.openai.com/v1'],
    ['https://api.anthropic.com/', 'anthropic-messages', 'https://api.anthropic.com/v1'],
    ['https://api.anthropic.com/v1/messages', 'anthropic-messages', 'https://api.anthropic.com/v1'],
    ['http://api.openai.com/v1', 'openai-chat', 'https://api.openai.com/v1'],
    [
      'https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:streamGenerateContent',
      'google-generate-content',
      'https://generativelanguage.googleapis.com/v1beta',
    ],
    ['https://up.test/v1/chat/completions?api-version=2', 'openai-chat', 'https://up.test/v1?api-version=2'],
  ])('%s for %s becomes %s', (url, dialect, expected) => {
    expect(read(url, dialect)).toMatchObject({ url: expected, corrections: [expect.any(String)] });
  });
  it.each([
    'https://proxy.test/https://api.openai.com/v1',
    'https://api.deepseek.com',
    'https://up.test/my-chat/completions-v2',
    'http://127.0.0.1:11434/v1',
    'https://up.test',
  ])('%s stays', (url) => {
    expect(read(url)).toEqual({ url, corrections: [] });
  });
  it('of localhost without a port is called, and its operator told of the port', () => {
    expect(read('http://localhost/v1')).toMatchObject({
      url: 'http://localhost/v1',
      corrections: [expect.stringContaining('port 80')],
    });
  });
});
