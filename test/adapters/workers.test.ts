import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { freePort } from '../support/start-service.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'model-gateway-workers-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A provider that the gateway finds at LOCAL_BASE_URL. Its streams stay open until `finish`. */
async function startProvider() {
  const open: ServerResponse[] = [];
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', model: 'x', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const server = createServer((req, res) => {
    req.resume().on('end', () => {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).write(chunk({ role: 'assistant', content: 'one ' }));
      open.push(res);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    open,
    finish: () => {
      for (const res of open) res.end(`${chunk({ content: 'two' })}${chunk({}, 'stop')}data: [DONE]\n\n`);
    },
  };
}

/** Runs the command in a process of its own. */
function startCommand(args: string[], env: Record<string, string> = {}) {
  const command = ['--conditions=model-gateway-source', 'adapters/cli/cli.ts', 'serve', ...args];
  const child = spawn(process.execPath, command, {
    cwd: root,
    env: {
      MODEL_GATEWAY_DATA: mkdtempSync(join(folder, 'data-')),
      GATEWAY_API_KEY: 'key-of-a-test-0123456789',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const printed = { out: '', error: '' };
  child.stdout.on('data', (text) => {
    printed.out += text;
  });
  child.stderr.on('data', (text) => {
    printed.error += text;
  });
  const exit = new Promise<string | number | null>((resolve) =>
    child.once('exit', (code, signal) => resolve(signal ?? code)),
  );
  const pid = child.pid as number;
  return {
    printed,
    exit,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    /** Ids of the worker processes. */
    workers: () => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    async url() {
      await Promise.race([
        vi.waitFor(() => expect(printed.out).toContain('workers;'), { timeout: 20_000, interval: 20 }),
        exit.then((code) => Promise.reject(new Error(`ended with ${code}: ${printed.error}`))),
      ]);
      return /serves (\S+)/.exec(printed.out)?.[1] as string;
    },
  };
}

const soon = { timeout: 20_000, interval: 20 };

/** Over a connection of its own, so that any of the workers may get it. */
function ask(url: string, path: string, body?: object, method = body ? 'POST' : 'GET'): Promise<Response> {
  return fetch(`${url}${path}`, {
    method,
    headers: {
      authorization: 'Bearer key-of-a-test-0123456789',
      'content-type': 'application/json',
      connection: 'close',
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
}

const hello = { messages: [{ role: 'user', content: 'Hello' }] };

// Signals and /proc are not those of Windows and macOS.
describe.runIf(process.platform === 'linux')('model-gateway serve --workers', { timeout: 60_000 }, () => {
  it('restarts at SIGHUP without cutting a stream, and ends with 0 at SIGTERM', async () => {
    const provider = await startProvider();
    const command = startCommand(['--port', '0', '--workers', '2'], { LOCAL_BASE_URL: provider.url });
    const url = await command.url();
    expect(command.printed.out.match(/serves /g)).toHaveLength(1);
    const before = command.workers();
    expect(before).toHaveLength(2);
    const streams = await Promise.all(
      Array.from({ length: 6 }, () => ask(url, '/chat/completions', { ...hello, model: 'local/x', stream: true })),
    );
    await vi.waitFor(() => expect(provider.open).toHaveLength(6), soon);
    command.kill('SIGHUP');
    await vi.waitFor(() => expect(command.printed.error).toContain('Restarted 2 workers'), soon);
    // New requests go to new workers, while the old ones keep their streams.
    expect((await ask(url, '/chat/completions', { ...hello, model: 'sandbox/echo' })).status).toBe(200);
    expect(command.workers()).toHaveLength(4);
    provider.finish();
    for (const stream of streams) {
      const text = await stream.text();
      expect(text).toContain('"content":"two"');
      expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true);
    }
    await vi.waitFor(() => expect(command.workers()).toHaveLength(2), soon);
    expect(command.workers().filter((pid) => before.includes(pid))).toEqual([]);
    command.kill('SIGTERM');
    expect(await command.exit).toBe(0);
    await expect(ask(url, '/models/count')).rejects.toThrow();
  });

  it('replaces a worker that was killed', async () => {
    const command = startCommand(['--port', '0', '--workers', '2', '--drain-ms', '600000']);
    const url = await command.url();
    const [killed] = command.workers() as [number];
    process.kill(killed, 'SIGKILL');
    await vi.waitFor(() => {
      expect(command.printed.error).toContain('A worker ended (SIGKILL): another one starts in 100 ms.');
      expect(command.workers()).toHaveLength(2);
      expect(command.workers()).not.toContain(killed);
    }, soon);
    expect((await ask(url, '/chat/completions', { ...hello, model: 'sandbox/echo' })).status).toBe(200);
    // The new one is perhaps only starting: it stops all the same. This test would not wait until it is killed.
    command.kill('SIGINT');
    expect(await command.exit).toBe(0);
  });

  it('spends one budget over all workers, and not more of it', async () => {
    const command = startCommand(['--port', '0', '--workers', '2']);
    const url = await command.url();
    const made = (await (await ask(url, '/workspaces', { name: 'Team', slug: 'team' })).json()) as {
      data: { id: string };
    };
    const budget = `/workspaces/${made.data.id}/budgets/monthly`;
    expect((await ask(url, budget, { limit_usd: 0.000_2 }, 'PUT')).status).toBe(200);
    const { key } = (await (await ask(url, '/keys', { name: 'Key', workspace_id: made.data.id })).json()) as {
      key: string;
    };
    const spend = async () => {
      const response = await fetch(`${url}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' },
        body: JSON.stringify({ ...hello, model: 'sandbox/lorem', max_tokens: 100 }),
      });
      const { usage } = (await response.json()) as { usage?: { cost: number } };
      return { status: response.status, cost: usage?.cost ?? 0 };
    };
    const answers = await Promise.all(Array.from({ length: 40 }, spend));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 402]));
    const booked = answers.reduce((sum, { cost }) => sum + Math.round(cost * 1e9), 0);
    expect(booked).toBeLessThanOrEqual(200_000);
    await vi.waitFor(async () => {
      const { data } = (await (await ask(url, budget)).json()) as { data: { spent_usd: number; held_usd: number } };
      expect([Math.round(data.spent_usd * 1e9), data.held_usd]).toEqual([booked, 0]);
    }, soon);
    command.kill('SIGTERM');
    expect(await command.exit).toBe(0);
  });

  it('shows the requests of all workers at GET /requests/stream', async () => {
    const config = join(folder, 'records.mjs');
    writeFileSync(
      config,
      `import { sqliteStore } from '${join(root, 'adapters/sqlite/sqlite.ts')}';
      export default {
        apiKeys: [{ key: 'key-of-a-test-0123456789', permissions: ['inference', 'management'] }],
        providers: { sandbox: {} },
        store: sqliteStore('${join(folder, 'records.db')}'),
        records: { enabled: true, flushMs: 20 },
      };`,
    );
    const command = startCommand(['--port', '0', '--workers', '2', '--config', config]);
    const url = await command.url();
    const watched = await ask(url, '/requests/stream?limit=40');
    const store = new DatabaseSync(join(folder, 'records.db'));
    const asksForRecords = () => store.prepare("SELECT id FROM gateway_records WHERE kind = 'tail-watched'").all();
    await vi.waitFor(() => expect(asksForRecords()).toHaveLength(1), soon);
    store.close();
    const ids: string[] = [];
    for (let request = 0; request < 40; request++) {
      const response = await ask(url, '/chat/completions', { ...hello, model: 'sandbox/echo' });
      ids.push(response.headers.get('x-generation-id') as string);
    }
    const shown = [...(await watched.text()).matchAll(/"id":"(gen-[^"]+)"/g)].map(([, id]) => id);
    expect(shown.sort()).toEqual(ids.sort());
    command.kill('SIGTERM');
    expect(await command.exit).toBe(0);
  });

  it('keeps the workers that it has where a new config file does not work', async () => {
    const config = join(folder, 'changing.mjs');
    writeFileSync(
      config,
      `export default { apiKeys: [{ key: 'key-of-a-test-0123456789' }], providers: { sandbox: {} } };`,
    );
    const command = startCommand(['--port', '0', '--workers', '2', '--config', config]);
    const url = await command.url();
    const before = command.workers();
    writeFileSync(config, 'export default { providers: 1 };');
    command.kill('SIGHUP');
    await vi.waitFor(() => expect(command.printed.error).toContain('2 workers go on as they were.'), soon);
    expect((await ask(url, '/chat/completions', { ...hello, model: 'sandbox/echo' })).status).toBe(200);
    expect(command.workers()).toEqual(before);
    command.kill('SIGTERM');
    expect(await command.exit).toBe(0);
  });

  it('refuses a store that workers cannot share, and says so', async () => {
    const config = join(folder, 'memory.mjs');
    writeFileSync(config, `export default { providers: { sandbox: {} }, store: new Map() };`);
    const command = startCommand(['--port', '0', '--workers', '2', '--config', config]);
    expect(await command.exit).toBe(1);
    expect(command.printed.error).toMatch(/budgets hold within this process only/);
    expect(command.printed.error).toMatch(/A worker ended before it served \(exit code 1\)/);
  });

  it('ends with 1 where the port is taken', async () => {
    const port = await freePort();
    const server = createServer().listen(port, '127.0.0.1');
    onTestFinished(() => void server.close());
    const command = startCommand(['--port', String(port), '--workers', 'auto']);
    expect(await command.exit).toBe(1);
    expect(command.printed.error).toContain(`Port ${port} on 127.0.0.1 is taken.`);
  });
});
