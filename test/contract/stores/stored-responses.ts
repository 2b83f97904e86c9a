import { describe, expect, it } from 'vitest';
import { recordSettingsSchema } from '../../../src/schema/settings/records.ts';
import { deletionOf } from '../../../src/stores/deletion.ts';
import type { Storage } from '../../../src/stores/storage/storage.ts';
import { createVault } from '../../../src/stores/vault/index.ts';
import { indexPartition } from '../../../src/telemetry/records/places.ts';
import { contentAt, entryAt, responseIndexKind } from '../../../src/telemetry/responses/places.ts';
import {
  createStoredResponses,
  deleteStoredResponses,
  type ResponseToKeep,
} from '../../../src/telemetry/responses/stored-responses.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { newWorkspace } from './ledger.ts';

const item = { type: 'message', role: 'user', content: 'Where is my parcel? 📦' };

/** Responses are kept, found by other instances, and gone when they are to be, on every store. */
export function testStoredResponses(
  name: string,
  open: () => Promise<{ storage: Storage; close: () => Promise<unknown> }>,
): void {
  describe(`responses that are kept: ${name}`, () => {
    it('are found by another instance, and by none once they were removed, have expired or are too many', async () => {
      const { storage, close } = await open();
      const clock = manualClock();
      const settings = recordSettingsSchema().parse({ maxResponses: 3, responsesTtlMs: 600_000 });
      const vault = createVault({ sealer: null, randomBytes: (size) => new Uint8Array(size) });
      const [one, other] = [0, 1].map(() => createStoredResponses({ storage, vault, clock, settings }));
      const [mine, theirs] = [newWorkspace(), newWorkspace()];
      const kept = (id: string): ResponseToKeep => ({
        id,
        at_ms: clock.now(),
        api_key_hash: 'ab',
        user_id: null,
        response: JSON.stringify({ id, output: [] }),
        input: JSON.stringify([item]),
      });
      for (const at of [1, 2, 3, 4, 5]) {
        expect(await one?.keep(mine, kept(`gen-${mine}-${at}`))).toBe(true);
        await clock.advance(1_000);
      }
      const find = async (at: number, workspaceId = mine) => other?.find(workspaceId, `gen-${mine}-${at}`);
      const found = await find(5);
      expect(found).toMatchObject({ api_key_hash: 'ab', user_id: null });
      expect(await found?.open()).toEqual({ response: { id: `gen-${mine}-5`, output: [] }, input: [item] });
      expect([await find(5, theirs), await other?.ownerOf(`gen-${mine}-5`)]).toEqual([null, mine]);

      for (const _ of [1, 2]) await settled(clock, one?.sweep());
      expect(await Promise.all([1, 2, 3].map(async (at) => (await find(at)) !== null))).toEqual([false, false, true]);
      await other?.remove(mine, `gen-${mine}-4`);
      const at = [entryAt(mine, `gen-${mine}-4`), contentAt(mine, `gen-${mine}-4`)];
      expect([await storage.getMany(at), await one?.ownerOf(`gen-${mine}-4`)]).toEqual([[null, null], null]);

      await clock.advance(598_000);
      expect([await find(3), (await find(5)) !== null]).toEqual([null, true]);
      // Of one that has begun before, the end is waited for.
      for (const _ of [1, 2]) await settled(clock, other?.sweep());
      expect(await storage.get(contentAt(mine, `gen-${mine}-3`))).toBeNull();
      await deleteStoredResponses(storage, mine);
      expect([await find(5), await storage.get(contentAt(mine, `gen-${mine}-5`))]).toEqual([null, null]);

      await storage.commit([{ at: deletionOf(mine), value: '1' }]);
      expect(await one?.keep(mine, kept(`gen-${mine}-6`))).toBe(false);
      expect(await find(6)).toBeNull();
      const index = await storage.list(indexPartition, responseIndexKind, { offset: 0, limit: 100 });
      expect(index.records.filter(({ id }) => id.includes(mine))).toEqual([]);
      for (const stored of [one, other]) stored?.close();
      await close();
    });
  });
}

/** Moves the clock for the turns between two steps. */
export async function settled(clock: ManualClock, work: Promise<unknown> | undefined): Promise<void> {
  let isDone = false;
  void work?.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(0);
  }
}
