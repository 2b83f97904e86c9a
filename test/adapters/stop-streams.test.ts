import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { nextPiece, readAll, send } from '../contract/adapters/client.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'model-gateway-stop-'));
const config = join(folder, 'config.mjs');
writeFileSync(
  config,
  `export default {
    apiKeys: [{ key: 'sk-own-key-of-the-test', permissions: ['inference', 'management'] }],
    providers: { sandbox: {} },
    records: { enabled: true },
  };`,
);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The command as a process of its own, on one data folder. */
async function serveApart(...more: string[]) {
  const args = [
    '--conditions=model-gateway-source',
    'adapters/cli/cli.ts',
    'serve',
    '--port',
    '0',
    '--config',
    config,
    ...more,
  ];
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { MODEL_GATEWAY_DATA: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exit = new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)));
  let said = '';
  child.stderr.on('data', (text) => {
    said += text;
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (text) => {
      said += text;
      const found = /serves (\S+)/.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    });
    void exit.then((code) => reject(new Error(`ended with ${code}: ${said}`)));
  });
  return { url, stop: () => child.kill('SIGTERM'), exit };
}

const headers = { authorization: 'Bearer sk-own-key-of-the-test' };

describe('a stream that is still open when the time to drain is up', () => {
  it('is told so by its error event, and its record says that it was cut', async () => {
    const { url, stop, exit } = await serveApart('--drain-ms', '50');
    const ask = (path: string, body: object) => send(`${url}${path}`, { headers, body: JSON.stringify(body) }).response;
    const long = { model: 'sandbox/lorem', stream: true, sandbox: { tokens: 5_000, token_ms: 100 } };
    const json = ask('/chat/completions', {
      model: 'sandbox/lorem',
      messages: [{ role: 'user', content: 'Hello' }],
      sandbox: { first_token_ms: 60_000 },
    });
    const chat = await ask('/chat/completions', { ...long, messages: [{ role: 'user', content: 'Hello' }] });
    const responses = await ask('/responses', { ...long, input: 'Hello' });
    const ids = [chat, responses].map(({ headers: own }) => own['x-generation-id']);
    for (const one of [chat, responses]) expect(await nextPiece(one)).not.toBeNull();
    stop();
    const [ofChat, ofResponses] = await Promise.all([readAll(chat), readAll(responses)]);
    expect(ofChat).toMatchObject({ whole: true });
    expect(ofChat.text).toMatch(/data: \{.*"error":\{"code":503.*"finish_reason":"error".*\}\n/s);
    expect(ofResponses).toMatchObject({ whole: true });
    expect(ofResponses.text).toContain('event: response.failed');
    expect(await readAll(await json)).toMatchObject({ status: 503, whole: true });
    expect(await exit).toBe(0);

    const again = await serveApart();
    for (const id of ids) {
      const found = await readAll(await send(`${again.url}/generation?id=${id}`, { method: 'GET', headers }).response);
      expect(JSON.parse(found.text).data).toMatchObject({
        outcome: 'cut',
        status: 503,
        cancelled: false,
        finish_reason: 'error',
      });
    }
    again.stop();
    expect(await again.exit).toBe(0);
  }, 90_000);
});
