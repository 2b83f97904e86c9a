import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { KeyvPostgres } from '@keyv/postgres';
import KeyvRedis from '@keyv/redis';
import { sqliteStore } from '../../../adapters/sqlite/sqlite.ts';
import { isGatewayError } from '../../../src/base/errors.ts';
import { intervals } from '../../../src/base/windows.ts';
import { defaultWorkspaceId } from '../../../src/call/workspace.ts';
import { postgresStorage } from '../../../src/stores/storage/postgres/postgres.ts';
import { redisStorage } from '../../../src/stores/storage/redis/redis.ts';
import { sqliteStorage } from '../../../src/stores/storage/sqlite.ts';
import type { Storage } from '../../../src/stores/storage/storage.ts';
import { instanceOn, workspaceInput } from '../../support/tenants.ts';

// A process of its own on a shared store. Says that it is ready, is told when to start, and answers with a result.

/** Where a store is. */
export type Place =
  | { kind: 'sqlite'; path: string }
  | { kind: 'redis'; url: string; namespace: string }
  | { kind: 'postgres'; url: string; schema: string };

export interface OpenedStore {
  storage: Storage;
  close(): Promise<unknown>;
}

export function openAt(place: Place): OpenedStore {
  const options = { onLostHold: 'charge' } as const;
  if (place.kind === 'sqlite') {
    const store = sqliteStore({ path: place.path, busyTimeoutMs: 10_000 });
    return { storage: sqliteStorage(store, options), close: () => store.disconnect() };
  }
  if (place.kind === 'redis') {
    const { url, namespace } = place;
    const storage = redisStorage(new KeyvRedis(url, { namespace }), options);
    return { storage, close: () => storage.close() };
  }
  const adapter = new KeyvPostgres({ uri: place.url, schema: place.schema, max: 3 });
  adapter.on('error', () => undefined);
  const storage = postgresStorage(adapter, options);
  const close = async () => {
    await storage.close();
    await adapter.disconnect();
  };
  return { storage, close };
}

export const slugs = Array.from({ length: 60 }, (_, at) => `slug-${at}`);

export interface Claims {
  /** The slugs this process got. */
  won: string[];
  /** The statuses of its refusals. */
  refused: number[];
}

const tasks = {
  /** Wants every slug for itself, ten at a time, each ten at the same instant as the other processes. */
  async claim(storage: Storage, startAtMs: number): Promise<Claims> {
    const { workspaces } = instanceOn(storage);
    const claims: Claims = { won: [], refused: [] };
    const claim = async (slug: string) => {
      try {
        await workspaces.create(workspaceInput(slug), `${process.pid}`);
        claims.won.push(slug);
      } catch (error) {
        if (!isGatewayError(error)) throw error;
        claims.refused.push(error.status);
      }
    };
    for (let first = 0; first < slugs.length; first += 10) {
      await until(startAtMs + first * 15);
      // Not all in the same order: who is ahead by a moment would have them all.
      const ten = slugs.slice(first, first + 10).toSorted(() => Math.random() - 0.5);
      await Promise.all(ten.map(claim));
    }
    return claims;
  },

  /** Puts each budget of the default workspace again and again; how often it met somebody else is not to be seen. */
  async put(storage: Storage): Promise<string[]> {
    const { budgets } = instanceOn(storage);
    const ids = new Set<string>();
    for (let round = 0; round < 10; round++) {
      for (const interval of intervals) ids.add((await budgets(defaultWorkspaceId).put(interval, process.pid)).id);
      await delay(1);
    }
    return [...ids].toSorted();
  },
};
export type Task = keyof typeof tasks;

/** Not spinning all the time: who does has used up its share of the machine when it is time to start. */
async function until(atMs: number): Promise<void> {
  await delay(Math.max(0, atMs - Date.now() - 5));
  while (Date.now() < atMs);
}

const [task, place] = process.argv.slice(2);
if (process.send && task !== undefined && place !== undefined && task in tasks) {
  const { storage, close } = openAt(JSON.parse(place) as Place);
  // Connected, and whatever the store makes when it is first used is made.
  await storage.get({ partition: 'workspaces', kind: 'workspace', id: 'any' });
  process.once('message', async (startAtMs: number) => {
    await until(startAtMs);
    const result = await tasks[task as Task](storage, startAtMs);
    await close();
    process.send?.({ result }, () => process.disconnect?.());
  });
  process.send('ready');
}
