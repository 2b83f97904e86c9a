import { randomUUID } from 'node:crypto';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { sqliteStore } from '../../../adapters/sqlite/sqlite.ts';
import type { WorkspaceId } from '../../../src/call/workspace.ts';
import type { LimitedWindow } from '../../../src/stores/ledger/ledger.ts';
import { sqliteLedger } from '../../../src/stores/ledger/sqlite.ts';
import { sqliteStorage } from '../../../src/stores/storage/sqlite.ts';
import type { Storage } from '../../../src/stores/storage/storage.ts';

// A process of its own on a shared file. Says that it is ready, is told when to start, and answers with a result.

export type Task = keyof typeof tasks;

export const budget = {
  workspaceId: 'shared' as WorkspaceId,
  limitNanoUsd: 500_000,
  windows: (limitNanoUsd: number): LimitedWindow[] => [
    { account: 'workspace', interval: 'lifetime', startMs: 0, endMs: null, limitNanoUsd },
    {
      account: 'workspace',
      interval: 'daily',
      startMs: Date.UTC(2092, 4, 14),
      endMs: Date.UTC(2092, 4, 15),
      limitNanoUsd,
    },
  ],
};
export const names = Array.from({ length: 200 }, (_, index) => `name-${index}`);
/** That run a task at the same time. */
export const processes = 4;
export const at = (id: string, kind = 'thing') => ({ partition: 'shared', kind, id });

const tasks = {
  /** Wants every name for itself, each process from another one on; which it got. */
  async claim(path: string): Promise<string[]> {
    const { storage, store } = open(path);
    const position = await meet(storage);
    const won: string[] = [];
    for (const [index] of names.entries()) {
      const name = names[(index + (position * names.length) / processes) % names.length] as string;
      const id = `${process.pid}-${name}`;
      const done = await storage.commit([
        { at: at(id), expect: null, value: name, rank: process.pid },
        { at: at(name, 'name'), expect: null, value: id },
      ]);
      if (done) won.push(name);
      await delay(1);
    }
    await store.disconnect();
    return won;
  },

  /** Adds one to a counter, 200 times. */
  async count(path: string): Promise<number> {
    const { storage, store } = open(path);
    let races = 0;
    for (let done = 0; done < 200; ) {
      const seen = await storage.get(at('count'));
      if (await storage.commit([{ at: at('count'), expect: seen, value: `${Number(seen) + 1}` }])) done++;
      else races++;
    }
    await store.disconnect();
    return races;
  },

  /** Spends, 20 requests at a time, until hardly anything fits; what it spent, and the worst it saw of the windows. */
  async spend(path: string): Promise<{ spent: number; refused: number; highest: number }> {
    const { ledger, store } = open(path);
    const { workspaceId, limitNanoUsd } = budget;
    const windows = budget.windows(limitNanoUsd);
    const seen = { spent: 0, refused: 0, highest: 0 };
    let left = 300;
    const work = async () => {
      while (left-- > 0) {
        const id = randomUUID();
        const amountNanoUsd = Math.ceil(Math.random() * 4_000);
        const outcome = await ledger.hold({
          id,
          workspaceId,
          amountNanoUsd,
          windows,
          leaseMs: 60_000,
        });
        if (!outcome.isHeld) {
          seen.refused++;
          continue;
        }
        await turn();
        const actual = Math.floor(Math.random() * (amountNanoUsd + 1));
        if (Math.random() < 0.1) await ledger.release(workspaceId, id);
        else {
          await ledger.settle(workspaceId, id, actual);
          seen.spent += actual;
        }
        for (const state of await ledger.read(workspaceId, windows)) {
          seen.highest = Math.max(seen.highest, state.spentNanoUsd + state.heldNanoUsd);
        }
      }
    };
    await Promise.all(Array.from({ length: 20 }, work));
    await store.disconnect();
    return seen;
  },

  /** Holds the lock, with half a change written, until it is told to let go. */
  async lock(path: string): Promise<string> {
    const { store, storage } = open(path);
    await storage.get(at('any'));
    store.database.exec('BEGIN IMMEDIATE');
    store.database.exec(
      "INSERT INTO gateway_records (partition, kind, id, value) VALUES ('shared', 'thing', 'half', 'x')",
    );
    process.send?.('locked');
    await new Promise((resolve) => process.once('message', resolve));
    store.database.exec('ROLLBACK');
    await store.disconnect();
    return 'released';
  },

  /** What a process may do that may only read the file. */
  async look(path: string): Promise<Record<string, string>> {
    const { store, storage, ledger } = open(path);
    const { workspaceId } = budget;
    const told = (work: Promise<unknown>) =>
      work.then(
        (value) => JSON.stringify(value),
        (error: Error) => `rejected: ${error.message}`,
      );
    return {
      get: await told(storage.get(at('here'))),
      list: await told(storage.list('shared', 'thing', { offset: 0, limit: 10 })),
      commit: await told(storage.commit([{ at: at('here'), value: 'changed' }])),
      keyvGet: await told(store.get('key')),
      keyvSet: await told(store.set('key', 'changed')),
      read: await told(ledger.read(workspaceId, budget.windows(1))),
      settle: await told(ledger.settle(workspaceId, 'held', 1)),
      hold: await told(ledger.hold({ id: randomUUID(), workspaceId, amountNanoUsd: 0, windows: [], leaseMs: 1 })),
    };
  },
};

/** Waits until all are there: a busy machine may let one of them start when another would be done. Gives its place. */
async function meet(storage: Storage): Promise<number> {
  await storage.commit([{ at: at(`${process.pid}`, 'present'), value: '', rank: 0 }]);
  for (;;) {
    const { records, total } = await storage.list('shared', 'present', { offset: 0, limit: processes });
    if (total === processes) return records.findIndex(({ id }) => id === `${process.pid}`);
    await delay(1);
  }
}

/** As between a request and its answer. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function open(path: string) {
  const store = sqliteStore({ path, busyTimeoutMs: 10_000 });
  const storage = sqliteStorage(store, { onLostHold: 'charge' });
  return { store, storage, ledger: sqliteLedger(store.database, { onLostHold: 'charge' }) };
}

const [task, path] = process.argv.slice(2);
if (process.send && task !== undefined && path !== undefined && task in tasks) {
  process.once('message', async (startAtMs: number) => {
    // Not all the time: who spins has used up its share of the machine when it is time to start.
    await delay(startAtMs - Date.now() - 5);
    while (Date.now() < startAtMs);
    const result = await tasks[task as Task](path);
    process.send?.({ result }, () => process.disconnect?.());
  });
  process.send('ready');
}
