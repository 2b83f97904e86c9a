import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/start-service.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'model-gateway-quiet-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Prints every name that the process looks up, and every address that it connects to. */
const watching = `import dns from 'node:dns';
import { Socket } from 'node:net';
import dgram from 'node:dgram';
const note = (what) => process.stderr.write('NETWORK ' + what + '\\n');
const { lookup } = dns;
dns.lookup = (name, ...rest) => { note('looks up ' + name); return lookup(name, ...rest); };
dns.promises.lookup = (name) => { note('looks up ' + name); return Promise.reject(new Error('no network here')); };
const { connect } = Socket.prototype;
Socket.prototype.connect = function (...given) {
  const [first] = given.flat();
  note('connects to ' + (first?.host ?? first?.path ?? first) + ':' + first?.port);
  return connect.apply(this, given);
};
const { createSocket } = dgram;
dgram.createSocket = (...given) => { note('opens a datagram socket'); return createSocket(...given); };
`;
const hook = join(folder, 'watching.mjs');
writeFileSync(hook, watching);

function run(program: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, ['--import', hook, '--conditions=model-gateway-source', ...program], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: folder, MODEL_GATEWAY_DATA: mkdtempSync(join(folder, 'data-')), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part) => (text += part));
  const ended = new Promise<string>((resolve) => child.once('close', () => resolve(text)));
  return { child, ended, said: () => text };
}

/** What was asked, beside the address that the gateway itself listens on. */
const networkIn = (text: string) =>
  text.split('\n').filter((line) => line.startsWith('NETWORK') && line !== 'NETWORK looks up 127.0.0.1');

it('a gateway that serves, lists, keeps records and stops asks nobody but the providers that a request is for', async () => {
  const port = await freePort();
  const key = 'sk-quiet-0123456789';
  const { child, ended, said } = run(['adapters/cli/cli.ts', 'serve', '--port', `${port}`], {
    GATEWAY_API_KEY: key,
    OPENAI_API_KEY: 'sk-openai-0123456789',
    ANTHROPIC_API_KEY: 'sk-ant-0123456789',
  });
  await expect.poll(said, { timeout: 20_000 }).toContain('serves ');
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const url = `http://127.0.0.1:${port}/v1`;
  const body = JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] });
  for (const [path, init] of [
    ['/models', {}],
    ['/chat/completions', { method: 'POST', body }],
    ['/chat/completions/explain', { method: 'POST', body }],
    ['/generations', {}],
    ['/endpoints/zdr', {}],
    ['/openapi.json', {}],
  ] as const)
    expect([path, (await fetch(url + path, { headers, ...init })).status]).toEqual([path, 200]);
  expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
  child.kill('SIGTERM');
  expect(networkIn(await ended)).toEqual([]);
}, 40_000);

it('a command without --live, and an import of the package, ask nobody', async () => {
  for (const program of [
    ['adapters/cli/cli.ts', 'doctor'],
    ['adapters/cli/cli.ts', '--version'],
    ['--input-type=module', '--eval', `await import(${JSON.stringify(join(root, 'src/index.ts'))})`],
  ])
    expect([program, networkIn(await run(program).ended)]).toEqual([program, []]);
}, 40_000);

it('what watches the network sees it', async () => {
  const program = "fetch('http://nobody.invalid/').catch(() => undefined)";
  expect(networkIn(await run(['--input-type=module', '--eval', program]).ended)[0]).toContain('nobody.invalid');
}, 20_000);
