import { KeyvPostgres } from '@keyv/postgres';
import KeyvRedis from '@keyv/redis';
import type { sqliteStore } from '../adapters/sqlite/sqlite.ts';
import type { StoreOption } from '../src/entries/stores.ts';
import type { Place } from './stores.ts';

export interface OpenStore {
  /** undefined: the gateway's own store in memory. */
  store: StoreOption | undefined;
  close(): Promise<unknown>;
}

/**
 * Opens a store as a host app would pass it in the option `store`.
 * @param makeSqlite  `sqliteStore` from the sources or from the built package
 */
export function openStore(place: Place, makeSqlite: typeof sqliteStore): OpenStore {
  if (place.kind === 'memory') return { store: undefined, close: async () => undefined };
  if (place.kind === 'sqlite') {
    const store = makeSqlite(place.path);
    return { store, close: () => store.disconnect() };
  }
  const store =
    place.kind === 'redis'
      ? new KeyvRedis(place.url, { namespace: place.namespace })
      : new KeyvPostgres({ uri: place.url, schema: place.schema });
  return { store: store as StoreOption, close: () => store.disconnect() };
}
