import { KeyvPostgres } from '@keyv/postgres';
import KeyvRedis from '@keyv/redis';
import { sqliteStore } from '../../../adapters/sqlite/sqlite.ts';
import type { Ledger } from '../../../src/stores/ledger/ledger.ts';
import { postgresStorage } from '../../../src/stores/storage/postgres/postgres.ts';
import { redisStorage } from '../../../src/stores/storage/redis/redis.ts';
import { sqliteStorage } from '../../../src/stores/storage/sqlite.ts';
import type { StoreAt } from './stores.ts';

export interface OpenedLedger {
  ledger: Ledger;
  close(): Promise<void>;
}

/**
 * The ledger of a store, without the gateway's own limits of time around it.
 * @param now  replaces the clock of the store
 */
export function openLedger(at: StoreAt, now?: () => number): OpenedLedger {
  const options = { onLostHold: 'charge', now } as const;
  if (at.kind === 'sqlite') {
    // Four writers that never rest, on a busy machine: the wait for the lock is no part of what is tested.
    const store = sqliteStore({ path: at.path, busyTimeoutMs: 60_000 });
    return { ledger: sqliteStorage(store, options).ledger, close: () => store.disconnect() };
  }
  if (at.kind === 'postgres') {
    const adapter = new KeyvPostgres({ uri: at.url, schema: at.schema, max: 4 });
    adapter.on('error', () => {});
    const storage = postgresStorage(adapter, options);
    return {
      ledger: storage.ledger,
      async close() {
        await storage.close();
        await adapter.disconnect();
      },
    };
  }
  const { namespace } = at;
  const adapter = new KeyvRedis(at.kind === 'redis' ? at.url : { rootNodes: at.rootNodes }, { namespace });
  adapter.on('error', () => {});
  const storage = redisStorage(adapter, options);
  return { ledger: storage.ledger, close: () => storage.close() };
}
