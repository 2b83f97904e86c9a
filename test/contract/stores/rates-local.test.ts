import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { sqliteStore } from '../../../adapters/sqlite/sqlite.ts';
import { memoryRates } from '../../../src/stores/rates/memory.ts';
import { sqliteRates } from '../../../src/stores/rates/sqlite.ts';
import { testRates } from './rates.ts';

const folder = mkdtempSync(join(tmpdir(), 'model-gateway-rates-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

testRates('in memory', async () => ({ rates: memoryRates(), close: async () => {} }));
testRates('on SQLite', async () => {
  const store = sqliteStore({ path: join(folder, 'rates.db'), busyTimeoutMs: 5_000 });
  return { rates: sqliteRates(store.database, { namespace: 'a' }), close: () => store.disconnect() };
});
