import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe } from 'vitest';
import { testLedgerRace } from '../support/race/ledger-story.ts';

describe('on SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'model-gateway-race-sqlite-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  testLedgerRace(async () => ({ kind: 'sqlite', path: join(folder, 'race.db') }));
});
