import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { nextPiece, readAll, receive, send } from '../contract/adapters/client.ts';

const root = join(import.meta.dirname, '../..');
const example = join(root, 'examples/container');
const folder = mkdtempSync(join(tmpdir(), 'model-gateway-container-'));
const running: ChildProcess[] = [];
afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const dockerfile = readFileSync(join(example, 'Dockerfile'), 'utf8');
const instruction = (name: string): string[] =>
  JSON.parse(new RegExp(`^${name}.*?(\\[.*\\])$`, 'm').exec(dockerfile)?.[1] ?? 'null');
const sources = ['--conditions=model-gateway-source', join(root, 'adapters/cli/cli.ts')];
const key = 'sk-of-a-container';

/** Starts a program, and waits until it serves. */
async function started(program: string, args: string[], cwd: string, env: Record<string, string> = {}) {
  const child = spawn(program, args, {
    cwd,
    env: { PATH: process.env.PATH, HOME: folder, MODEL_GATEWAY_DATA: join(folder, 'data'), PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.push(child);
  const printed = { out: '', error: '' };
  child.stderr.on('data', (text) => {
    printed.error += text;
  });
  const exit = new Promise<unknown>((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)));
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (text) => {
      printed.out += text;
      const found = /serves (\S+)/.exec(printed.out)?.[1];
      if (found !== undefined) resolve(found.replace('0.0.0.0', '127.0.0.1'));
    });
    void exit.then((code) => reject(new Error(`ended with ${code}: ${printed.error}`)));
  });
  return { child, printed, exit, url };
}

function openStream(url: string) {
  const body = JSON.stringify({ model: 'sandbox/echo', stream: true, messages: [{ role: 'user', content: 'Hello' }] });
  return send(`${url}/chat/completions`, { body, headers: { authorization: `Bearer ${key}` } }).response;
}

/** Programs that run as process 1, as in a container. Elsewhere than on Linux, and without the right to, there are none. */
const unshare = ['--fork', '--pid', '--kill-child', '--mount-proc'];
const canBeFirst = spawnSync('unshare', [...unshare, 'true']).status === 0;

describe('the command of examples/container', () => {
  it('is the gateway itself, without a shell', () => {
    expect(instruction('CMD').slice(0, 3)).toEqual(['node', 'node_modules/model-gateway/dist/cli.js', 'serve']);
    const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(bin['model-gateway']).toBe('./dist/cli.js');
  });

  it(`lets open streams finish at SIGTERM, and ends with 0, as process ${canBeFirst ? '1' : 'of a test: process 1 NOT TRIED, unshare is refused here'}`, async () => {
    const args = [...sources, ...instruction('CMD').slice(2)];
    const [program, ...all] = canBeFirst
      ? ['unshare', ...unshare, process.execPath, ...args]
      : [process.execPath, ...args];
    const { child, printed, exit, url } = await started(program as string, all, example, { GATEWAY_API_KEY: key });
    const probe = instruction('HEALTHCHECK').slice(1);
    execFileSync(process.execPath, probe, { env: { PORT: new URL(url).port } });
    const received = await openStream(url);
    await nextPiece(received);
    const pid = canBeFirst
      ? Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim())
      : (child.pid as number);
    process.kill(pid, 'SIGTERM');
    expect((await readAll(received)).whole).toBe(true);
    expect(await exit).toBe(0);
    expect(printed.error).toContain('Stopping: ');
    expect(() => execFileSync(process.execPath, probe, { env: { PORT: new URL(url).port } })).toThrow();
    expect(printed.out + printed.error).not.toContain(key);
  });

  const hasDocker = spawnSync('docker', ['info'], { timeout: 5_000 }).status === 0;
  it.skipIf(!hasDocker)(
    hasDocker
      ? 'is an image that can be built'
      : 'NOT TRIED, NO DOCKER DAEMON HERE: that docker build makes an image of it',
    () => {
      expect(spawnSync('docker', ['build', '--check', example]).status).toBe(0);
    },
  );
});

describe('a gateway that npx has started', () => {
  it.skipIf(process.platform === 'win32')('ends when npx does, and lets open streams finish', async () => {
    const bin = join(folder, 'app/node_modules/.bin');
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(folder, 'app/package.json'), '{"private":true}');
    const command = join(bin, 'model-gateway');
    writeFileSync(
      command,
      `#!/bin/sh\nexec '${process.execPath}' ${sources.map((one) => `'${one}'`).join(' ')} "$@"\n`,
    );
    chmodSync(command, 0o755);
    const { child, exit, printed, url } = await started('npx', ['model-gateway', 'serve'], join(folder, 'app'), {
      GATEWAY_API_KEY: key,
    });
    const received = await openStream(url);
    await nextPiece(received);
    child.kill('SIGTERM');
    expect((await readAll(received)).whole).toBe(true);
    await exit;
    const isGone = () =>
      receive(`${url}/models`, { method: 'GET' }).then(
        () => false,
        () => true,
      );
    await expect.poll(isGone, { timeout: 10_000 }).toBe(true);
    expect(printed.error).toContain('Stopping: ');
  });
});
