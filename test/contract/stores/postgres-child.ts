import { randomUUID } from 'node:crypto';
import process from 'node:process';
import { KeyvPostgres } from '@keyv/postgres';
import type { WorkspaceId } from '../../../src/call/workspace.ts';
import type { LimitedWindow } from '../../../src/stores/ledger/ledger.ts';
import { postgresStorage } from '../../../src/stores/storage/postgres/postgres.ts';
import type { Storage } from '../../../src/stores/storage/storage.ts';

// A process of its own on a shared server. Says that it is ready, is told when to start, and answers with a result.

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
export const names = Array.from({ length: 40 }, (_, index) => `name-${index}`);
export const at = (id: string, kind = 'thing') => ({ partition: 'shared', kind, id });

const tasks = {
  /** Uses a schema that nobody has used before: a record and a hold. */
  async begin(storage: Storage): Promise<boolean> {
    const hold = storage.ledger.hold({
      id: randomUUID(),
      workspaceId: budget.workspaceId,
      amountNanoUsd: 1,
      windows: budget.windows(1_000),
      leaseMs: 60_000,
    });
    const id = `process-${process.pid}`;
    const isCreated = await storage.commit([{ at: at(id), expect: null, value: id, rank: 0 }]);
    return (await hold).isHeld && isCreated;
  },

  /** Wants every name for itself; which it got. */
  async claim(storage: Storage): Promise<string[]> {
    const won: string[] = [];
    for (const name of names) {
      const id = `${process.pid}-${name}`;
      const done = await storage.commit([
        { at: at(id), expect: null, value: name, rank: process.pid },
        { at: at(name, 'name'), expect: null, value: id },
      ]);
      if (done) won.push(name);
    }
    return won;
  },

  /** Spends, 20 requests at a time, until hardly anything fits; what it spent, and the worst it saw of the windows. */
  async spend({ ledger }: Storage): Promise<{ spent: number; refused: number; highest: number }> {
    const { workspaceId, limitNanoUsd } = budget;
    const windows = budget.windows(limitNanoUsd);
    const seen = { spent: 0, refused: 0, highest: 0 };
    let left = 400;
    const work = async () => {
      while (left-- > 0) {
        const id = randomUUID();
        const amountNanoUsd = Math.ceil(Math.random() * 4_000);
        const { isHeld } = await ledger.hold({
          id,
          workspaceId,
          amountNanoUsd,
          windows,
          leaseMs: 60_000,
        });
        if (!isHeld) {
          seen.refused++;
          continue;
        }
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
    return seen;
  },
};

const [task, uri, schema] = process.argv.slice(2);
if (process.send && task !== undefined && task in tasks) {
  process.once('message', async (startAtMs: number) => {
    while (Date.now() < startAtMs);
    const adapter = new KeyvPostgres({ uri, schema, max: 4 });
    adapter.on('error', () => {});
    const storage = postgresStorage(adapter, { onLostHold: 'charge' });
    const result = await tasks[task as Task](storage).catch((error: Error) => ({ error: String(error) }));
    await storage.close();
    process.send?.(result, () => process.disconnect?.());
  });
  process.send('ready');
}
