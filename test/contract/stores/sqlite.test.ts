import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Keyv } from 'keyv';
import { afterAll, describe, expect, it } from 'vitest';
import { sqliteStore } from '../../../adapters/sqlite/sqlite.ts';
import { windowOf } from '../../../src/base/windows.ts';
import type { WorkspaceId } from '../../../src/call/workspace.ts';
import { maxSettled, type SpendingWindow } from '../../../src/stores/ledger/ledger.ts';
import { sqliteLedger } from '../../../src/stores/ledger/sqlite.ts';
import { sqliteStorage } from '../../../src/stores/storage/sqlite.ts';
import { storeClock } from '../../support/timed-ledger.ts';
import { testConversations } from './conversations.ts';
import { testLedger } from './ledger.ts';
import { testStorage } from './storage.ts';
import { testStoredResponses } from './stored-responses.ts';
import { testSweep } from './sweep.ts';

const folder = mkdtempSync(join(tmpdir(), 'model-gateway-sqlite-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('on SQLite', () => {
  testStorage('a file', async () => openStorage(join(folder, 'storage.db')));
  testStorage('memory', async () => openStorage(':memory:'));
  testSweep('SQLite', async () => openStorage(':memory:'));
  testStoredResponses('SQLite', async () => openStorage(':memory:'));
  testConversations('SQLite', async () => openStorage(':memory:'));
  testLedger('a file', async ({ onLostHold = 'charge', now } = {}) => {
    const store = sqliteStore({ path: join(folder, 'ledger.db'), busyTimeoutMs: 5_000 });
    return { ledger: sqliteLedger(store.database, { onLostHold, now }), close: store.disconnect };
  });
});

describe('the ledger on SQLite', () => {
  const workspaceId = 'w' as WorkspaceId;
  const dayMs = 86_400_000;
  const startMs = Date.UTC(2026, 0, 1);
  const dayAt = (nowMs: number): SpendingWindow => ({
    account: 'workspace',
    interval: 'daily',
    ...windowOf('daily', nowMs),
  });
  const open = (options: { path?: string; namespace?: string } = {}) => {
    const store = sqliteStore(options.path ?? ':memory:');
    const { now, timed } = storeClock(startMs);
    const { namespace } = options;
    const ledger = timed(sqliteLedger(store.database, { onLostHold: 'charge', namespace, now }));
    const hold = (id: string, nowMs: number, window = dayAt(nowMs), leaseUntilMs = nowMs + 60_000) =>
      ledger.hold({
        id,
        workspaceId,
        amountNanoUsd: 10,
        windows: [{ ...window, limitNanoUsd: 1_000 }],
        nowMs,
        leaseUntilMs,
      });
    const count = async (table: string) => {
      const read = () => database.prepare(`SELECT count(*) AS rows FROM gateway_${table}`).get();
      const { database } = store;
      return ((await database.read(read)) as { rows: number }).rows;
    };
    return { store, ledger, hold, count };
  };

  it('does not grow with the years: what is past its time goes when something comes', async () => {
    const { store, ledger, hold, count } = open();
    for (let day = 0; day < 400; day++) {
      const nowMs = startMs + day * dayMs;
      await hold(`settled-${day}`, nowMs);
      await ledger.settle(workspaceId, `settled-${day}`, 1, nowMs);
      await hold(`lost-${day}`, nowMs);
      await ledger.expire(workspaceId, nowMs + 60_000);
      await ledger.release(workspaceId, `never-${day}`, nowMs);
      await ledger.add(workspaceId, `added-${day}`, [{ window: dayAt(nowMs), nanoUsd: 1 }], nowMs);
    }
    expect(await count('windows')).toBe(41);
    expect(await count('ended')).toBeLessThanOrEqual(6);
    expect(await count('settled')).toBeLessThanOrEqual(2);
    expect(await count('holds')).toBe(0);
    await store.disconnect();
  });

  it('takes what comes at the same time in one transaction, and one alone at once', async () => {
    const store = sqliteStore(':memory:');
    let transactions = 0;
    const transact: typeof store.database.transact = (work) => {
      transactions++;
      return store.database.transact(work);
    };
    const ledger = sqliteLedger({ ...store.database, transact }, { onLostHold: 'charge' });
    const windows = [{ ...dayAt(startMs), limitNanoUsd: 630 }];
    const hold = (id: string, of = workspaceId) =>
      ledger.hold({ id, workspaceId: of, amountNanoUsd: 10, windows, leaseMs: 60_000 });
    const ids = Array.from({ length: 64 }, (_, n) => `h${n}`);
    const held = await Promise.all([...ids.map((id) => hold(id)), hold('other', 'v' as WorkspaceId)]);
    expect(held.filter(({ isHeld }) => isHeld)).toHaveLength(64);
    expect(held[63]).toEqual({ isHeld: false, states: [{ spentNanoUsd: 0, heldNanoUsd: 630 }] });
    expect(transactions).toBe(1);
    await Promise.all(ids.map((id) => ledger.settle(workspaceId, id, 1)));
    expect(transactions).toBe(2);
    expect(await hold('alone')).toEqual({ isHeld: true });
    expect(transactions).toBe(3);
    expect(await ledger.read(workspaceId, windows)).toEqual([{ spentNanoUsd: 63, heldNanoUsd: 10 }]);
    await store.disconnect();
  });

  it('lets a step on a damaged record fail alone', async () => {
    const { store, ledger, hold } = open();
    for (const id of ['a', 'bad', 'c']) await hold(id, startMs);
    await store.database.transact(() =>
      store.database.prepare(`UPDATE gateway_holds SET windows = 'not JSON' WHERE id = 'bad'`).run(),
    );
    const ended = await Promise.allSettled(['a', 'bad', 'c'].map((id) => ledger.settle(workspaceId, id, 1, startMs)));
    expect(ended.map((one) => (one.status === 'fulfilled' ? one.value : one.status))).toEqual([
      'ended',
      'rejected',
      'ended',
    ]);
    expect(await ledger.read(workspaceId, [dayAt(startMs)], startMs)).toEqual([{ spentNanoUsd: 2, heldNanoUsd: 10 }]);
    await store.disconnect();
  });

  it('remembers no more than 100,000 settled ids', async () => {
    const { store, ledger, hold, count } = open();
    const settle = async (id: string) => {
      await hold(id, startMs);
      expect(await ledger.settle(workspaceId, id, 1, startMs)).toBe('ended');
    };
    await settle('first');
    await store.database.transact(() =>
      store.database
        .prepare(
          `WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i <= ?)
            INSERT INTO gateway_settled (workspace, id, number, forget_at_ms) SELECT 'w', 'other-' || i, i, ? FROM n`,
        )
        .run(maxSettled + 5, startMs + dayMs),
    );
    expect(await ledger.settle(workspaceId, 'first', 1, startMs)).toBe('repeated');
    for (let n = 0; n < 5; n++) await settle(`last-${n}`);
    expect(await count('settled')).toBe(maxSettled);
    expect(await ledger.settle(workspaceId, 'first', 1, startMs)).toBe('unknown');
    expect(await ledger.settle(workspaceId, 'last-0', 1, startMs)).toBe('repeated');
    await store.disconnect();
  });

  it('keeps a window in which something is held, however old', async () => {
    const { store, ledger, hold } = open();
    await hold('long', startMs, dayAt(startMs), startMs + 1_000 * dayMs);
    await ledger.add(workspaceId, 'a', [{ window: dayAt(startMs), nanoUsd: 5 }], startMs);
    const laterMs = startMs + 100 * dayMs;
    await hold('other', laterMs);
    expect(await ledger.settle(workspaceId, 'long', 3, laterMs)).toBe('ended');
    expect(await ledger.read(workspaceId, [dayAt(startMs)], laterMs)).toEqual([{ spentNanoUsd: 8, heldNanoUsd: 0 }]);
    await store.disconnect();
  });

  it('stays at the largest sum there is rather than lose count', async () => {
    const { store, ledger } = open();
    const window = dayAt(startMs);
    const most = Number.MAX_SAFE_INTEGER;
    for (const [id, nanoUsd] of [most - 1, 3, most].entries()) {
      await ledger.add(workspaceId, `${id}`, [{ window, nanoUsd }], startMs);
    }
    expect(await ledger.read(workspaceId, [window], startMs)).toEqual([{ spentNanoUsd: most, heldNanoUsd: 0 }]);
    await store.disconnect();
  });

  it.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])(
    'refuses %d as a sum, and books nothing',
    async (sum) => {
      const { store, ledger, hold } = open();
      const window = dayAt(startMs);
      await hold('h', startMs);
      const request = { id: 'x', workspaceId, windows: [{ ...window, limitNanoUsd: 1e15 }], nowMs: startMs };
      const refused = /whole number of nano-USD/;
      await expect(ledger.hold({ ...request, amountNanoUsd: sum, leaseUntilMs: startMs + 1 })).rejects.toThrow(refused);
      await expect(ledger.settle(workspaceId, 'h', sum, startMs)).rejects.toThrow(refused);
      const additions = [
        { window, nanoUsd: 1 },
        { window, nanoUsd: sum },
      ];
      // What is added may be taken back.
      if (sum !== -1) await expect(ledger.add(workspaceId, 'a', additions, startMs)).rejects.toThrow(refused);
      expect(await ledger.read(workspaceId, [window], startMs)).toEqual([{ spentNanoUsd: 0, heldNanoUsd: 10 }]);
      await store.disconnect();
    },
  );

  it('puts no lease forward: a renewal that comes late shortens nothing', async () => {
    const { store, ledger, hold } = open();
    await hold('h', startMs, dayAt(startMs), startMs + 60_000);
    await ledger.renew(workspaceId, ['h'], startMs + 30_000);
    expect(await ledger.expire(workspaceId, startMs + 59_999)).toBe(0);
    await store.disconnect();
  });
});

describe('stores of different namespaces in one file', () => {
  it('share nothing', async () => {
    const path = join(folder, 'namespaces.db');
    const workspaceId = 'w' as WorkspaceId;
    const [one, two, none] = [open('one'), open('two'), open(undefined)];
    function open(namespace: string | undefined) {
      const keyv = new Keyv(sqliteStore(path), { namespace });
      return { keyv, storage: sqliteStorage(keyv.store as ReturnType<typeof sqliteStore>, { onLostHold: 'charge' }) };
    }
    const at = { partition: 'p', kind: 'k', id: 'i' };
    const window: SpendingWindow = { account: 'workspace', interval: 'lifetime', startMs: 0, endMs: null };
    await one.storage.commit([{ at, value: 'of one', rank: 1 }]);
    await one.storage.ledger.add(workspaceId, 'a', [{ window, nanoUsd: 7 }]);
    for (const { storage } of [two, none]) {
      expect(await storage.get(at)).toBeNull();
      expect((await storage.list('p', 'k', { offset: 0, limit: 5 })).total).toBe(0);
      expect(await storage.ledger.read(workspaceId, [window])).toEqual([{ spentNanoUsd: 0, heldNanoUsd: 0 }]);
      await storage.ledger.forget(workspaceId);
    }
    expect(await one.storage.get(at)).toBe('of one');
    expect(await one.storage.ledger.read(workspaceId, [window])).toEqual([{ spentNanoUsd: 7, heldNanoUsd: 0 }]);
    for (const { keyv } of [one, two, none]) await keyv.disconnect();
  });
});

async function openStorage(path: string) {
  const store = sqliteStore({ path, busyTimeoutMs: 5_000 });
  // As a gateway gets it.
  const keyv = new Keyv(store, { namespace: 'one' });
  const storage = sqliteStorage(keyv.store as typeof store, { onLostHold: 'charge' });
  return { storage, close: () => keyv.disconnect() };
}
