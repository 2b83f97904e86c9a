import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Keyv } from 'keyv';
import { afterAll, describe } from 'vitest';
import { sqliteStore } from '../../../adapters/sqlite.ts';
import { sqliteLedger } from '../../../src/stores/ledger/sqlite.ts';
import { sqliteStorage } from '../../../src/stores/storage/sqlite.ts';
import { testLedger } from './ledger.ts';
import { testStorage } from './storage.ts';

const folder = mkdtempSync(join(tmpdir(), 'model-gateway-sqlite-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('on SQLite', () => {
  testStorage('a file', async () => openStorage(join(folder, 'storage.db')));
  testStorage('memory', async () => openStorage(':memory:'));
  testLedger('a file', async ({ onLostHold = 'charge' } = {}) => {
    const store = sqliteStore({ path: join(folder, 'ledger.db'), busyTimeoutMs: 5_000 });
    return { ledger: sqliteLedger(store.database, { onLostHold }), close: store.disconnect };
  });
});

async function openStorage(path: string) {
  const store = sqliteStore({ path, busyTimeoutMs: 5_000 });
  // As a gateway gets it.
  const keyv = new Keyv(store, { namespace: 'one' });
  const storage = sqliteStorage(keyv.store as typeof store, { onLostHold: 'charge' });
  return { storage, close: () => keyv.disconnect() };
}
