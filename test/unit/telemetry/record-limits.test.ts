import { expect, it } from 'vitest';
import type { WorkspaceId } from '../../../src/call/workspace.ts';
import { recordSettingsSchema } from '../../../src/schema/settings/records.ts';
import { memoryLedger } from '../../../src/stores/ledger/memory.ts';
import { memoryStorage } from '../../../src/stores/storage/memory.ts';
import type { RequestRecord } from '../../../src/telemetry/record.ts';
import { indexKind, indexPartition, recordKind } from '../../../src/telemetry/records/places.ts';
import { createRecords } from '../../../src/telemetry/records/records.ts';
import { manualClock } from '../../support/manual-clock.ts';

const loud = 'loud' as WorkspaceId;
const quiet = 'quiet' as WorkspaceId;

function bench(given: Parameters<ReturnType<typeof recordSettingsSchema>['parse']>[0]) {
  const settings = recordSettingsSchema().parse(given);
  const clock = manualClock();
  const storage = memoryStorage(memoryLedger({ onLostHold: 'charge', now: clock.now }));
  const vault = null as never;
  const records = createRecords({
    storage,
    vault,
    clock,
    logger: null,
    settings,
    instance: () => 'a',
    bookLost: async () => undefined,
  });
  let number = 0;
  const write = (workspaceId: WorkspaceId) => {
    const id = `gen-${number++}`;
    const own = {
      id,
      workspaceId,
      receivedAtMs: clock.now(),
      error: null,
      firstMs: null,
      generations: [],
      attempts: [],
      pipeline: [],
      stages: [],
      expensesNanoUsd: { plugins: 0, guardrails: 0, tools: 0 },
      tags: [],
    };
    records.write({ ...own, referer: null, promptMedia: { files: 0, audio: 0 } } as unknown as RequestRecord);
  };
  const countOf = async (partition: string, kind = recordKind) =>
    (await storage.list(partition, kind, { offset: 0, limit: 0 })).total;
  return { settings, clock, records, write, countOf };
}

it('hold at 2,000 records in a second: as many go as were written', async () => {
  const { settings, clock, records, write, countOf } = bench({ max: 3_000, ttlMs: 5_000 });
  let most = 0;
  let mostOfAll = 0;
  for (let tenth = 0; tenth < 150; tenth++) {
    for (let at = 0; at < 200; at++) write(loud);
    if (tenth % 10 === 0) write(quiet);
    await clock.advance(100);
    most = Math.max(most, await countOf(loud));
    mostOfAll = Math.max(mostOfAll, await countOf(indexPartition, indexKind));
  }
  // A second until it is looked at, and a second of records that are written together.
  expect(most).toBeGreaterThan(settings.max);
  expect(most).toBeLessThanOrEqual(settings.max + 2 * 2_000 + 500);
  expect(mostOfAll).toBeLessThanOrEqual(settings.max + 2 * 2_000 + 500 + 20);
  // No record of another went before its time.
  expect(await countOf(quiet)).toBeGreaterThanOrEqual(5);
  expect(records.dropped()).toBe(0);
  await clock.until(records.close());
});

it('of the queue are each a share of a workspace: who writes too much loses its own', async () => {
  const { clock, records, write, countOf } = bench({ queueLength: 100 });
  for (let at = 0; at < 500; at++) write(loud);
  for (let at = 0; at < 50; at++) write(quiet);
  for (let at = 0; at < 500; at++) write(loud);
  await clock.until(records.close());
  expect([await countOf(loud), await countOf(quiet)]).toEqual([50, 50]);
  expect(records.dropped()).toBe(950);
});
