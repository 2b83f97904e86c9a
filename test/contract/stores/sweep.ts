import { describe, expect, it } from 'vitest';
import type { WorkspaceId } from '../../../src/call/workspace.ts';
import { recordSettingsSchema } from '../../../src/schema/settings/records.ts';
import type { Storage } from '../../../src/stores/storage/storage.ts';
import {
  activeAt,
  indexAt,
  indexKind,
  indexPartition,
  ownerText,
  recordAt,
  recordKind,
} from '../../../src/telemetry/records/places.ts';
import { createSweeper } from '../../../src/telemetry/records/sweeper.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { newWorkspace } from './ledger.ts';

/** Records are removed as they are to be, on every store. */
export function testSweep(
  name: string,
  open: () => Promise<{ storage: Storage; close: () => Promise<unknown> }>,
): void {
  describe(`records that may go: ${name}`, () => {
    it('go in batches, the oldest of each workspace, whoever has written them, also after a restart', async () => {
      const { storage, close } = await open();
      const clock = manualClock();
      const settings = recordSettingsSchema().parse({ max: 300, ttlMs: 600_000 });
      const [loud, quiet] = [newWorkspace(), newWorkspace()];
      const startMs = clock.now();
      await write(storage, loud, 2_000, startMs);
      await write(storage, quiet, 40, startMs - 30_000);
      let commits = 0;
      const counted: Storage = {
        ...storage,
        commit: (changes) => {
          commits++;
          return storage.commit(changes);
        },
      };
      // Neither has written a record itself: two processes that were started again.
      const sweepers = [0, 0.6].map((share) => createSweeper(counted, clock, settings, () => share));
      // Of one that has begun before, the end is waited for.
      const swept = async () => {
        for (const _ of [1, 2]) await settled(clock, Promise.all(sweepers.map(({ sweep }) => sweep())));
      };
      await swept();
      expect(await idsOf(storage, loud)).toEqual(idsFrom(1_999, 300));
      expect(await idsOf(storage, quiet)).toEqual(idsFrom(39, 40));
      const index = await storage.list(indexPartition, indexKind, { offset: 0, limit: 0 });
      expect(index.total).toBe(340);
      // Two steps for each 500, and both may have removed the same.
      expect(commits).toBeLessThanOrEqual(2 * 2 * Math.ceil(1_700 / 500) + 8);

      await clock.advance(settings.ttlMs - 10_000);
      await swept();
      expect([await idsOf(storage, loud), await idsOf(storage, quiet)]).toEqual([idsFrom(1_999, 300), []]);
      await clock.advance(20_000);
      await swept();
      expect(await idsOf(storage, loud)).toEqual([]);
      expect((await storage.list(indexPartition, indexKind, { offset: 0, limit: 0 })).total).toBe(0);
      for (const { close: stop } of sweepers) stop();
      await close();
    });
  });
}

async function write(storage: Storage, workspaceId: WorkspaceId, count: number, startMs: number): Promise<void> {
  await storage.commit([{ at: activeAt(workspaceId), value: '1', rank: startMs }]);
  for (let from = 0; from < count; from += 500) {
    const ids = Array.from({ length: Math.min(500, count - from) }, (_, at) => from + at);
    await storage.commit(
      ids.map((id) => ({ at: recordAt(workspaceId, nameOf(workspaceId, id)), value: '{}', rank: -(startMs + id) })),
    );
    await storage.commit(
      ids.map((id) => ({
        at: indexAt(nameOf(workspaceId, id)),
        value: ownerText(workspaceId, startMs + id),
        rank: startMs + id,
      })),
    );
  }
}

const nameOf = (workspaceId: WorkspaceId, id: number) => `gen-${workspaceId.slice(0, 20)}-${id}`;
const idsFrom = (last: number, count: number) => Array.from({ length: count }, (_, at) => last - at);

async function idsOf(storage: Storage, workspaceId: WorkspaceId): Promise<number[]> {
  const { records } = await storage.list(workspaceId, recordKind, { offset: 0, limit: 5_000 });
  return records.map(({ id }) => Number(id.slice(id.lastIndexOf('-') + 1)));
}

/** Of a real store, which the clock does not know of. */
async function settled(clock: ReturnType<typeof manualClock>, work: Promise<unknown>): Promise<void> {
  let isOver = false;
  void work.finally(() => {
    isOver = true;
  });
  while (!isOver) await clock.advance(0);
}
