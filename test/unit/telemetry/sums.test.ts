import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sqliteStore } from '../../../adapters/sqlite/sqlite.ts';
import type { WorkspaceId } from '../../../src/call/workspace.ts';
import { recordSettingsSchema } from '../../../src/schema/settings/records.ts';
import { memoryLedger } from '../../../src/stores/ledger/memory.ts';
import { memoryStorage } from '../../../src/stores/storage/memory.ts';
import { sqliteStorage } from '../../../src/stores/storage/sqlite.ts';
import type { Storage } from '../../../src/stores/storage/storage.ts';
import type { RequestRecord } from '../../../src/telemetry/record.ts';
import type { CellName } from '../../../src/telemetry/records/cell.ts';
import { createRecords, type Records } from '../../../src/telemetry/records/records.ts';
import { classOf } from '../../../src/telemetry/records/time-classes.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { runs } from '../../support/runs.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const startMs = Date.UTC(2026, 0, 10);
const workspaces = ['north', 'south'] as WorkspaceId[];
const models = ['acme/a', 'acme/b', 'acme/"c"\n', null];
const ledger = () => memoryLedger({ onLostHold: 'release' });

const stores: Record<string, () => { storage: Storage; close: () => unknown }> = {
  'reads by place': () => ({ storage: memoryStorage(ledger()), close: () => undefined }),
  'reads by rank': () => {
    const store = sqliteStore(':memory:');
    return { storage: sqliteStorage(store, { onLostHold: 'release' }), close: () => store.disconnect() };
  },
};

interface Written {
  by: number;
  workspaceId: WorkspaceId;
  atMs: number;
  model: string | null;
  provider: string;
  costNanoUsd: number | null;
  outcome: 'ok' | 'failed';
  totalMs: number;
  /** true: the process died before the end of the request. */
  isLost: boolean;
}

const written: fc.Arbitrary<Written> = fc.record({
  by: fc.nat(2),
  workspaceId: fc.constantFrom(...workspaces),
  // Near the borders of hours, quarters and days, as well.
  atMs: fc
    .tuple(fc.integer({ min: 0, max: 4 * 24 }), fc.constantFrom(-1, 0, 1, 1_234_567))
    .map(([hour, more]) => startMs + hour * hourMs + more),
  model: fc.constantFrom(...models),
  provider: fc.constantFrom('Acme', 'Birch'),
  costNanoUsd: fc.option(fc.integer({ min: 0, max: 10_000_000 })),
  outcome: fc.constantFrom('ok', 'failed'),
  totalMs: fc.nat(600_000),
  isLost: fc.boolean(),
});

function recordOf({ workspaceId, atMs, isLost: _, by: __, ...of }: Written, id: string): RequestRecord {
  const own = {
    ...of,
    id,
    workspaceId,
    receivedAtMs: atMs,
    requested: 'any',
    apiKeyHash: `key-${of.provider}`,
    userId: `user-${of.model}`,
    user: null,
    tags: ['web'],
    usage: { prompt_tokens: 7, completion_tokens: 3 },
    byokNanoUsd: 0,
    error: of.outcome === 'ok' ? null : { type: 'internal', message: 'no' },
    firstMs: null,
    generations: [],
    attempts: [],
    pipeline: [],
    stages: [],
    expensesNanoUsd: { plugins: 0, guardrails: 0, tools: 0 },
    referer: null,
    promptMedia: { files: 0, audio: 0 },
  };
  return own as unknown as RequestRecord;
}

interface Question {
  grain: 'hour' | 'day';
  from: number;
  length: number;
  names: readonly ('model' | 'provider' | 'apiKeyHash')[];
  only: readonly (string | null)[] | null;
  of: readonly WorkspaceId[];
}

const question: fc.Arbitrary<Question> = fc.record({
  grain: fc.constantFrom('hour', 'day'),
  from: fc.integer({ min: -24, max: 4 * 24 }),
  length: fc.integer({ min: 1, max: 5 * 24 }),
  names: fc.subarray(['model', 'provider', 'apiKeyHash'] as const),
  only: fc.option(fc.subarray(models, { minLength: 1 })),
  of: fc.subarray(workspaces, { minLength: 1 }),
});

interface Total {
  requests: number;
  costNanoUsd: number;
  failed: number;
  lost: number;
  times: Record<number, number>;
}

/** Adds up by a text of time and names. */
function adder() {
  const sums: Record<string, Total> = {};
  return {
    sums,
    add(key: string, more: Omit<Total, 'times'>, times: readonly number[]) {
      const sum = sums[key] ?? { requests: 0, costNanoUsd: 0, failed: 0, lost: 0, times: {} };
      sums[key] = sum;
      sum.requests += more.requests;
      sum.costNanoUsd += more.costNanoUsd;
      sum.failed += more.failed;
      sum.lost += more.lost;
      for (let at = 0; at < times.length; at += 2)
        sum.times[times[at] as number] = (sum.times[times[at] as number] ?? 0) + (times[at + 1] as number);
    },
  };
}

/** What the records themselves add up to. */
function expected(all: readonly Written[], asked: Question, isByTime: boolean) {
  const grainMs = asked.grain === 'hour' ? hourMs : dayMs;
  const { fromMs, toMs } = timeOf(asked);
  const { sums, add } = adder();
  for (const { workspaceId, atMs, isLost, ...one } of all) {
    if (!asked.of.includes(workspaceId) || atMs < fromMs || atMs >= toMs) continue;
    const named = {
      model: isLost ? null : one.model,
      provider: isLost ? null : one.provider,
      apiKeyHash: `key-${one.provider}`,
    };
    if (asked.only !== null && !asked.only.includes(named.model)) continue;
    const key = JSON.stringify([
      workspaceId,
      isByTime ? atMs - (atMs % grainMs) : null,
      asked.names.map((name) => named[name]),
    ]);
    if (isLost) add(key, { requests: 1, costNanoUsd: one.costNanoUsd ?? 0, failed: 0, lost: 1 }, []);
    else
      add(
        key,
        { requests: 1, costNanoUsd: one.costNanoUsd ?? 0, failed: one.outcome === 'failed' ? 1 : 0, lost: 0 },
        one.outcome === 'ok' ? [classOf(one.totalMs), 1] : [],
      );
  }
  return sums;
}

function timeOf({ grain, from, length }: Question): { fromMs: number; toMs: number } {
  const grainMs = grain === 'hour' ? hourMs : dayMs;
  const fromMs = startMs + Math.floor((from * hourMs) / grainMs) * grainMs;
  return { fromMs, toMs: fromMs + Math.ceil((length * hourMs) / grainMs) * grainMs };
}

async function answered(records: Records, asked: Question, isByTime: boolean) {
  const { grain, names, only, of } = asked;
  const wanted = {
    grain,
    ...timeOf(asked),
    names: new Set<CellName>(only === null ? names : ['model', ...names]),
    only: only === null ? undefined : { name: 'model' as const, values: new Set(only) },
  };
  const { sums, add } = adder();
  const rows = await (isByTime ? records.sums.rows(of, wanted) : records.sums.between(of, wanted));
  for (const { workspaceId, startMs: atMs, cells } of rows)
    for (const cell of cells)
      if (only === null || only.includes(cell.model))
        add(JSON.stringify([workspaceId, isByTime ? atMs : null, names.map((name) => cell[name])]), cell, cell.totalMs);
  return sums;
}

describe('sums by hour and day, of all and of some names', () => {
  it.each(Object.entries(stores))(
    'are those of the records, of several instances and of lost calls, in a store that %s',
    async (_, open) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(written, { maxLength: 40 }),
          fc.array(question, { minLength: 4, maxLength: 8 }),
          async (all, questions) => {
            // In a day that has records and is not over.
            const clock = manualClock(startMs + 4 * dayMs + 2 * hourMs);
            const { storage, close } = open();
            const instances = [0, 1, 2].map((at) =>
              createRecords({
                storage,
                vault: null as never,
                clock,
                logger: null,
                settings: recordSettingsSchema().parse({ ttlMs: 30 * dayMs }),
                instance: () => `instance${at}`,
                bookLost: async () => undefined,
              }),
            );
            for (const [at, one] of all.entries()) {
              const { by, workspaceId, atMs, isLost } = one;
              const id = `gen-${at}-u${at % 20}`;
              const records = instances[by] as Records;
              if (!isLost) records.write(recordOf(one, id));
              else {
                const nanoUsd = one.costNanoUsd ?? 0;
                const call = { id, apiKeyHash: `key-${one.provider}`, receivedAtMs: atMs, holds: 1, nanoUsd };
                // Two instances find it.
                for (const finder of [records, instances[0] as Records])
                  await clock.until(finder.recordLost(workspaceId, call, false));
              }
              if (at % 7 === 0) await clock.until(records.flush());
            }
            for (const records of instances) await clock.until(records.flush());
            for (const asked of questions)
              for (const isByTime of [true, false]) {
                // Twice at once, and once more of what was remembered.
                const found = [answered(instances[1] as Records, asked, isByTime)];
                found.push(answered(instances[1] as Records, asked, isByTime));
                for (const sums of await clock.until(Promise.all(found)))
                  expect(sums).toEqual(expected(all, asked, isByTime));
                expect(await clock.until(answered(instances[1] as Records, asked, isByTime))).toEqual(
                  expected(all, asked, isByTime),
                );
              }
            for (const records of instances) await clock.until(records.close());
            await close();
          },
        ),
        { numRuns: runs(15, 300), seed: runs(1, Date.now() % 1e9), endOnFailure: true },
      );
    },
    600_000,
  );
});
