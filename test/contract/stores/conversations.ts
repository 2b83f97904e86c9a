import { describe, expect, it } from 'vitest';
import type { ConversationContent } from '../../../src/schema/records/stored-conversation.ts';
import { recordSettingsSchema } from '../../../src/schema/settings/records.ts';
import { deletionOf } from '../../../src/stores/deletion.ts';
import type { Storage } from '../../../src/stores/storage/storage.ts';
import { createVault } from '../../../src/stores/vault/index.ts';
import { contentAt, conversationIndexKind, entryAt } from '../../../src/telemetry/conversations/places.ts';
import {
  createStoredConversations,
  deleteStoredConversations,
} from '../../../src/telemetry/conversations/stored-conversations.ts';
import { indexPartition } from '../../../src/telemetry/records/places.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { newWorkspace } from './ledger.ts';
import { settled } from './stored-responses.ts';

const owner = { api_key_hash: 'ab', user_id: null };
const adding = (id: string) => (content: ConversationContent) => ({
  ...content,
  items: [...content.items, { id, item: { type: 'message', role: 'user', content: `${id} 📦` } }],
});

/** Conversations are kept, changed by several instances without a loss, and gone when they are to be, on every store. */
export function testConversations(
  name: string,
  open: () => Promise<{ storage: Storage; close: () => Promise<unknown> }>,
): void {
  describe(`conversations: ${name}`, () => {
    it('lose nothing where two instances change one at the same time', async () => {
      const { storage, close } = await open();
      const clock = manualClock();
      const settings = recordSettingsSchema().parse({});
      const vault = createVault({ sealer: null, randomBytes: (size) => new Uint8Array(size) });
      const instances = [0, 1].map(() => createStoredConversations({ storage, vault, clock, settings }));
      const mine = newWorkspace();
      const id = `conv_${mine}`;
      const made = await instances[0]?.create(mine, { id, content: { metadata: {}, items: [] }, ...owner });
      expect(made).toMatchObject({ ...owner, revision: 1 });
      const names = Array.from({ length: 12 }, (_, at) => `msg_${at}`);
      await Promise.all(names.map((item, at) => instances[at % 2]?.change(mine, id, adding(item))));
      const found = await instances[0]?.find(mine, id);
      const content = await found?.open();
      expect(content?.items.map((item) => item.id).toSorted()).toEqual(names.toSorted());
      expect(found?.revision).toBe(13);
      for (const instance of instances) instance.close();
      await close();
    });
    it('are found in their workspace alone, and are gone once they were removed, have expired or are too many', async () => {
      const { storage, close } = await open();
      const clock = manualClock();
      const settings = recordSettingsSchema().parse({ maxConversations: 2, conversationsTtlMs: 600_000 });
      const vault = createVault({ sealer: null, randomBytes: (size) => new Uint8Array(size) });
      const stored = createStoredConversations({ storage, vault, clock, settings });
      const [mine, theirs] = [newWorkspace(), newWorkspace()];
      const idOf = (at: number) => `conv_${mine}-${at}`;
      const make = (at: number) =>
        stored.create(mine, { id: idOf(at), content: { metadata: {}, items: [] }, ...owner });
      const there = async () =>
        Promise.all([1, 2, 3, 4].map(async (at) => (await stored.find(mine, idOf(at))) !== null));
      for (const at of [1, 2, 3, 4]) {
        await make(at);
        await clock.advance(1_000);
      }
      // Nothing takes the place of what is there.
      expect(await make(4)).toBeNull();
      expect([await stored.find(theirs, idOf(4)), await stored.ownerOf(idOf(4))]).toEqual([null, mine]);
      await stored.change(mine, idOf(1), adding('msg_1'));
      for (const _ of [1, 2]) await settled(clock, stored.sweep());
      expect(await there()).toEqual([true, false, false, true]);
      await stored.remove(mine, idOf(4));
      expect([await stored.change(mine, idOf(4), adding('msg_2')), await stored.ownerOf(idOf(4))]).toEqual([
        null,
        null,
      ]);
      await clock.advance(601_000);
      for (const _ of [1, 2]) await settled(clock, stored.sweep());
      expect(await storage.getMany([entryAt(mine, idOf(1)), contentAt(mine, idOf(1))])).toEqual([null, null]);

      await make(2);
      await storage.commit([{ at: deletionOf(mine), value: '1' }]);
      expect([await stored.change(mine, idOf(2), adding('msg_3')), await make(3)]).toEqual([null, null]);
      await deleteStoredConversations(storage, mine);
      expect(await there()).toEqual([false, false, false, false]);
      const index = await storage.list(indexPartition, conversationIndexKind, { offset: 0, limit: 100 });
      expect(index.records.filter(({ id }) => id.includes(mine))).toEqual([]);
      stored.close();
      await close();
    });
  });
}
