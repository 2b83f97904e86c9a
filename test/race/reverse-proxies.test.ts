import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, fetch, type Response } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { serve } from '../../adapters/hosts/node.ts';
import { createGateway } from '../../src/index.ts';
import { selfSigned } from '../contract/transport/raw-server.ts';
import { codeBlocks, readDoc } from '../docs/markdown.ts';
import { testKey } from '../support/gateway.ts';
import {
  chunk,
  completion,
  type HttpUpstream,
  httpUpstream,
  sse,
  textStream,
  usageChunk,
} from '../support/upstream.ts';

// The blocks of docs/tls.md, run as they stand there but for ports, names, and times that are made shorter.

const page = readDoc('docs/tls.md');
const authorization = `Bearer ${testKey}`;
const pingMs = 200;
const lifeMs = 4_000;

interface Proxy {
  program: string;
  /** The command that runs the block, with files of its own in a folder. */
  command(program: string, folder: string, port: number, gatewayPort: number): Promise<string[]>;
}

/** Puts other texts in the place of some, each of which has to be there. */
function replaced(text: string, by: Readonly<Record<string, string>>): string {
  return Object.entries(by).reduce((left, [old, other]) => {
    if (!left.includes(old)) throw new Error(`docs/tls.md has no ${old}`);
    return left.replaceAll(old, other);
  }, text);
}

const proxies: Record<string, Proxy> = {
  nginx: {
    program: 'nginx',
    async command(program, folder, port, gatewayPort) {
      const [block = ''] = codeBlocks(page, 'nginx');
      const own = replaced(block, {
        '127.0.0.1:8787': `127.0.0.1:${gatewayPort}`,
        'listen 443': `listen 127.0.0.1:${port}`,
        '/etc/ssl/llm.example.com.pem': join(folder, 'cert.pem'),
        '/etc/ssl/llm.example.com.key': join(folder, 'key.pem'),
        // Shorter than a connection is idle below, and longer than the time between two pings.
        'proxy_read_timeout 11m': 'proxy_read_timeout 1s',
        'proxy_send_timeout 11m': 'proxy_send_timeout 1s',
      });
      const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
      const temporary = paths.map((name) => `${name}_temp_path ${join(folder, name)};`).join('\n');
      const user = process.getuid?.() === 0 ? 'user root;\n' : '';
      const config = `${user}daemon off;\npid ${join(folder, 'pid')};\nerror_log stderr warn;\nworker_processes 1;
events {}\nhttp {\naccess_log off;\n${temporary}\n${own}\n}\n`;
      await writeFile(join(folder, 'nginx.conf'), config);
      return [program, '-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')];
    },
  },
  Caddy: {
    program: 'caddy',
    async command(program, folder, port, gatewayPort) {
      const [block = ''] = codeBlocks(page, 'caddyfile');
      const certificate = `tls ${join(folder, 'cert.pem')} ${join(folder, 'key.pem')}`;
      const own = replaced(block, {
        'llm.example.com {': `:${port} {\n  bind 127.0.0.1\n  ${certificate}`,
        '127.0.0.1:8787': `127.0.0.1:${gatewayPort}`,
      });
      await writeFile(join(folder, 'Caddyfile'), `{\n  admin off\n  auto_https off\n}\n${own}`);
      return [program, 'run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')];
    },
  },
};

function findProgram(name: string): string | null {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

describe.each(Object.entries(proxies))('the block of docs/tls.md for %s', (name, proxy) => {
  const program = findProgram(proxy.program);
  if (program === null) {
    process.stdout.write(`SKIPPED: ${name} is not installed, so its block of docs/tls.md was not run\n`);
    it.skip('is run where it is installed', () => undefined);
    return;
  }

  // undici's HTTP/2 loses a response that comes before the whole body was sent.
  const agent = new Agent({ allowH2: false, connect: { rejectUnauthorized: false } });
  const closing: (() => unknown)[] = [];
  let upstream: HttpUpstream;
  let base = '';

  beforeAll(async () => {
    upstream = await httpUpstream();
    const gateway = createGateway({
      providers: { up: { baseUrl: upstream.url, apiKey: 'sk-up-0123456789' } },
      models: [{ slug: 'acme/fast', endpoints: [{ provider: 'up', model: 'm' }] }],
      apiKeys: [{ key: testKey }],
      webSockets: { pingMs, lifeMs },
    });
    const served = await serve(gateway, { port: 0 });
    const folder = await mkdtemp(join(tmpdir(), 'model-gateway-proxy-'));
    const port = await freePort();
    await writeFile(join(folder, 'cert.pem'), selfSigned.cert);
    await writeFile(join(folder, 'key.pem'), selfSigned.key);
    await mkdir(join(folder, 'home'));
    const [command = '', ...args] = await proxy.command(program, folder, port, Number(new URL(served.url).port));
    const home = join(folder, 'home');
    const env = { PATH: process.env.PATH, HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home };
    const child: ChildProcess = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      errors = (errors + text).slice(-3_000);
    });
    closing.push(
      () => gateway.close(),
      () => served.close(0),
      () => upstream.close(),
      () => rm(folder, { recursive: true, force: true }),
      async () => {
        if (child.exitCode === null) {
          child.kill('SIGTERM');
          await once(child, 'exit');
        }
      },
      () => agent.destroy(),
    );
    base = `https://127.0.0.1:${port}/v1`;
    for (let tries = 0; ; tries++) {
      if (child.exitCode !== null || tries > 100) throw new Error(`${name} did not start: ${errors}`);
      if (
        await asked('/models').then(
          ({ ok }) => ok,
          () => false,
        )
      )
        break;
      await sleep(100);
    }
  });
  afterAll(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  const asked = (path: string, body?: unknown, signal?: AbortSignal): Promise<Response> =>
    fetch(base + path, {
      dispatcher: agent,
      headers: { authorization, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
  const chat = (fields: object, signal?: AbortSignal) =>
    asked('/chat/completions', { model: 'acme/fast', messages: [{ role: 'user', content: 'Hi' }], ...fields }, signal);
  /** A provider that begins, and says no more until it is told to. */
  const held = () => {
    const { promise: until, resolve: release } = Promise.withResolvers<void>();
    const rest = sse(chunk({ content: 'there' }), chunk({}, 'stop'), usageChunk(), '[DONE]');
    return { answer: { body: [sse(chunk({ content: 'Hello ' })), { until }, rest] }, release };
  };

  it('passes JSON on', async () => {
    upstream.answer({ body: completion() });
    const response = await chat({});
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'Hello there' } }] });
  });

  it('passes the errors of the gateway on', async () => {
    const response = await fetch(`${base}/models`, { dispatcher: agent, headers: { authorization: 'Bearer wrong' } });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: { code: 401 } });
  });

  it('passes each piece of a stream on at once', async () => {
    const { answer, release } = held();
    upstream.answer(answer);
    const { body } = await chat({ stream: true });
    let text = '';
    for await (const piece of body as AsyncIterable<Uint8Array>) {
      text += new TextDecoder().decode(piece);
      // The provider says the rest only after the client has read this.
      if (text.includes('Hello ')) release();
    }
    expect(text).toContain('there');
    expect(text).toContain('[DONE]');
  });

  it('tells the gateway when the client of a stream leaves', async () => {
    const { answer } = held();
    const at = upstream.sent.length;
    upstream.answer(answer);
    const leaving = new AbortController();
    const { body } = await chat({ stream: true }, leaving.signal);
    await (body as ReadableStream<Uint8Array>).getReader().read();
    const leftAtMs = performance.now();
    leaving.abort();
    expect((await (await upstream.request(at)).cut) - leftAtMs).toBeLessThan(1_000);
  });

  it('tells the gateway when a client that waits for JSON leaves', async () => {
    const at = upstream.sent.length;
    upstream.answer({ body: [{ hangs: true }], headers: { 'content-type': 'application/json' } });
    const leaving = new AbortController();
    const asking = chat({}, leaving.signal).catch(() => null);
    const sent = await upstream.request(at);
    const leftAtMs = performance.now();
    leaving.abort();
    await asking;
    expect((await sent.cut) - leftAtMs).toBeLessThan(1_000);
  });

  it('passes a large body on, and leaves it to the gateway to refuse one that is too large', async () => {
    upstream.answer({ body: completion() });
    const at = upstream.sent.length;
    const megabyte = 1024 * 1024;
    const large = await chat({ messages: [{ role: 'user', content: 'x'.repeat(20 * megabyte) }] });
    expect(large.status).toBe(200);
    expect(JSON.stringify((await upstream.request(at)).body).length).toBeGreaterThan(20 * megabyte);
    await large.body?.cancel();
    const refused = await chat({ messages: [{ role: 'user', content: 'x'.repeat(33 * megabyte) }] });
    expect(refused.status).toBe(413);
    expect(await refused.json()).toMatchObject({ error: { code: 413 } });
  });

  async function open() {
    const socket = new WebSocket(`${base.replace('https', 'wss')}/responses`, {
      headers: { authorization },
      rejectUnauthorized: false,
    });
    await once(socket, 'open');
    const frames: { type: string; error?: { code: string }; response?: { id: string } }[] = [];
    const waiting: (() => void)[] = [];
    socket.on('message', (data) => {
      frames.push(JSON.parse(String(data)));
      for (const look of waiting) look();
    });
    const until = (isLast: (frame: (typeof frames)[number]) => boolean) =>
      new Promise<(typeof frames)[number]>((resolve) => {
        const look = () => {
          const found = frames.find(isLast);
          if (found) resolve(found);
        };
        waiting.push(look);
        look();
      });
    const create = (fields: object) =>
      socket.send(JSON.stringify({ type: 'response.create', model: 'acme/fast', ...fields }));
    return { socket, frames, until, create };
  }
  const isCompleted = ({ type }: { type: string }) => type === 'response.completed';

  it('carries a WebSocket, turn after turn, also after a pause of twice its read time-out', async () => {
    upstream.answer({ body: textStream('one') }, { body: textStream('two') });
    const { socket, frames, until, create } = await open();
    create({ input: 'a' });
    const first = await until(isCompleted);
    frames.length = 0;
    // Pings of the gateway alone keep it open.
    await sleep(2_000);
    create({ input: 'b', previous_response_id: first.response?.id });
    await until(isCompleted);
    socket.terminate();
  });

  it('tells the gateway when the client of a WebSocket leaves', async () => {
    const { answer } = held();
    const at = upstream.sent.length;
    upstream.answer(answer);
    const { socket, until, create } = await open();
    create({ input: 'a' });
    await until(({ type }) => type === 'response.output_text.delta');
    const leftAtMs = performance.now();
    socket.terminate();
    expect((await (await upstream.request(at)).cut) - leftAtMs).toBeLessThan(1_000);
  });

  it('leaves it to the gateway to close a WebSocket of its full age', async () => {
    const { socket, until } = await open();
    const openedAtMs = performance.now();
    const closed = once(socket, 'close');
    expect(await until(({ type }) => type === 'error')).toMatchObject({
      error: { code: 'websocket_connection_limit_reached' },
    });
    expect((await closed)[0]).toBe(1000);
    expect(performance.now() - openedAtMs).toBeGreaterThan(lifeMs - 100);
  });
});
