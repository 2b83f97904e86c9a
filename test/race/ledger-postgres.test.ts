import { randomUUID } from 'node:crypto';
import { afterAll } from 'vitest';
import { askPostgres } from '../support/postgres-client.ts';
import { testLedgerRace } from '../support/race/ledger-story.ts';
import { describeWithPostgres } from '../support/services.ts';

describeWithPostgres('on PostgreSQL', (url) => {
  const schema = `gateway_test_${randomUUID().slice(0, 8)}`;
  // The server may be shared.
  afterAll(async () => void (await askPostgres(await url(), `DROP SCHEMA IF EXISTS "${schema}" CASCADE`)));
  testLedgerRace(async () => ({ kind: 'postgres', url: await url(), schema }));
});
