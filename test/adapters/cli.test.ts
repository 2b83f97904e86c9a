import { execFile, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type Command, commands } from '../../adapters/cli/command-line/commands.ts';
import { nextPiece, readAll, receive, send } from '../contract/adapters/client.ts';
import { freePort } from '../support/start-service.ts';
import { serve, sharedData, start } from './cli-start.ts';

const root = join(import.meta.dirname, '../..');
const hello = { messages: [{ role: 'user', content: 'Hello' }] };

const chat = (url: string, key: string, request: object) =>
  send(`${url}/chat/completions`, {
    body: JSON.stringify({ ...hello, ...request }),
    headers: { authorization: `Bearer ${key}` },
  });

describe('model-gateway serve', () => {
  it('prints the address, a key made for this run and one curl line that streams an answer', async () => {
    const { url, printed, code, signalAt } = serve();
    await url;
    expect(readdirSync(/docs +(\S+)/.exec(printed.out)?.[1] ?? '')).toContain('options.md');
    const lines = printed.out.split('\n').filter((line) => line.startsWith('curl '));
    expect(lines).toHaveLength(1);
    const { stdout } = await promisify(execFile)('sh', ['-c', `${lines[0]} -sS`]);
    expect(stdout).toContain('chat.completion.chunk');
    expect(stdout.trimEnd().endsWith('data: [DONE]')).toBe(true);
    signalAt(0);
    expect(await code).toBe(0);
  });

  it('makes another key each time, and takes the one in GATEWAY_API_KEY', async () => {
    const servers = [serve(), serve(), serve({ GATEWAY_API_KEY: "it's-mine-1234" })];
    const keys: (string | undefined)[] = [];
    for (const { url, printed, code, signalAt } of servers) {
      const address = await url;
      const key = /key +(\S+)/.exec(printed.out)?.[1];
      keys.push(key);
      const { response } = chat(address, key ?? '', { model: 'sandbox/echo' });
      expect(await readAll(await response)).toMatchObject({ status: 200 });
      expect((await receive(`${address}/chat/completions`, { body: '{}' })).status).toBe(401);
      signalAt(0);
      expect(await code).toBe(0);
    }
    expect(new Set(keys).size).toBe(3);
    expect(keys[2]).toBe("it's-mine-1234");
    expect(servers[2]?.printed.out).toContain("-H 'Authorization: Bearer it'\\''s-mine-1234'");
  });

  it('takes the port of PORT, and the flag before it', async () => {
    const free = await freePort();
    const byVariable = start(['serve'], { PORT: String(free) });
    expect(await byVariable.url).toBe(`http://127.0.0.1:${free}/v1`);
    const byFlag = serve({ PORT: String(free) });
    expect(await byFlag.url).not.toContain(`:${free}/`);
    for (const { signalAt, code } of [byVariable, byFlag]) {
      signalAt(0);
      expect(await code).toBe(0);
    }
  });

  it('lets pages of the sites in --cors ask, and no others', async () => {
    const { url, code, signalAt } = start(['serve', '--port', '0', '--cors', 'https://a.example, https://b.example']);
    const allowed = async (origin: string) =>
      (await receive(`${await url}/models`, { method: 'OPTIONS', headers: { origin } })).headers[
        'access-control-allow-origin'
      ];
    expect(await allowed('https://b.example')).toBe('https://b.example');
    expect(await allowed('https://c.example')).toBeUndefined();
    signalAt(0);
    expect(await code).toBe(0);
    const mistaken = start(['serve', '--port', '0', '--cors', 'b.example']);
    expect(await mistaken.code).toBe(1);
    expect(mistaken.printed.error).toContain('cors.origins');
  });

  it('lets an open stream finish when it is stopped, a doubled signal included', async () => {
    const { url, printed, code, signalAt } = serve({ GATEWAY_API_KEY: 'key-123456' });
    const { response } = chat(await url, 'key-123456', { model: 'sandbox/echo', stream: true });
    const received = await response;
    await nextPiece(received);
    signalAt(1_000);
    signalAt(1_010);
    expect((await readAll(received)).whole).toBe(true);
    expect(await code).toBe(0);
    expect(printed.error).toMatch(/^Stopping: .*\n$/);
  });

  it('refuses at the second signal what has not begun to respond', async () => {
    const { url, code, signalAt } = serve({ GATEWAY_API_KEY: 'key-123456' });
    const { response } = chat(await url, 'key-123456', { model: 'sandbox/timeout', stream: true });
    const left = response.then(({ statusCode }) => statusCode);
    // The request is on its way once another one has been answered after it.
    await receive(`${await url}/nowhere`, { method: 'GET' });
    signalAt(1_000);
    signalAt(3_000);
    expect(await code).toBe(0);
    expect(await left).toBe(503);
  });

  it.each([
    [[], 'Expected one of the commands serve, chat, init'],
    [['begin'], 'Expected one of the commands serve, chat, init'],
    [['srve'], 'not "srve"; did you mean "serve"? More with model-gateway help.'],
    [['help', 'modles'], 'did you mean "models"?'],
    [['help', 'serve', 'chat'], 'Expected one command'],
    [['serve', '--model', 'a/b'], 'The command serve has no option --model'],
    [['serve', 'now'], 'Expected nothing after serve'],
    [['init', '--port', '1'], 'The command init has no option --port'],
    [['chat'], 'Expected a message: model-gateway chat "Hello"'],
    [['chat', 'Hello', 'there'], 'Expected one message in quotes'],
    [['chat', '--url', 'localhost', 'Hi'], 'Expected an address such as http://127.0.0.1:8787/v1 for url'],
    [['chat', '--url', 'http://127.0.0.1:9/v1', 'Hi'], 'Set GATEWAY_API_KEY to a key of the gateway'],
    [['serve', '--prot', '1'], `Unknown option '--prot'; did you mean "--port"? More with model-gateway help serve.`],
    [['serve', '-p', '1'], "Unknown option '-p'. More with model-gateway help serve."],
    [['serve', '--port'], 'The option --port needs a value: --port N'],
    [['serve', '--port', '--host', '::1'], 'The option --port needs a value'],
    [['serve', '--config='], 'The option --config needs a value'],
    [['serve', '--reference=no'], 'The option --reference takes no value'],
    [['import'], 'Expected a file: model-gateway import litellm.yaml'],
    [['chat', '--key', 'sk-1234567890', 'Hi'], '--key is for the gateway at --url'],
    [['models', '--url', 'http://127.0.0.1:9', '--config', 'x.mjs'], 'Give --url, or --config and --data'],
    [['keys', 'make', 'x'], 'Expected one of create, disable, enable, delete after keys, not "make"'],
    [['keys', 'create'], 'Expected a name: model-gateway keys create'],
    [['keys', 'disable', 'ab', '--limit', '1'], '--limit is for keys create NAME alone'],
    [['keys', 'create', 'CI', '--reset', 'daily'], '--reset needs --limit'],
    [['keys', 'create', 'CI', '--limit', 'much'], 'Expected USD for limit, not "much"'],
    [['budgets', 'set', 'hourly', '1'], 'Expected daily, weekly, monthly, lifetime after set, not "hourly"'],
    [['budgets', 'set', 'daily'], 'Expected an amount in USD: model-gateway budgets set daily 5'],
    [['budgets', 'raise'], 'Expected set or delete after budgets, not "raise"'],
    [['usage', '--by', 'mood'], 'Expected some of day, model, provider, key, workspace, user, tag for by, not "mood"'],
    [['usage', '--from', 'lately'], 'Expected a day such as 2026-01-31 for from, not "lately"'],
    [['explain'], 'Expected a message: model-gateway explain'],
    [['serve', '--port', 'http'], 'Expected a whole number from 0 to 65535 for port, not "http"'],
    [['serve', '--port', '65536'], 'not "65536"'],
  ])('ends the wrong command line %j with 2, and one line that says what is wrong', async (args, message) => {
    const { code, printed } = start(args);
    expect(await code).toBe(2);
    expect(printed.error).toContain(message);
    expect(printed.error.trimEnd().split('\n')).toHaveLength(1);
    expect(printed.out).toBe('');
  });

  it.each([
    [['serve', '--config', '/nowhere/config.mjs'], 'There is no config file'],
    [['serve', '--port', '0', '--host', '192.0.2.1'], 'Cannot listen on port 0 of 192.0.2.1'],
    [['keys', '--data', '/nowhere/data'], 'There is no gateway to ask: /nowhere/data holds no data'],
  ])('ends %j with 1, and one line that says what failed', async (args, message) => {
    const { code, printed } = start(args);
    expect(await code).toBe(1);
    expect(printed.error).toContain(message);
    expect(printed.error.trimEnd().split('\n')).toHaveLength(1);
    expect(printed.out).toBe('');
  });

  it('says so when the port is taken', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const { code, printed } = start(['serve', '--port', String(port)]);
    expect(await code).toBe(1);
    expect(printed.error).toBe(
      `Port ${port} on 127.0.0.1 is taken. Choose another with --port, or 0 for any free one.\n`,
    );
    await new Promise((resolve) => server.close(resolve));
  });

  it('names a wrong option, and never a key', async () => {
    const { code, printed } = start(['serve', '--port', '0'], { GATEWAY_API_KEY: 'shorty' });
    expect(await code).toBe(1);
    expect(printed.error).toContain('apiKeys[0].key');
    expect(printed.error).not.toContain('shorty');
  });

  it.each([['--help'], ['-h'], ['help']])('prints help: %s', async (...args) => {
    const { code, printed } = start(args);
    expect([await code, printed.error]).toEqual([0, '']);
    for (const name of Object.keys(commands)) expect(printed.out).toContain(`\n  ${name} `);
    for (const line of printed.out.split('\n')) expect(line.length).toBeLessThanOrEqual(120);
  });
  it.each(Object.entries<Command>(commands))('prints help about %s, each option of it', async (name, { options }) => {
    const { code, printed } = start([name, '-h']);
    expect(await code).toBe(0);
    for (const option of Object.keys(options)) expect(printed.out).toContain(`\n  --${option}`);
    const asked = start(['help', name]);
    expect([await asked.code, asked.printed.out]).toEqual([0, printed.out]);
    for (const line of printed.out.split('\n')) expect(line.length).toBeLessThanOrEqual(120);
  });
  it.each([['--version'], ['-v'], ['serve', '-v']])('prints its version: %s', async (...args) => {
    const { code, printed } = start(args);
    expect(await code).toBe(0);
    expect(printed.out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('the process', () => {
  it('serves a TypeScript config file, and ends with 0 at SIGTERM', async () => {
    const config = join(import.meta.dirname, 'cli-config.ts');
    const args = [
      '--conditions=model-gateway-source',
      'adapters/cli/cli.ts',
      'serve',
      '--port',
      '0',
      '--config',
      config,
    ];
    const child = spawn(process.execPath, args, {
      cwd: root,
      env: { MODEL_GATEWAY_DATA: sharedData },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const exit = new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)));
    let out = '';
    let error = '';
    child.stderr.on('data', (text) => {
      error += text;
    });
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout.on('data', (text) => {
        out += text;
        const found = /serves (\S+)/.exec(out)?.[1];
        if (found !== undefined) resolve(found);
      });
      void exit.then((code) => reject(new Error(`ended with ${code}: ${error}`)));
    });
    expect(url).toMatch(/\/llm$/);
    const { response } = chat(url, 'key-of-the-config', { model: 'acme/echo' });
    expect(await readAll(await response)).toMatchObject({ status: 200 });
    child.kill('SIGTERM');
    expect(await exit).toBe(0);
    expect(out).not.toContain('key-of-the-config');
    expect(error).toMatch(/^Stopping: .*\n$/);
  });
});
