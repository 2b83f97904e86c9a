import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Gateway } from '../../src/gateway.ts';
import { completion, type HttpUpstream, httpUpstream } from '../support/upstream.ts';
import { examplesOf, writeExample } from './example-files.ts';

/** What README.md shows as the key of callers. */
const key = 'sk-change-me-please';

/** Servers that the examples have started, and where they wanted to listen. */
const started: { server: Server; wanted: unknown[] }[] = [];
let upstream: HttpUpstream;
const { listen } = Server.prototype;

beforeAll(async () => {
  upstream = await httpUpstream();
  for (const name of ['OPENAI_API_KEY', 'GATEWAY_API_KEY', 'PORT']) vi.stubEnv(name, undefined);
  // An example listens on the port that its text names; a test on any that is free.
  Server.prototype.listen = function (this: Server, ...wanted: unknown[]) {
    started.push({ server: this, wanted });
    const callback = wanted.find((one): one is () => void => typeof one === 'function');
    return Reflect.apply(listen, this, [0, '127.0.0.1', callback]);
  } as Server['listen'];
});

afterAll(async () => {
  Server.prototype.listen = listen;
  vi.unstubAllEnvs();
  for (const { server } of started) server.close();
  await upstream.close();
});

/** Imports an example. The n-th of a file, counted from 1. */
async function run(
  name: string,
  code: string,
  options: Parameters<typeof writeExample>[2] = {},
): Promise<Record<string, unknown>> {
  const path = writeExample(name, code, options);
  return import(/* @vite-ignore */ path);
}

/** The origin of the server that was started last, which had wanted port 3000 of this machine only. */
async function startedOrigin(): Promise<string> {
  const { server, wanted } = started.at(-1) as (typeof started)[number];
  expect(wanted.slice(0, 2)).toEqual([3000, '127.0.0.1']);
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const json = { 'content-type': 'application/json' };

function chat(body: object = {}): RequestInit & { method: string } {
  return {
    method: 'POST',
    headers: { ...json, authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi there' }], ...body }),
  };
}

async function expectEcho(response: Response): Promise<void> {
  expect(response.status).toBe(200);
  const { choices, provider } = await response.json();
  expect([provider, choices[0].message.content]).toEqual(['Sandbox', 'Hi there']);
}

describe('README.md', () => {
  const examples = examplesOf('README.md');
  const from = { gateway: 'readme-express' };
  let origin: string;

  /** The example in which a text stands; there is one. */
  const holding = (text: string) => {
    const found = examples.filter((code) => code.includes(text));
    expect(found).toHaveLength(1);
    return found[0] as string;
  };
  const marks = [
    'import express',
    'stream: true',
    '// Koa',
    '// Next',
    '// Bun',
    '// Plain Node',
    '// Your own server',
    '// Workspaces, budgets and keys',
  ];

  it('shows no example that is not run here', () => {
    expect(examples.map((code) => marks.filter((mark) => code.includes(mark)))).toEqual(marks.map((mark) => [mark]));
  });
  it('serves from Express, falls back as its comment says, and passes on what is not listed', async () => {
    await run('readme-express', holding('import express'), { replace: { 'http://127.0.0.1:11434/v1': upstream.url } });
    origin = await startedOrigin();
    await expectEcho(await fetch(`${origin}/v1/chat/completions`, chat()));
    upstream.always({ status: 401, body: { error: { message: 'no' } } });
    await expectEcho(await fetch(`${origin}/v1/chat/completions`, chat({ model: 'acme/fast' })));
    expect(upstream.sent.at(-1)?.body.model).toBe('qwen3:4b');
    await (await fetch(`${origin}/v1/chat/completions`, chat({ model: 'local/other:1b' }))).text();
    expect(upstream.sent.at(-1)?.body.model).toBe('other:1b');
    const { error } = await (await fetch(`${origin}/v1/chat/completions`, chat({ model: 'openai/gpt-4.1' }))).json();
    expect(error.metadata.excluded).toContainEqual({
      model: 'openai/gpt-4.1',
      provider: 'openai',
      filter: 'credentials',
    });
  });
  it('streams to the openai client', async () => {
    let shown = '';
    const spy = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
      shown += text;
      return true;
    });
    try {
      await run('readme-client', holding('stream: true'), { replace: { 'http://127.0.0.1:3000': origin } });
    } finally {
      spy.mockRestore();
    }
    expect(shown).toMatch(/^This is the sandbox: .* Lorem ipsum .*\.$/s);
  });
  it.each([
    ['koa', '// Koa'],
    ['node', '// Plain Node'],
  ])('serves from %s', async (name, mark) => {
    await run(`readme-${name}`, holding(mark), { from });
    await expectEcho(await fetch(`${await startedOrigin()}/v1/chat/completions`, chat()));
  });
  it('serves from Next', async () => {
    const { POST, GET } = await run('readme-next', holding('// Next'), { from });
    const handlers = { POST, GET } as Record<string, (request: Request, context: object) => Promise<Response>>;
    const context = { params: Promise.resolve({ path: ['chat', 'completions'] }) };
    const url = 'http://next.test/api/v1/chat/completions';
    await expectEcho((await handlers.POST?.(new Request(url, chat()), context)) as Response);
    expect((await handlers.GET?.(new Request(url), context))?.status).toBe(405);
  });
  it('serves from Bun', async () => {
    const serve = vi.fn(
      (_: { port: number; fetch: (request: Request, server: object) => Promise<Response> }) => undefined,
    );
    vi.stubGlobal('Bun', { serve });
    try {
      await run('readme-bun', holding('// Bun'), { from });
    } finally {
      vi.unstubAllGlobals();
    }
    const server = { timeout: () => undefined, stop: async () => undefined };
    const request = new Request('http://bun.test/v1/chat/completions', chat());
    await expectEcho((await serve.mock.calls[0]?.[0].fetch(request, server)) as Response);
  });
  it('keeps workspaces, budgets and keys in one file, and says what it lacks', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'model-gateway-readme-'));
    const replace = { 'gateway.db': join(folder, 'gateway.db') };
    const tenants = holding('// Workspaces, budgets and keys');
    await expect(run('readme-unsealed', tenants, { replace })).rejects.toThrow(
      /secrets\.current: expected at least 32/,
    );
    vi.stubEnv('GATEWAY_SECRET', 'a master secret of the tests, which is long enough');
    const gateway = (await run('readme-tenants', tenants, { replace })).gateway as Gateway;
    const manage = async (method: string, path: string, body: object, status: number) => {
      const { headers } = chat();
      const response = await gateway.fetch(`http://in-process/v1${path}`, {
        method,
        headers,
        body: JSON.stringify(body),
      });
      expect(response.status).toBe(status);
      return response.json();
    };
    const { data } = await manage('POST', '/workspaces', { name: 'Acme', slug: 'acme' }, 201);
    await manage('PUT', '/workspaces/acme/budgets/daily', { limit_usd: 1 }, 200);
    await manage('POST', '/byok', { provider: 'openai', key: 'sk-of-acme-0123456789', workspace_id: data.id }, 201);
    const made = await manage('POST', '/keys', { name: 'one', workspace_id: data.id }, 201);
    const again = (await run('readme-tenants-again', tenants, { replace })).gateway as Gateway;
    const headers = { ...json, authorization: `Bearer ${made.key}` };
    await expectEcho(await again.fetch('http://in-process/v1/chat/completions', { ...chat(), headers }));
    for (const one of [gateway, again]) await one.close();
    rmSync(folder, { recursive: true });
  });
  it('serves without a socket', async () => {
    const { response, client } = await run('readme-own', holding('// Your own server'), { from });
    // It shows no key.
    expect((response as Response).status).toBe(401);
    const { default: OpenAI } = await import('openai');
    expect(client).toBeInstanceOf(OpenAI);
    const messages = [{ role: 'user' as const, content: 'Hi there' }];
    const answer = await (client as InstanceType<typeof OpenAI>).chat.completions.create({
      model: 'sandbox/echo',
      messages,
    });
    expect(answer.choices[0]?.message.content).toBe('Hi there');
  });
});

describe('docs/options.md', () => {
  const [first = '', users = '', named = '', keys = '', ...rest] = examplesOf('docs/options.md');
  const [own = '', dialect = '', ...ofProviders] = examplesOf('docs/options-providers.md');
  const [records = '', ...ofRecords] = examplesOf('docs/record-fields.md');
  const others = [
    rest,
    ofProviders,
    ofRecords,
    examplesOf('docs/options-models.md'),
    examplesOf('docs/options-requests.md'),
  ];

  it('shows no example that is not run here', () => {
    expect(others.flat()).toEqual([]);
  });
  it('begins with a gateway that serves a model under its other name', async () => {
    vi.stubEnv('GROQ_API_KEY', undefined);
    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    const gateway = (await run('options-first', first)).gateway as Gateway;
    await expectEcho(await gateway.fetch('http://in-process/v1/chat/completions', chat({ model: 'helper' })));
    expect(log.mock.calls).toEqual([[['first-app'], 'acme/helper', expect.any(Number)]]);
    log.mockRestore();
    await gateway.close();
  });
  it('signs with what a provider in code says', async () => {
    vi.stubEnv('ACME_API_KEY', 'key-of-acme');
    const { gateway } = await run('options-own', own, {
      replace: { 'https://inference.acme.example/v1': upstream.url },
    });
    const choice = { index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' };
    upstream.answer({ body: { choices: [choice] } });
    const request = chat({ model: 'acme/big', max_tokens: 2, logit_bias: { 1: 1 } });
    const response = await (gateway as Gateway).fetch('http://in-process/v1/chat/completions', request);
    expect(await response.json()).toMatchObject({ provider: 'Acme', choices: [choice] });
    const { headers, body } = upstream.sent.at(-1) as HttpUpstream['sent'][number];
    expect(headers).toMatchObject({ 'x-acme-key': 'key-of-acme' });
    expect(body).toEqual({ model: 'big', messages: [{ role: 'user', content: 'Hi there' }], max_tokens: 16 });
  });
  it('speaks a dialect in code to its provider', async () => {
    const { gateway } = await run('options-dialect', dialect, {
      replace: { 'https://inference.acme.example/v1': upstream.url },
    });
    upstream.answer({ body: completion() });
    const response = await (gateway as Gateway).fetch(
      'http://in-process/v1/chat/completions',
      chat({ model: 'acme/x' }),
    );
    expect(response.status).toBe(200);
    const { path, body } = upstream.sent.at(-1) as HttpUpstream['sent'][number];
    expect(path).toBe('/v1/talk');
    expect(body).toEqual({ model: 'x', turns: [{ role: 'user', content: 'Hi there' }] });
  });
  it('lets in whom the host app names, and nobody else', async () => {
    const example = await run('options-named', named);
    const [gateway, handle] = [example.gateway as Gateway, example.handle as (request: Request) => Promise<Response>];
    expect((example.response as Response).status).toBe(200);
    const ask = () => new Request('http://gateway/v1/models');
    expect([(await gateway.fetch(ask())).status, (await handle(ask())).status]).toEqual([401, 200]);
    await gateway.close();
  });
  it('lets in whom authenticate knows', async () => {
    const gateway = (await run('options-users', users)).gateway as Gateway;
    const ask = (session: string, body?: object) => {
      const { headers: _, ...init } = chat(body);
      return gateway.fetch('http://in-process/v1/chat/completions', {
        ...init,
        headers: { ...json, 'x-session': session },
      });
    };
    await expectEcho(await ask('s-1'));
    expect((await ask('s-2')).status).toBe(401);
    expect(await (await ask('s-1', { model: 'nobody/knows' })).json()).toMatchObject({ user_id: 'ada' });
  });
  it('makes keys and takes them back', async () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    const { gateway, key: made } = await run('options-keys', keys);
    expect(log.mock.calls).toEqual([[expect.stringMatching(/^sk-gw-\w{32}$/)]]);
    log.mockRestore();
    const ask = (bearer: unknown) =>
      (gateway as Gateway).fetch('http://in-process/v1/chat/completions', {
        ...chat(),
        headers: { ...json, authorization: `Bearer ${bearer}` },
      });
    expect((await ask(made)).status).toBe(401);
    await expectEcho(await ask((await (gateway as Gateway).apiKeys.create()).key));
  });
  it('adds up what a key has spent', async () => {
    const { gateway, spent } = await run('options-records', records);
    await expectEcho(await (gateway as Gateway).fetch('http://in-process/v1/chat/completions', chat()));
    const [[hash, nanoUsd] = []] = spent as Map<string, number>;
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(nanoUsd).toBeGreaterThan(0);
  });
});
