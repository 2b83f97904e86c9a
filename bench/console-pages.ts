// Measures how long each page of the console waits for its numbers over many records in SQLite, or in PostgreSQL where
// CONSOLE_DATABASE_URL names a server: `node --conditions=model-gateway-source bench/console-pages.ts`. CONSOLE_RECORDS is
// their number: 100,000 unless it says otherwise, such as 10000000, which takes 30 GB and ten minutes. CONSOLE_FOLDER keeps
// the file for further runs, and CONSOLE_FILLED=1 says that PostgreSQL has the records of the last run.
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { type SqliteStore, sqliteStore } from '../adapters/sqlite/sqlite.ts';
import { systemClock } from '../src/base/clock.ts';
import type { WorkspaceId } from '../src/call/workspace.ts';
import { createGateway } from '../src/index.ts';
import { chooseStorage } from '../src/stores/storage/choose.ts';
import type { RequestRecord } from '../src/telemetry/record.ts';
import { connectTo } from '../test/support/postgres-client.ts';
import { type RunSql, seed } from './console/seed.ts';
import { openStore } from './open-store.ts';
import type { Place } from './stores.ts';

const count = Number(process.env.CONSOLE_RECORDS ?? 100_000);
const rounds = Number(process.env.CONSOLE_ROUNDS ?? 20);
const days = Number(process.env.CONSOLE_DAYS ?? 30);
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const minutesMs = 2 * dayMs;
const numbered = <T>(length: number, of: (at: number) => T): T[] => Array.from({ length }, (_, at) => of(at));
const hash = (text: string) => createHash('sha256').update(text).digest('hex');
const key = 'sk-bench-console-0123456789';
const workspaces = numbered(10, (at) => `00000000-0000-4000-8000-${String(at + 1).padStart(12, '0')}` as WorkspaceId);
const folder = process.env.CONSOLE_FOLDER ?? mkdtempSync(join(tmpdir(), 'console-pages-'));
const url = process.env.CONSOLE_DATABASE_URL;
const path = join(folder, 'gateway.db');
const isFilled = process.env.CONSOLE_FILLED === '1' || (url === undefined && existsSync(path));
const place: Place = url === undefined ? { kind: 'sqlite', path } : { kind: 'postgres', url, schema: 'console_pages' };
const opened = openStore(place, sqliteStore);
const store = opened.store as object;

const templates: RequestRecord[] = [];
const playing = createGateway({
  providers: { sandbox: {} },
  authenticate: () => ({ permissions: ['inference'], userId: 'ann' }),
  onRecord: (record) => void templates.push(record),
});
/** Real requests, of which the records are copies: most went well, some failed. */
async function play(): Promise<void> {
  for (const model of [
    ...Array.from({ length: 18 }, () => 'sandbox/lorem'),
    'sandbox/error-500',
    'sandbox/rate-limited',
  ]) {
    const messages = [{ role: 'user', content: 'Hi' }];
    const response = await playing.fetch('http://gateway/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages, max_tokens: 20, stream: templates.length % 2 === 0 }),
    });
    await response.text();
  }
  await playing.close();
}

const gateway = createGateway({
  store: store as never,
  providers: { sandbox: {} },
  apiKeys: [{ key, permissions: ['management', 'inference'] }],
  authenticate: (request) =>
    request.headers.get('x-user') === null
      ? null
      : { permissions: ['inference'], workspaceId: workspaces[0] as string, userId: 'user-3' },
  records: { enabled: true, max: count * 2, ttlMs: (days + 1) * dayMs, minutesMs, hoursMs: (days + 32) * dayMs },
  audit: { enabled: true },
  // The server may still write what it was filled with.
  storeTimeoutMs: 10_000,
});
const asOperator = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
const asUser = { 'x-user': '1' };
async function ask(
  path: string,
  headers: Record<string, string> = asOperator,
  init: RequestInit = {},
): Promise<string> {
  const response = await gateway.fetch(`http://gateway/v1${path}`, { headers, ...init });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return text;
}

const second = (ms: number) => Math.floor(ms / 1000);
const grains = { minute: minuteMs, hour: hourMs, day: dayMs };
const sums = (query: string) => `/activity?${query}`;
/** The sums that the overview asks for. */
function overview(grain: keyof typeof grains, lengthMs: number, more = ''): string[] {
  const toMs = Math.floor(Date.now() / grains[grain]) * grains[grain] + grains[grain];
  return ['time', 'time,model&top=6', 'model&sort=usage&limit=50', 'time,provider', 'none'].map((group) =>
    sums(`grain=${grain}&from=${second(toMs - lengthMs)}&to=${second(toMs)}&group_by=${group}${more}`),
  );
}
const one = `&workspace_id=${workspaces[0]}`;
const middle = encodeURIComponent(new Date(Date.now() - (days / 2) * dayMs).toISOString());
const spenders = (daysBack: number) =>
  ['key', 'user', 'tag', 'model'].map((group) =>
    sums(
      `group_by=${group}&sort=usage&limit=10&from=${second(Math.floor((Date.now() - (daysBack - 1) * dayMs) / dayMs) * dayMs)}${one}`,
    ),
  );
const monthMs = Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth(), 1);

/** What each page asks for, all at once as the page does. */
const pages: Record<string, { paths: string[]; headers?: Record<string, string> }> = {
  'overview, last hour': { paths: overview('minute', hourMs) },
  'overview, 24 hours': { paths: overview('hour', dayMs) },
  'overview, 7 days': { paths: overview('hour', 7 * dayMs) },
  'overview, 30 days': { paths: overview('day', 30 * dayMs) },
  'overview, 7 days, one workspace': { paths: overview('hour', 7 * dayMs, one) },
  'overview of a user, 7 days': { paths: overview('day', 7 * dayMs), headers: asUser },
  'overview of a user, 30 days': { paths: overview('day', 30 * dayMs), headers: asUser },
  requests: { paths: [`/generations?limit=100${one}`] },
  'requests, from the middle': { paths: [`/generations?limit=100&to=${middle}${one}`] },
  'requests of a model': { paths: [`/generations?limit=100&model=acme/model-3${one}`] },
  'requests of a rare model': { paths: [`/generations?limit=100&model=acme/no-such-model${one}`] },
  'requests of a user': { paths: ['/generations?limit=100'], headers: asUser },
  'one request': { paths: ['/generation?id=ID'] },
  endpoints: { paths: ['/endpoints'] },
  models: { paths: ['/models'] },
  budgets: {
    paths: [
      `/workspaces/${workspaces[0]}/budgets`,
      sums(`group_by=time&grain=day&from=${second(monthMs)}${one}`),
      ...spenders(30),
    ],
  },
  keys: { paths: ['/keys?limit=100'] },
  guardrails: { paths: ['/guardrails?limit=100'] },
  workspaces: { paths: ['/workspaces?limit=100'] },
  audit: { paths: ['/audit?limit=100'] },
};

/** Opens the database behind the store, for copies in it. A file that is lost with the machine need not wait for its disk. */
async function openSql(): Promise<{ run: RunSql; table: string; close: () => unknown }> {
  if (url === undefined) {
    const { database } = store as SqliteStore;
    const set = (pragmas: readonly string[]) => {
      for (const pragma of pragmas) database.exec(`PRAGMA ${pragma}`);
    };
    set(['synchronous = OFF', 'cache_size = -500000', 'wal_autocheckpoint = 20000']);
    const run: RunSql = (sql) => database.transact(() => void database.prepare(sql).run());
    const close = () => set(['synchronous = NORMAL', 'cache_size = -2000', 'wal_autocheckpoint = 1000']);
    return { run, table: 'gateway_records', close };
  }
  const client = await connectTo(url);
  await client.query('DROP SCHEMA IF EXISTS console_pages CASCADE');
  const settings = 'SET synchronous_commit = off; SET enable_seqscan = off';
  await client.query(settings);
  const close = async () => {
    await client.query('VACUUM ANALYZE console_pages.keyv_records');
    await client.end();
  };
  return { run: (sql) => client.query(sql), table: 'console_pages.keyv_records', close };
}

async function fill(): Promise<void> {
  await play();
  const storage = chooseStorage(store, { clock: systemClock, timeoutMs: 600_000, onLostHold: 'release' });
  const sql = await openSql();
  // The tables are made at the first use.
  await storage.commit([{ at: { partition: 'bench', kind: 'bench', id: 'bench' }, value: null }]);
  if (url !== undefined) await sql.run(`ALTER TABLE ${sql.table} SET UNLOGGED`);
  await seed({ storage, ...sql }, templates, {
    records: count,
    days,
    nowMs: Date.now(),
    workspaces,
    keys: numbered(50, (at) => hash(`key ${at}`)),
    models: numbered(40, (at) => `acme/model-${at}`),
    providers: ['Acme', 'Birch'],
    users: 1_000,
    tags: numbered(10, (at) => `team-${at}`),
    minutesMs,
  });
  await sql.close();
  for (let at = 0; at < 50; at++)
    await ask('/keys', asOperator, { method: 'POST', body: JSON.stringify({ name: `bench ${at}` }) });
}

/** Asks for all that a page shows, and tells the time of it, and that of the processor in this process. */
async function measure(
  paths: readonly string[],
  headers?: Record<string, string>,
): Promise<{ ms: number; cpuMs: number }> {
  const [beginMs, before] = [performance.now(), process.cpuUsage()];
  await Promise.all(paths.map((path) => ask(path, headers)));
  const { user, system } = process.cpuUsage(before);
  return { ms: performance.now() - beginMs, cpuMs: (user + system) / 1_000 };
}

const half = (times: readonly number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] as number;

try {
  const startMs = performance.now();
  if (!isFilled) {
    await fill();
    process.stdout.write(`${count} records, written in ${((performance.now() - startMs) / 1000).toFixed(0)} s\n`);
  }
  const newest = JSON.parse(await ask(`/generations?limit=1${one}`)) as { data: { id: string }[] };
  process.stdout.write('| Page | first | p50 | max | p50 of the processor |\n|---|---:|---:|---:|---:|\n');
  const wanted = process.env.CONSOLE_PAGE;
  for (const [name, { paths, headers }] of Object.entries(pages)) {
    if (wanted !== undefined && !name.includes(wanted)) continue;
    const asked = paths.map((path) => path.replace('ID', newest.data[0]?.id ?? ''));
    const first = await measure(asked, headers);
    const took: (typeof first)[] = [];
    for (let round = 0; round < rounds; round++) took.push(await measure(asked, headers));
    const times = took.map(({ ms }) => ms);
    const shown = [first.ms, half(times), Math.max(...times), half(took.map(({ cpuMs }) => cpuMs))];
    process.stdout.write(`| ${name} | ${shown.map((ms) => `${ms.toFixed(0)} ms`).join(' | ')} |\n`);
    if (process.env.CONSOLE_EACH !== undefined)
      for (const path of asked)
        process.stdout.write(`    ${(await measure([path], headers)).cpuMs.toFixed(0)} ms of the processor: ${path}\n`);
  }
} finally {
  await gateway.close();
  await opened.close();
  if (process.env.CONSOLE_FOLDER === undefined) rmSync(folder, { recursive: true, force: true });
}
