import { spawn } from 'node:child_process';
import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@keyv/redis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { sqliteStore } from '../../adapters/sqlite/sqlite.ts';
import type { Sealer } from '../../src/entries/stores.ts';
import type { Gateway } from '../../src/index.ts';
import { isRedis } from '../support/ask.ts';
import { askPostgres } from '../support/postgres-client.ts';
import { command, startRedisCluster } from '../support/redis-cluster.ts';
import { isLongRun } from '../support/runs.ts';
import { describeWithPostgres, describeWithRedis, redisProgram } from '../support/services.ts';
import { freePort, type StartedService, startRedis } from '../support/start-service.ts';
import { examplesOf, writeExample } from './example-files.ts';
import { codeBlocks, quoted, readDoc, tableRows } from './markdown.ts';
import { membersOf } from './members.ts';

/** What was one page: stores, how money is held in them, and what is encrypted. */
const pages = ['docs/storage.md', 'docs/budgets.md', 'docs/encryption.md'];
const doc = pages.map(readDoc).join('\n');
const examples = pages.flatMap((page) => examplesOf(page));
const rows = tableRows(doc);
const adminKey = 'sk-the-key-of-an-admin';
const secrets = { old: 'old '.repeat(10), new: 'new '.repeat(10) };
const providerKey = 'sk-provider-0123456789-abcdefghij';

/** What tells the examples apart, in order. */
const marks = [
  'satisfies GatewayOptions',
  "sqliteStore('gateway.db')",
  'REDIS_URL',
  'minimizeConnections',
  'createSentinel(',
  'DATABASE_URL',
  '// your database',
  'backup(source',
  'NEW_SECRET',
  'VAULT_TOKEN',
];
const holding = (mark: string) => examples.find((code) => code.includes(mark)) as string;

let folder: string;
const closings: (() => unknown)[] = [];
let count = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'model-gateway-storage-'));
  vi.stubEnv('ADMIN_KEY', adminKey);
  vi.stubEnv('GATEWAY_SECRET', secrets.old);
  vi.stubEnv('OPENAI_API_KEY', undefined);
  await run('satisfies GatewayOptions', {}, 'storage-options');
});
afterAll(async () => {
  for (const close of closings.toReversed()) await close();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

interface Ran {
  gateway: Gateway;
  sealer: Sealer;
  store: { disconnect(): Promise<unknown>; on?(event: string, listener: () => void): unknown };
}

/** Runs an example, as a process of its own would: each time anew. */
async function run(mark: string, replace: Record<string, string> = {}, name = `storage-${++count}`): Promise<Ran> {
  const path = writeExample(name, holding(mark), { from: { options: 'storage-options' }, replace });
  const ran: Ran = await import(/* @vite-ignore */ path);
  closings.push(() => ran.gateway?.close());
  return ran;
}

interface Answered {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: of any operation, for a test to look into
  json: any;
}

/** A 503 says that it may be tried again, and a busy machine may take longer than a store should. */
async function ask(gateway: Gateway, method: string, path: string, body?: object, key = adminKey): Promise<Answered> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  for (let targets = 0; ; targets++) {
    const init = { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) };
    const response = await gateway.fetch(`http://gateway.test/v1${path}`, init);
    const json = await response.json();
    if (response.status !== 503 || targets === 50) return { status: response.status, json };
    await sleep(100);
  }
}

const hello = { model: 'sandbox/echo', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] };

/** Makes a workspace with a budget, a key and a credential, and spends something. */
async function settleIn(gateway: Gateway): Promise<{ id: string; slug: string; key: string; credential: string }> {
  const slug = `w-${randomUUID().slice(0, 8)}`;
  const made = await ask(gateway, 'POST', '/workspaces', { name: slug, slug });
  expect(made.status).toBe(201);
  const { id } = made.json.data;
  expect((await ask(gateway, 'PUT', `/workspaces/${id}/budgets/daily`, { limit_usd: 0.01 })).status).toBe(200);
  const credential = await ask(gateway, 'POST', '/byok', { provider: 'openai', key: providerKey, workspace_id: id });
  expect(credential.status).toBe(201);
  const created = await ask(gateway, 'POST', '/keys', { name: 'one', workspace_id: id });
  expect(created.status).toBe(201);
  const { key } = created.json;
  expect((await ask(gateway, 'POST', '/chat/completions', hello, key)).status).toBe(200);
  expect(await spentWith(gateway, key)).toBeGreaterThan(0);
  return { id, slug, key, credential: credential.json.data.id };
}

async function spentWith(gateway: Gateway, key: string): Promise<number> {
  const { status, json } = await ask(gateway, 'GET', '/key', undefined, key);
  expect(status).toBe(200);
  return json.data.usage;
}

/** Whether another instance sees what was made on the first one. */
async function isSeenBy(gateway: Gateway, { slug, key, credential }: Awaited<ReturnType<typeof settleIn>>) {
  const found = await ask(gateway, 'GET', `/workspaces/${slug}`);
  if (found.status === 404) return false;
  expect([found.status, (await ask(gateway, 'GET', `/byok/${credential}`)).status]).toEqual([200, 200]);
  expect((await ask(gateway, 'POST', '/chat/completions', hello, key)).status).toBe(200);
  return true;
}

/** What a store promises: a second instance on it sees what the first has made, and both sums. */
async function expectShared(first: Gateway, second: Gateway): Promise<void> {
  const made = await settleIn(first);
  const before = await spentWith(first, made.key);
  expect(await isSeenBy(second, made)).toBe(true);
  await expect.poll(() => spentWith(second, made.key)).toBeCloseTo(2 * before, 9);
}

describe('the examples of docs/storage.md', () => {
  it('are all run here', () => {
    expect(examples.map((code) => marks.filter((mark) => code.includes(mark)))).toEqual(marks.map((mark) => [mark]));
  });
  it('memory: works, and is gone with the process', async () => {
    const made = await settleIn((await run('satisfies GatewayOptions')).gateway);
    expect(await isSeenBy((await run('satisfies GatewayOptions')).gateway, made)).toBe(false);
  });
  it('memory: without the variables it names nothing starts', async () => {
    vi.stubEnv('GATEWAY_SECRET', undefined);
    vi.stubEnv('ADMIN_KEY', undefined);
    await expect(run('satisfies GatewayOptions')).rejects.toThrow(/apiKeys\[0\]\.key.*secrets\.current/);
    vi.stubEnv('GATEWAY_SECRET', secrets.old);
    vi.stubEnv('ADMIN_KEY', adminKey);
  });

  describe('SQLite', () => {
    const file = () => join(folder, 'gateway.db');
    let made: Awaited<ReturnType<typeof settleIn>>;
    it('is shared by whoever opens the file, and kept', async () => {
      const replace = { 'gateway.db': file() };
      const [first, second] = [
        await run("sqliteStore('gateway.db')", replace),
        await run("sqliteStore('gateway.db')", replace),
      ];
      await expectShared(first.gateway, second.gateway);
      made = await settleIn(first.gateway);
      for (const { gateway, store } of [first, second]) {
        await gateway.close();
        await store.disconnect();
      }
      const third = await run("sqliteStore('gateway.db')", replace);
      expect(await isSeenBy(third.gateway, made)).toBe(true);
      closings.push(() => third.store.disconnect());
    });
    it('is backed up while it is used, and restored', async () => {
      const copy = join(folder, 'copy.db');
      await run('backup(source', { '.model-gateway/gateway.db': file(), 'gateway-backup.db': copy });
      const restored = join(folder, 'restored.db');
      copyFileSync(copy, restored);
      const { gateway, store } = await run("sqliteStore('gateway.db')", { 'gateway.db': restored });
      expect(await isSeenBy(gateway, made)).toBe(true);
      closings.push(() => store.disconnect());
    });
    it('is rotated by a script beside it', async () => {
      vi.stubEnv('OLD_SECRET', secrets.old);
      vi.stubEnv('NEW_SECRET', secrets.new);
      const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
      const script = () => run('NEW_SECRET', { '.model-gateway/gateway.db': file() });
      try {
        await script();
        await script();
        expect(log.mock.calls.flat()).toEqual([
          '2 of 2 sealed anew; cannot be opened: none',
          '0 of 2 sealed anew; cannot be opened: none',
        ]);
        log.mockClear();
        vi.stubEnv('OLD_SECRET', 'another '.repeat(5));
        vi.stubEnv('NEW_SECRET', 'yet another '.repeat(5));
        await script();
        const [[line]] = log.mock.calls as [[string]];
        expect(line).toMatch(/^0 of 2 sealed anew; cannot be opened: /);
        expect(line).toContain(made.credential);
      } finally {
        log.mockRestore();
      }
    });
    it('has the tables that the docs name', async () => {
      const { database } = sqliteStore(file());
      const found = await database.read(() =>
        database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all(),
      );
      const names = found.map(({ name }) => name as string).filter((name) => !name.startsWith('sqlite_'));
      expect(names.toSorted()).toEqual(quoted(namesIn('SQLite')).toSorted());
    });
  });

  it('any other Keyv: works, and says at the start that budgets hold per process', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    for (const level of ['info', 'error'] as const) vi.spyOn(console, level).mockImplementation(() => undefined);
    try {
      const { gateway } = await run('// your database');
      const warnings = warn.mock.calls.map(([, message]) => String(message)).join('\n');
      expect(warnings).toContain('budgets hold within this process only');
      await settleIn(gateway);
    } finally {
      vi.restoreAllMocks();
    }
  });

  it('a sealer: a key service is asked for each credential, and bound to what it is for', async () => {
    const vault = await startVault();
    closings.push(() => vault.close());
    vi.stubEnv('VAULT_TOKEN', 'token-of-the-gateway');
    const { gateway, sealer } = await run('VAULT_TOKEN', { 'http://127.0.0.1:8200': vault.url });
    await settleIn(gateway);
    expect(vault.asked).toHaveLength(1);
    const [{ path, token, associated }] = vault.asked as [(typeof vault.asked)[number]];
    expect([path, token]).toEqual(['/v1/transit/encrypt/gateway', 'token-of-the-gateway']);
    expect(associated).toContain('openai');
    // It opens what it has sealed, for the same purpose alone.
    const sealed = await sealer.seal(new Uint8Array(32).fill(7), 'one');
    expect(await sealer.open(sealed, 'one')).toEqual(new Uint8Array(32).fill(7));
    await expect(sealer.open(sealed, 'other')).rejects.toMatchObject({ status: 500 });
    vault.isDown = true;
    await expect(sealer.open(sealed, 'one')).rejects.toThrow('vault answered 503');
    const down = await gateway.fetch('http://gateway.test/v1/byok', {
      method: 'POST',
      headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ provider: 'openai', key: providerKey }),
    });
    expect(down.status).toBe(503);
  });
});

describeWithRedis('the example of docs/storage.md on Redis', (url) => {
  const namespace = `docs-${randomUUID()}`;
  it('is shared, under the names that the docs tell', async () => {
    vi.stubEnv('REDIS_URL', await url());
    const replace = { "'gateway'": `'${namespace}'` };
    const [first, second] = [await run('REDIS_URL', replace), await run('REDIS_URL', replace)];
    await expectShared(first.gateway, second.gateway);
    const client = await createClient({ url: await url() }).connect();
    closings.push(() => client.destroy());
    const keys: string[] = [];
    for await (const some of client.scanIterator({ MATCH: `${namespace}*`, COUNT: 1000 })) keys.push(...some);
    const ledger = quoted(namesIn('Redis')).filter((name) => /^[a-z]+$/.test(name));
    expect(ledger).toHaveLength(7);
    const known = new RegExp(`^${namespace}::\\{[\\w.-]+\\}:(?:ledger:(?:${ledger.join('|')})|[a-z-]+(?::ranks)?)$`);
    expect(keys.length).toBeGreaterThan(5);
    expect(keys.filter((key) => !known.test(key))).toEqual([]);
    await client.unlink(keys);
  });
});

if (redisProgram === null) {
  if (process.env.REQUIRE_SERVICES === '1') throw new Error('REQUIRE_SERVICES=1, but no Redis is installed here');
  console.warn('\n!!! SKIPPED: docs/storage.md on Redis, Cluster and Sentinel, which are not installed here !!!\n');
}

describe.skipIf(redisProgram === null)('the examples of docs/storage.md on servers of their own', () => {
  const servers: StartedService[] = [];
  afterAll(async () => {
    for (const server of servers) await server.stop();
  });
  async function startHere(options: Parameters<typeof startRedis>[1] = {}) {
    const server = await startRedis(redisProgram as string, options);
    servers.push(server);
    return server;
  }

  it('Redis: its settings are settings of Redis', async () => {
    const [conf = ''] = codeBlocks(doc, 'conf');
    const settings = conf
      .trim()
      .split('\n')
      .map((line) => line.split(' '));
    expect(settings).toHaveLength(3);
    const server = await startHere({ settings: settings.flatMap(([name, value]) => [`--${name}`, value as string]) });
    const client = await createClient({ url: server.url }).connect();
    for (const [name, value] of settings) {
      expect(await client.configGet(name as string)).toEqual({ [name as string]: value });
    }
    client.destroy();
  });
  it.runIf(isLongRun)('a cluster', { timeout: 60_000 }, async () => {
    const cluster = await startRedisCluster();
    closings.push(() => cluster?.stop());
    const [first, second] = cluster?.nodes ?? [];
    const replace = { 'redis://127.0.0.1:7000': first?.url as string, 'redis://127.0.0.1:7001': second?.url as string };
    const ran = [await run('minimizeConnections', replace), await run('minimizeConnections', replace)] as const;
    await expectShared(ran[0].gateway, ran[1].gateway);
  });
  it.runIf(isLongRun)('sentinels: the new master is found after a failover', { timeout: 60_000 }, async () => {
    const master = await startHere();
    await startHere({ settings: ['--replicaof', '127.0.0.1', String(master.port)] });
    const sentinel = await startSentinel(master.port);
    closings.push(() => sentinel.stop());
    const replace = { '26379': String(sentinel.port) };
    const { gateway } = await run('createSentinel(', replace);
    const made = await settleIn(gateway);
    await expect.poll(() => command(master, ['INFO', 'replication']), { timeout: 20_000 }).toContain('state=online');
    process.kill(master.pid, 'SIGKILL');
    await expect
      .poll(async () => (await ask(gateway, 'GET', `/workspaces/${made.slug}`)).status, { timeout: 30_000 })
      .toBe(200);
    expect((await ask(gateway, 'POST', '/chat/completions', hello, made.key)).status).toBe(200);
  });

  /** One is enough to decide here. */
  async function startSentinel(masterPort: number) {
    const port = await freePort();
    const place = join(folder, 'sentinel');
    mkdirSync(place);
    const lines = [
      `sentinel monitor mymaster 127.0.0.1 ${masterPort} 1`,
      'sentinel down-after-milliseconds mymaster 500',
      'sentinel failover-timeout mymaster 3000',
    ];
    writeFileSync(join(place, 'sentinel.conf'), `${lines.join('\n')}\n`);
    const child = spawn(redisProgram as string, [join(place, 'sentinel.conf'), '--sentinel', '--port', String(port)], {
      stdio: 'ignore',
    });
    const ended = once(child, 'exit');
    await expect.poll(() => isRedis(port), { timeout: 20_000 }).toBe(true);
    return {
      port,
      async stop() {
        child.kill('SIGKILL');
        await ended;
      },
    };
  }
});

describeWithPostgres('the example of docs/storage.md on PostgreSQL', (url) => {
  const schema = `docs_${randomUUID().slice(0, 8)}`;
  it('is shared, with the tables that the docs name', async () => {
    vi.stubEnv('DATABASE_URL', await url());
    const replace = { "'gateway'": `'${schema}'` };
    closings.push(async () => askPostgres(await url(), `DROP SCHEMA ${schema} CASCADE`));
    const start = async () => {
      const ran = await run('DATABASE_URL', replace);
      ran.store.on?.('error', () => undefined);
      closings.push(() => ran.store.disconnect());
      return ran;
    };
    const [first, second] = [await start(), await start()];
    await expectShared(first.gateway, second.gateway);
    // Adapters that make the schema at the same time may fail to make their table, and do not try again.
    await start();
    const database = await url();
    const tables = async () => {
      const rows = await askPostgres(database, `SELECT tablename FROM pg_tables WHERE schemaname = '${schema}'`);
      return rows.map(({ tablename }) => tablename).toSorted();
    };
    // The adapter makes a table of its own, which nobody waits for.
    await expect.poll(tables, { timeout: 20_000 }).toEqual(quoted(namesIn('PostgreSQL')).toSorted());
    const functions = await askPostgres(
      await url(),
      `SELECT proname FROM pg_proc JOIN pg_namespace n ON n.oid = pronamespace WHERE nspname = '${schema}'`,
    );
    expect(functions.length).toBeGreaterThan(3);
    for (const { proname } of functions) expect(proname).toMatch(/^keyv_[a-z_]+_\d+$/);
  });
});

describe('docs/storage.md', () => {
  const manifest: { devDependencies: Record<string, string>; engines: { node: string } } = JSON.parse(
    readDoc('package.json'),
  );
  it('names the versions that the tests run with', () => {
    const needs = rows.filter(({ columns }) => columns.includes('To install')).map(({ cells }) => cells as string[]);
    const versions = needs.filter(([, , , version]) => version !== '');
    expect(versions).toHaveLength(2);
    for (const [, , install, version] of versions)
      expect(manifest.devDependencies[quoted(install as string)[0] as string]).toBe(version);
    const [, node] = /Node ([\d.]+) or later/.exec(
      needs.find(([name]) => name === 'SQLite')?.[1] as string,
    ) as string[];
    expect(manifest.engines.node).toBe(`>=${node}`);
  });
  it('has a row for every method of a ledger, with its parameters', () => {
    const methods = rows
      .filter(({ columns }) => columns[0] === 'Method')
      .map(({ cells }) => quoted(cells[0] as string)[0]);
    expect(methods.map((method) => method?.split('(')[0])).toEqual(membersOf('src/stores/ledger/ledger.ts', 'Ledger'));
    const source = readDoc('src/stores/ledger/ledger.ts');
    for (const method of methods) {
      const [, name, given = ''] = /^(\w+)\((.*)\)$/.exec(method as string) as string[];
      const parameters = new RegExp(`^  ${name}\\??\\((.*)\\): Promise`, 'm').exec(source)?.[1] ?? '';
      expect([name, parameters.replace(/: [^,)]+/g, '')]).toEqual([name, given]);
    }
  });
});

function namesIn(store: string): string {
  const found = rows.find(({ columns, cells }) => columns[1] === 'Names' && cells[0] === store);
  return found?.cells[1] as string;
}

/** What HashiCorp Vault's transit engine does with a key of type aes256-gcm96. */
async function startVault() {
  const key = randomBytes(32);
  const asked: { path: string; token: string; associated: string }[] = [];
  const vault = { url: '', asked, isDown: false, close: () => server.close() };
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    const body: Record<string, string> = JSON.parse(Buffer.concat(chunks).toString());
    const associated = Buffer.from(body.associated_data as string, 'base64');
    asked.push({
      path: req.url as string,
      token: String(req.headers['x-vault-token']),
      associated: associated.toString(),
    });
    const answer = (status: number, json: object) => res.writeHead(status).end(JSON.stringify(json));
    if (vault.isDown) return answer(503, { errors: ['Vault is sealed'] });
    if (req.url?.includes('/encrypt/')) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(associated);
      const sealed = Buffer.concat([cipher.update(body.plaintext as string, 'base64'), cipher.final()]);
      const ciphertext = `vault:v1:${Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64')}`;
      return answer(200, { data: { ciphertext } });
    }
    const bytes = Buffer.from((body.ciphertext as string).split(':')[2] as string, 'base64');
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12)).setAAD(associated);
      decipher.setAuthTag(bytes.subarray(-16));
      const plain = Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]);
      return answer(200, { data: { plaintext: plain.toString('base64') } });
    } catch {
      return answer(400, { errors: ['cipher: message authentication failed'] });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  vault.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return vault;
}
