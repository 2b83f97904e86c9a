import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createClient } from '@keyv/redis';
import { isPostgres, isRedis } from '../test/support/ask.ts';
import { askPostgres } from '../test/support/postgres-client.ts';
import { type Place, type StoreName, storeTitles } from './stores.ts';

/** The stores on this machine, each with a separate place for this run. */
export interface Places {
  found: Place[];
  /** One line for each store that was not found. */
  missing: string[];
  /** Removes everything in these places. Can be called again. */
  remove(): Promise<void>;
}

/** Looks for servers at REDIS_URL and DATABASE_URL, or else on the standard ports of this machine. */
export async function findPlaces(): Promise<Places> {
  const name = `model-gateway-bench-${randomUUID()}`;
  const folder = mkdtempSync(join(tmpdir(), 'model-gateway-bench-'));
  const found: Place[] = [{ kind: 'memory' }, { kind: 'sqlite', path: join(folder, 'bench.db') }];
  const missing: string[] = [];
  const miss = (store: StoreName, reason: string) => void missing.push(`${storeTitles[store]} is left out: ${reason}`);

  const redis = process.env.REDIS_URL || ((await isRedis(6379)) ? 'redis://127.0.0.1:6379' : null);
  const redisFailure = redis === null ? 'no REDIS_URL, and none on port 6379' : await reasonOf(() => pingRedis(redis));
  if (redis === null || redisFailure !== null) miss('redis', redisFailure as string);
  else found.push({ kind: 'redis', url: redis, namespace: name });

  const postgres = process.env.DATABASE_URL || (await findPostgres());
  const postgresFailure =
    postgres === null
      ? 'no DATABASE_URL, and none on port 5432 that lets us in'
      : await reasonOf(() => askPostgres(postgres, 'SELECT 1'));
  if (postgres === null || postgresFailure !== null) miss('postgres', postgresFailure as string);
  else found.push({ kind: 'postgres', url: postgres, schema: name.replaceAll('-', '_') });

  return {
    found,
    missing,
    async remove() {
      for (const place of found) {
        if (place.kind === 'redis') await removeKeys(place.url, place.namespace);
        if (place.kind === 'postgres') await askPostgres(place.url, `DROP SCHEMA IF EXISTS "${place.schema}" CASCADE`);
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function reasonOf(connect: () => Promise<unknown>): Promise<string | null> {
  try {
    await connect();
    return null;
  } catch (error) {
    // An AggregateError holds the reasons in its `errors`.
    const [cause] = error instanceof AggregateError ? error.errors : [error];
    return cause instanceof Error ? cause.message : String(cause);
  }
}

async function pingRedis(url: string): Promise<void> {
  const client = connectRedis(url);
  await client.connect();
  client.destroy();
}

async function removeKeys(url: string, namespace: string): Promise<void> {
  const client = connectRedis(url);
  await client.connect();
  for await (const keys of client.scanIterator({ MATCH: `${namespace}*`, COUNT: 1000 })) {
    if (keys.length > 0) await client.unlink(keys);
  }
  client.destroy();
}

function connectRedis(url: string) {
  const client = createClient({ url, socket: { connectTimeout: 2000, reconnectStrategy: false } });
  // Each failing call rejects anyway.
  client.on('error', () => undefined);
  return client;
}

async function findPostgres(): Promise<string | null> {
  for (const database of ['test', 'postgres']) {
    for (const user of new Set(['postgres', userInfo().username])) {
      const isLetIn = await isPostgres(5432, user, database);
      if (isLetIn === null) return null;
      if (isLetIn) return `postgres://${user}@127.0.0.1:5432/${database}`;
    }
  }
  return null;
}
