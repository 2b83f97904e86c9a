import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { WorkspaceId } from '../../../src/call/workspace.ts';
import { recordSettingsSchema } from '../../../src/schema/settings/records.ts';
import { memoryLedger } from '../../../src/stores/ledger/memory.ts';
import { memoryStorage } from '../../../src/stores/storage/memory.ts';
import { recordAt, recordKind } from '../../../src/telemetry/records/places.ts';
import { createRecordReader } from '../../../src/telemetry/records/reader.ts';
import { manualClock } from '../../support/manual-clock.ts';

const workspaceId = 'w' as WorkspaceId;
/** Few milliseconds and models: many records of the same time, and pages without any. */
const record = fc.record({ ms: fc.integer({ min: 0, max: 6 }), model: fc.constantFrom('a', 'b') });

it('show each record once, whatever is written and removed between two pages and within one', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(record, { maxLength: 40 }),
      fc.array(fc.record({ added: fc.array(record, { maxLength: 6 }), removes: fc.boolean(), within: fc.boolean() })),
      fc.record({ limit: fc.integer({ min: 1, max: 5 }), maxScanned: fc.integer({ min: 1, max: 7 }) }),
      async (before, changes, { limit, maxScanned }) => {
        const clock = manualClock();
        const startMs = clock.now();
        await clock.advance(1_000);
        const inner = memoryStorage(memoryLedger({ onLostHold: 'charge', now: clock.now }));
        let count = 0;
        const there = new Map<string, string>();
        const write = async ({ ms, model }: { ms: number; model: string }) => {
          const id = `gen-${(count * 7919) % 1000}-${count++}`;
          const value = JSON.stringify({ id, created_at: new Date(startMs + ms).toISOString(), model });
          await inner.commit([{ at: recordAt(workspaceId, id), value, rank: -(startMs + ms) }]);
          there.set(id, model);
        };
        for (const one of before) await write(one);
        const always = new Set([...there].filter(([, model]) => model === 'a').map(([id]) => id));
        const change = async () => {
          const next = changes.shift();
          for (const one of next?.added ?? []) await write(one);
          if (next?.removes !== true) return;
          // As the sweeper does: the oldest go.
          const { records } = await inner.list(workspaceId, recordKind, { offset: 0, limit: 1_000 });
          const oldest = records.at(-1);
          if (oldest === undefined) return;
          await inner.commit([{ at: recordAt(workspaceId, oldest.id), value: null }]);
          always.delete(oldest.id);
        };
        const storage = {
          ...inner,
          list: async (...given: Parameters<typeof inner.list>) => {
            const found = await inner.list(...given);
            if (changes[0]?.within) await change();
            return found;
          },
        };
        const settings = recordSettingsSchema().parse({ maxScanned });
        const reader = createRecordReader({ storage, clock, settings });
        const seen: string[] = [];
        let place: { to: number; behind: { atMs: number; id: string } } | null = null;
        for (let page = 0; ; page++) {
          const found = await reader.list(workspaceId, { model: 'a', ...place }, { offset: 0, limit });
          seen.push(...found.records.map(({ id }) => id));
          const last = found.records.at(-1);
          const behind =
            found.resumeBehind ??
            (last === undefined || found.records.length < limit
              ? null
              : { atMs: Date.parse(last.created_at), id: last.id });
          if (behind === null) break;
          place = { to: behind.atMs + 1, behind };
          await change();
          expect(page).toBeLessThan(2_000);
        }
        expect(new Set(seen).size).toBe(seen.length);
        expect([...always].filter((id) => !seen.includes(id))).toEqual([]);
      },
    ),
    { numRuns: 200 },
  );
});
