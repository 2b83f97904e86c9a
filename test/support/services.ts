import { existsSync, readdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { describe, it } from 'vitest';
import { isPostgres, isRedis } from './ask.ts';
import { startPostgres, startRedis } from './start-service.ts';

/**
 * Servers that tests need: the one an environment variable names, else one on the standard local port, else one that is
 * started from what is installed, on a free port, and ends with the process that started it. Where there is none, tests
 * are skipped with one loud line; with REQUIRE_SERVICES=1 they fail instead.
 */

/** null: this machine has no Redis. The server may be shared: use keys of your own, and clean up. */
export function redisUrl(): Promise<string | null> {
  redisStarted ??= foundRedis ? Promise.resolve(foundRedis) : startFor(redisProgram, startRedis);
  return redisStarted;
}

/** null: this machine has no PostgreSQL. The server may be shared: use tables or schemas of your own, and clean up. */
export function databaseUrl(): Promise<string | null> {
  databaseStarted ??= foundDatabase ? Promise.resolve(foundDatabase) : startFor(postgresFolder, startPostgres);
  return databaseStarted;
}

/** A `describe` for tests that need Redis. */
export function describeWithRedis(name: string, define: (url: () => Promise<string>) => void): void {
  const isThere = foundRedis !== null || redisProgram !== null;
  if (isThere) describe(name, () => define(async () => (await redisUrl()) as string));
  else skip('Redis', 'redis-server, or set REDIS_URL', name);
}

/** A `describe` for tests that need PostgreSQL. */
export function describeWithPostgres(name: string, define: (url: () => Promise<string>) => void): void {
  const isThere = foundDatabase !== null || postgresFolder !== null;
  if (isThere) describe(name, () => define(async () => (await databaseUrl()) as string));
  else skip('PostgreSQL', 'its server, or set DATABASE_URL', name);
}

/** A `describe` for tests that start Redis servers of their own, to break them or to make a cluster of them. */
export function describeWithOwnRedis(name: string, define: (program: string) => void): void {
  if (redisProgram !== null) describe(name, () => define(redisProgram));
  else skip('a Redis server to start', 'redis-server', name);
}

/** A `describe` for tests that start PostgreSQL servers of their own, to break them. */
export function describeWithOwnPostgres(name: string, define: (programs: string) => void): void {
  if (postgresFolder !== null) describe(name, () => define(postgresFolder));
  else skip('a PostgreSQL server to start', 'the server of PostgreSQL', name);
}

/** Path of `redis-server`, or of what takes its place; null where none is installed. */
export const redisProgram: string | null = findProgram(['redis-server', 'valkey-server']);

/** The folder that holds `initdb` and `postgres`; null where none is installed. */
export const postgresFolder: string | null = findPostgres();

let redisStarted: Promise<string | null> | undefined;
let databaseStarted: Promise<string | null> | undefined;

// Known before tests are collected, which is not something that can wait. A server is started when the first test asks.
const [foundRedis, foundDatabase] = await Promise.all([findRedis(), findDatabase()]);

async function startFor<T>(found: T | null, start: (found: T) => Promise<{ url: string }>): Promise<string | null> {
  return found === null ? null : (await start(found)).url;
}

function skip(service: string, remedy: string, name: string): void {
  if (process.env.REQUIRE_SERVICES === '1') {
    throw new Error(`REQUIRE_SERVICES=1, but there is no ${service}: install ${remedy}`);
  }
  const warned = Symbol.for(`model-gateway.test.${service}-missing`);
  const state = globalThis as { [warned: symbol]: boolean };
  if (state[warned] !== true) {
    state[warned] = true;
    console.warn(`\n!!! SKIPPED: tests on ${service}, which is not here: install ${remedy} !!!\n`);
  }
  describe.skip(name, () => {
    it(`needs ${service}`, () => {});
  });
}

async function findRedis(): Promise<string | null> {
  const named = process.env.REDIS_URL;
  if (named) return named;
  return (await isRedis(6379)) ? 'redis://127.0.0.1:6379' : null;
}

async function findDatabase(): Promise<string | null> {
  const named = process.env.DATABASE_URL;
  if (named) return named;
  for (const database of ['test', 'postgres']) {
    for (const user of new Set(['postgres', userInfo().username])) {
      const isLetIn = await isPostgres(5432, user, database);
      if (isLetIn === null) return null;
      if (isLetIn) return `postgres://${user}@127.0.0.1:5432/${database}`;
    }
  }
  return null;
}

function findProgram(names: readonly string[]): string | null {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    for (const name of names) if (folder && existsSync(join(folder, name))) return join(folder, name);
  }
  return null;
}

function findPostgres(): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter);
  // Debian keeps the programs of servers away from the path; Homebrew those of versions that are not the default.
  for (const [parent, pattern] of [
    ['/usr/lib/postgresql', /^\d/],
    ['/opt/homebrew/opt', /^postgresql/],
    ['/usr/local/opt', /^postgresql/],
  ] as const) {
    if (!existsSync(parent)) continue;
    const versions = readdirSync(parent).filter((name) => pattern.test(name));
    folders.push(
      ...versions
        .sort()
        .toReversed()
        .map((version) => join(parent, version, 'bin')),
    );
  }
  folders.push('/usr/local/pgsql/bin');
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres'))) ?? null;
}
