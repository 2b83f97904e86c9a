import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { sqliteStore } from '../../../adapters/sqlite/sqlite.ts';
import { sqliteStorage } from '../../../src/stores/storage/sqlite.ts';
import { childFlags } from '../../support/child-flags.ts';
import { at, budget, names, processes, type Task } from './sqlite-child.ts';

const folder = mkdtempSync(join(tmpdir(), 'model-gateway-sqlite-'));
const children = new Set<ChildProcess>();
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('four processes that start at once on a file that is not there', { timeout: 60_000 }, () => {
  it('agree on who has a name, and leave nothing of who has not', async () => {
    const path = join(folder, 'claim.db');
    const won = await race<string[]>('claim', path);
    expect(won.flat().toSorted()).toEqual(names.toSorted());
    // They were at it together: alone, the first would have them all.
    expect(won.filter((some) => some.length > 0).length).toBeGreaterThan(1);
    const { storage, store } = open(path);
    const owners = await storage.getMany(names.map((name) => at(name, 'name')));
    const { records, total } = await storage.list('shared', 'thing', { offset: 0, limit: 1_000 });
    expect(records.map(({ id }) => id).toSorted()).toEqual(owners.toSorted());
    expect(total).toBe(names.length);
    await store.disconnect();
  });

  it('lose no count', async () => {
    const path = join(folder, 'count.db');
    const races = await race<number>('count', path);
    const { storage, store } = open(path);
    expect(await storage.get(at('count'))).toBe('800');
    // They did meet.
    expect(races.reduce((sum, some) => sum + some, 0)).toBeGreaterThan(0);
    await store.disconnect();
  });

  it('never spend more than the budget, and nothing stands in the way of what is left', async () => {
    const path = join(folder, 'spend.db');
    const seen = await race<{ spent: number; refused: number; highest: number }>('spend', path);
    const { ledger, store } = open(path);
    const states = await ledger.read(budget.workspaceId, budget.windows(1));
    const spentNanoUsd = seen.reduce((sum, { spent }) => sum + spent, 0);
    expect(states).toEqual([0, 1].map(() => ({ spentNanoUsd, heldNanoUsd: 0 })));
    expect(Math.max(...seen.map(({ highest }) => highest))).toBeLessThanOrEqual(budget.limitNanoUsd);
    const hold = (id: string, amountNanoUsd: number) => {
      const { workspaceId, limitNanoUsd } = budget;
      const windows = budget.windows(limitNanoUsd);
      return ledger.hold({ id, workspaceId, amountNanoUsd, windows, leaseMs: 60_000 });
    };
    const left = budget.limitNanoUsd - spentNanoUsd;
    expect(await hold('more', left + 1)).toEqual({ isHeld: false, states });
    expect(await hold('all', left)).toEqual({ isHeld: true });
    expect(Math.max(...seen.map(({ refused }) => refused))).toBeGreaterThan(0);
    expect(Math.min(...seen.map(({ spent }) => spent))).toBeGreaterThan(0);
    await store.disconnect();
  });
});

describe('while another process holds the lock', () => {
  it('reads go on, writes fail in time without blocking, and all is well once it lets go', async () => {
    const path = join(folder, 'locked.db');
    const { storage, ledger, store } = open(path, 200);
    await storage.commit([{ at: at('a'), value: 'before' }]);
    const child = await start('lock', path);
    const released = resultOf(child);
    child.send(0);
    await once(child, 'message');

    let beats = 0;
    const beating = setInterval(() => beats++, 1);
    const { workspaceId } = budget;
    const work = [
      ...Array.from({ length: 50 }, () => storage.commit([{ at: at('a'), value: 'during' }])),
      ledger.hold({
        id: 'h',
        workspaceId,
        amountNanoUsd: 1,
        windows: budget.windows(9),
        leaseMs: 60_000,
      }),
      ledger.settle(workspaceId, 'h', 1),
      store.set('key', 'value'),
      store.delete('key'),
    ];
    const startedMs = performance.now();
    const outcomes = Promise.allSettled(work);
    expect(await storage.get(at('a'))).toBe('before');
    expect(await storage.list('shared', 'thing', { offset: 0, limit: 10 })).toEqual({ records: [], total: 0 });
    expect(await ledger.read(workspaceId, budget.windows(1).slice(0, 1))).toEqual([
      { spentNanoUsd: 0, heldNanoUsd: 0 },
    ]);
    for (const outcome of await outcomes) {
      const { reason } = outcome as PromiseRejectedResult;
      // The ledger also says that nothing was sent.
      expect([reason.message, reason.code ?? reason.cause.code]).toEqual([
        'sqliteStore: another process has locked the database for 200 ms',
        'SQLITE_BUSY',
      ]);
    }
    expect(performance.now() - startedMs).toBeLessThan(5_000);
    clearInterval(beating);
    // Had it waited inside SQLite, there would be none.
    expect(beats).toBeGreaterThan(2);

    const waiting = storage.commit([{ at: at('a'), value: 'after' }]);
    child.send('let go');
    expect(await released).toBe('released');
    expect(await waiting).toBe(true);
    expect(await storage.getMany([at('a'), at('half')])).toEqual(['after', null]);
    await store.disconnect();
  });

  it('one that is killed leaves neither a lock nor half a change', async () => {
    const path = join(folder, 'killed.db');
    const { storage, store } = open(path);
    await storage.commit([{ at: at('a'), value: 'before' }]);
    const child = await start('lock', path);
    child.send(0);
    await once(child, 'message');
    const waiting = storage.commit([{ at: at('a'), value: 'after' }]);
    child.kill('SIGKILL');
    expect(await waiting).toBe(true);
    expect(await storage.getMany([at('a'), at('half')])).toEqual(['after', null]);
    await store.disconnect();
  });
});

const isRoot = process.getuid?.() === 0;

// Root may write whatever the mode says; so may everybody where there are no modes.
describe.skipIf(process.platform === 'win32')('a file that may only be read', () => {
  it('is read, and every write is refused', { timeout: 20_000 }, async () => {
    const inner = join(folder, 'read-only');
    mkdirSync(inner);
    chmodSync(folder, 0o755);
    const path = join(inner, 'gateway.db');
    const { storage, ledger, store } = open(path);
    await storage.commit([{ at: at('here'), value: 'text', rank: 1 }]);
    await store.set('key', 'value');
    const { workspaceId } = budget;
    const windows = budget.windows(9);
    await ledger.hold({ id: 'held', workspaceId, amountNanoUsd: 5, windows, leaseMs: 60_000 });
    for (const suffix of ['', '-wal', '-shm']) chmodSync(path + suffix, 0o444);
    chmodSync(inner, 0o555);
    const child = await start('look', path, isRoot ? { uid: 65_534, gid: 65_534 } : {});
    const seen = resultOf(child);
    child.send(0);
    const refused = 'rejected: attempt to write a readonly database';
    expect(await seen).toEqual({
      get: '"text"',
      list: '{"records":[{"id":"here","value":"text"}],"total":1}',
      commit: refused,
      keyvGet: '"value"',
      keyvSet: refused,
      read: '[{"spentNanoUsd":0,"heldNanoUsd":5},{"spentNanoUsd":0,"heldNanoUsd":5}]',
      settle: refused,
      hold: refused,
    });
    chmodSync(inner, 0o755);
    await store.disconnect();
  });
});

function open(path: string, busyTimeoutMs = 5_000) {
  const store = sqliteStore({ path, busyTimeoutMs });
  const storage = sqliteStorage(store, { onLostHold: 'charge' });
  return { store, storage, ledger: storage.ledger };
}

/** All at once, from the same instant on. */
async function race<T>(task: Task, path: string): Promise<T[]> {
  const racers = await Promise.all(Array.from({ length: processes }, () => start(task, path)));
  const results = racers.map(resultOf);
  const startAtMs = Date.now() + 100;
  for (const racer of racers) racer.send(startAtMs);
  return Promise.all(results) as Promise<T[]>;
}

async function start(task: Task, path: string, user: { uid?: number; gid?: number } = {}): Promise<ChildProcess> {
  const script = join(import.meta.dirname, 'sqlite-child.ts');
  const child = spawn(process.execPath, [...childFlags, script, task, path], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: {},
    ...user,
  });
  children.add(child);
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`The process ended with ${code} before it was ready`);
  });
  await Promise.race([once(child, 'message'), ended]);
  ended.catch(() => undefined);
  return child;
}

function resultOf(child: ChildProcess): Promise<unknown> {
  const result = new Promise((resolve, reject) => {
    child.on('message', (message) => {
      if (typeof message === 'object' && 'result' in message) resolve(message.result);
    });
    child.once('exit', (code, signal) => reject(new Error(`The process ended with ${signal ?? code}`)));
  });
  // A test that has failed before it looks at this has told enough.
  result.catch(() => undefined);
  return result;
}
