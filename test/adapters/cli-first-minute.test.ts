import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { root } from '../docs/markdown.ts';
import { serve, start } from './cli-start.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'model-gateway-init-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const init = (...input: string[]) => start(['init'], {}, { folder, input });
const written = (name: string) => readFileSync(join(folder, name), 'utf8');

describe('model-gateway init', () => {
  it('asks two questions and writes a config that createGateway takes, and its variables', async () => {
    const { code, printed } = init('OpenAI, groq', 'postgres');
    expect([await code, printed.error]).toEqual([0, '']);
    expect(printed.out.match(/\?|: /g)?.length).toBeGreaterThanOrEqual(2);
    const config = written('gateway.config.mjs');
    expect(config).toContain('openai: { apiKey: process.env.OPENAI_API_KEY || undefined }');
    expect(config).toContain("import KeyvPostgres from '@keyv/postgres'");
    const names = [...written('.env').matchAll(/^(\w+)=/gm)].map(([, name]) => name);
    expect(names).toEqual(['GATEWAY_API_KEY', 'GATEWAY_SECRET', 'OPENAI_API_KEY', 'GROQ_API_KEY', 'DATABASE_URL']);
    for (const name of names) expect(config).toContain(`process.env.${name}`);
    expect(statSync(join(folder, '.env')).mode & 0o077).toBe(0);
    expect(printed.out).toContain('npm install @keyv/postgres pg');
    expect(printed.out).toContain('Fill in: OPENAI_API_KEY, GROQ_API_KEY in .env');
    expect(printed.out).not.toMatch(/sk-gw-\w/);
  });
  it('with no answers: the sandbox, and a file of SQLite', async () => {
    const { code } = init();
    expect(await code).toBe(0);
    expect(written('gateway.config.mjs')).toContain("sqliteStore('gateway.db')");
  });
  it.each<[string, string[], string]>([
    ['an unknown provider', ['opnai'], 'No provider "opnai" is built in'],
    ['an unknown store', ['openai', 'mysql'], 'Expected sqlite, postgres or redis, not "mysql"'],
  ])('writes nothing for %s', async (_, input, message) => {
    const { code, printed } = init(...input);
    expect([await code, readdirSync(folder)]).toEqual([1, []]);
    expect(printed.error).toContain(message);
  });
  it('overwrites nothing', async () => {
    writeFileSync(join(folder, '.env'), 'MINE=1\n');
    const { code, printed } = init();
    expect([await code, written('.env'), readdirSync(folder)]).toEqual([1, 'MINE=1\n', ['.env']]);
    expect(printed.error).toContain('.env exists already');
  });
  it('writes what serve then serves', async () => {
    await init('openai').code;
    // As npm would install it.
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    const config = join(folder, 'gateway.config.mjs');
    const sources = pathToFileURL(join(root, 'adapters', 'sqlite', 'sqlite.ts')).href;
    writeFileSync(
      config,
      written('gateway.config.mjs')
        .replace('model-gateway/sqlite', sources)
        .replace("'gateway.db'", `'${folder}/gateway.db'`),
    );
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    const variables = [...written('.env').matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]);
    const before = { ...process.env };
    Object.assign(process.env, Object.fromEntries(variables));
    try {
      const { url, code, signalAt } = serve({}, '--config', config);
      const headers = { authorization: `Bearer ${process.env.GATEWAY_API_KEY}` };
      const response = await fetch(`${await url}/workspaces`, { headers });
      expect(response.status).toBe(200);
      signalAt(0);
      expect(await code).toBe(0);
    } finally {
      process.env = before;
    }
  });
});

describe('model-gateway chat', () => {
  it('prints the response of the model, and nothing else', async () => {
    const { code, printed } = start(['chat', '--model', 'sandbox/echo', 'Hello there']);
    expect([await code, printed.out, printed.error]).toEqual([0, 'Hello there\n', 'sandbox/echo:\n']);
  });
  it('asks the sandbox where nothing else is set up', async () => {
    const { code, printed } = start(['chat', 'Hello']);
    const hint = 'No key of a provider is set, so the sandbox responds. Set OPENAI_API_KEY or ANTHROPIC_API_KEY, …';
    expect([await code, printed.error]).toEqual([0, `${hint}, or LOCAL_BASE_URL.\nsandbox/lorem:\n`]);
    expect(printed.out.length).toBeGreaterThan(20);
  });
  it('asks a running gateway', async () => {
    const { url, code: served, signalAt } = serve({ GATEWAY_API_KEY: 'sk-mine-1234567' });
    const env = { GATEWAY_API_KEY: 'sk-mine-1234567' };
    const { code, printed } = start(['chat', '--url', await url, '--model', 'sandbox/echo', 'Hello'], env);
    expect([await code, printed.out]).toEqual([0, 'Hello\n']);
    const refused = start(['chat', '--url', await url, 'Hello'], { GATEWAY_API_KEY: 'sk-other-1234567' });
    expect([await refused.code, refused.printed.error]).toEqual([
      1,
      expect.stringContaining('401: The API key is not'),
    ]);
    signalAt(0);
    expect(await served).toBe(0);
  });
  it.each([
    ['sandbox/error-429', '429'],
    ['nobody/knows', '400'],
    ['sandbox/cut-stream', '502: '],
    ['sandbox/error-mid-stream', '502: '],
  ])('says what went wrong: %s', async (model, message) => {
    const { code, printed } = start(['chat', '--model', model, 'Hello']);
    expect(await code).toBe(1);
    expect(printed.error).toContain(message);
  });
  it.each([
    ['openai/gpt-4.1', 'Set OPENAI_API_KEY to ask openai/gpt-4.1\n'],
    ['anthropic/claude-opus-4-8', 'Set ANTHROPIC_API_KEY to ask anthropic/claude-opus-4-8\n'],
    ['groq/llama', 'Set GROQ_API_KEY to ask groq/llama\n'],
  ])('names the variable of the key that %s needs', async (model, message) => {
    const { code, printed } = start(['chat', '--model', model, 'Hello']);
    expect([await code, printed.error]).toEqual([1, message]);
  });
  it('runs as a command, with variables from .env', async () => {
    writeFileSync(join(folder, '.env'), 'OPENAI_API_KEY=sk-nothing\nGATEWAY_API_KEY=sk-from-the-file\n');
    const cli = join(root, 'adapters', 'cli', 'cli.ts');
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [
        '--conditions=model-gateway-source',
        '--disable-warning=ExperimentalWarning',
        cli,
        'chat',
        '--model',
        'sandbox/echo',
        'Hi',
      ],
      { cwd: folder },
    );
    expect(stdout).toBe('Hi\n');
  });
});

describe('the console of model-gateway serve', () => {
  it('is at the address that is printed, for the key that is printed', async () => {
    const { printed, url, code, signalAt } = start(['serve', '--port', '0']);
    await url;
    const address = /console +(\S+)/.exec(printed.out)?.[1] as string;
    const key = /key +(\S+)/.exec(printed.out)?.[1] as string;
    const page = await fetch(address);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const [, script] = /src="([^"]+)"/.exec(await page.text()) ?? [];
    expect((await fetch(new URL(script as string, address))).status).toBe(200);
    const signedIn = await fetch(new URL('session', address), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ key }),
    });
    expect(signedIn.status).toBe(200);
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] as string;
    // Records are kept without being asked for.
    expect((await fetch(new URL('api/activity', address), { headers: { cookie } })).status).toBe(200);
    signalAt(0);
    expect(await code).toBe(0);
  });
  it('is left out with --no-console', async () => {
    const { printed, url, code, signalAt } = start(['serve', '--port', '0', '--no-console']);
    const base = await url;
    expect(printed.out).not.toMatch(/^ *console /m);
    expect((await fetch(new URL('/console/', base))).status).toBe(404);
    signalAt(0);
    expect(await code).toBe(0);
  });
});
