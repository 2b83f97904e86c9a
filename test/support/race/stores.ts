import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeyvPostgres } from '@keyv/postgres';
import KeyvRedis, { createClient } from '@keyv/redis';
import { sqliteStore } from '../../../adapters/sqlite/sqlite.ts';
import type { StoreOption } from '../../../src/setup/stores.ts';
import { askPostgres } from '../postgres-client.ts';

/** Where several processes find the same store. */
export type StoreAt =
  | { kind: 'sqlite'; path: string }
  | { kind: 'redis'; url: string; namespace: string }
  | { kind: 'redis-cluster'; rootNodes: { url: string }[]; namespace: string }
  | { kind: 'postgres'; url: string; schema: string };

/** What a gateway is given as its store. */
export interface OpenedStore {
  store: StoreOption;
  /** After the gateway was closed. */
  close(): Promise<void>;
}

export interface StoreSettings {
  /** Of SQLite: how long the lock is waited for. Default: its own. */
  busyTimeoutMs?: number;
}

export function openStore(at: StoreAt, { busyTimeoutMs }: StoreSettings = {}): OpenedStore {
  if (at.kind === 'sqlite') {
    const store = sqliteStore({ path: at.path, ...(busyTimeoutMs === undefined ? {} : { busyTimeoutMs }) });
    return { store, close: () => store.disconnect() };
  }
  if (at.kind === 'postgres') {
    const store = new KeyvPostgres({ uri: at.url, schema: at.schema, max: 4 });
    return { store: store as unknown as StoreOption, close: () => store.disconnect() };
  }
  const { namespace } = at;
  const store = new KeyvRedis(at.kind === 'redis' ? at.url : { rootNodes: at.rootNodes }, { namespace });
  return { store: store as unknown as StoreOption, close: async () => {} };
}

/** A place of a test's own, on a server that others may use as well. */
export interface Place<At extends StoreAt = StoreAt> {
  at: At;
  /** Removes all that is there. */
  clear(): Promise<void>;
}

export async function newSqliteFile(): Promise<Place<StoreAt & { kind: 'sqlite' }>> {
  const folder = await mkdtemp(join(tmpdir(), 'model-gateway-race-'));
  return {
    at: { kind: 'sqlite', path: join(folder, 'gateway.db') },
    clear: () => rm(folder, { recursive: true, force: true }),
  };
}

export function newNamespace(url: string): Place<StoreAt & { kind: 'redis' }> {
  const namespace = `race-${randomUUID()}`;
  return {
    at: { kind: 'redis', url, namespace },
    async clear() {
      const client = await createClient({ url }).connect();
      for await (const keys of client.scanIterator({ MATCH: `${namespace}*`, COUNT: 1_000 })) {
        if (keys.length > 0) await client.unlink(keys);
      }
      client.destroy();
    },
  };
}

export function newSchema(url: string): Place<StoreAt & { kind: 'postgres' }> {
  const schema = `race_${randomUUID().slice(0, 8)}`;
  return {
    at: { kind: 'postgres', url, schema },
    clear: async () => void (await askPostgres(url, `DROP SCHEMA IF EXISTS ${schema} CASCADE`)),
  };
}
