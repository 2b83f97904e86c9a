import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { randomIds } from '../../../src/base/ids.ts';
import type { BudgetLimit } from '../../../src/call/call.ts';
import { createSpending } from '../../../src/stores/spending/create-spending.ts';
import { isRefusal, type Reservation } from '../../../src/stores/spending/spending.ts';
import { chooseStorage } from '../../../src/stores/storage/choose.ts';
import { newNamespace, newSchema, newSqliteFile, openStore, type Place } from '../../support/race/stores.ts';
import { describeWithPostgres, describeWithRedis } from '../../support/services.ts';
import { newWorkspace } from './ledger.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Instances of one store, whose clocks differ. What a dead process held is released, so that a lost hold is money. */
function testClocks(newPlace: () => Promise<Place>): void {
  const cleanups: (() => Promise<void>)[] = [];
  afterAll(async () => {
    for (const cleanup of cleanups.reverse()) await cleanup();
  });

  async function start() {
    const place = await newPlace();
    cleanups.push(place.clear);
    const workspaceId = newWorkspace();
    return (aheadMs: number) => {
      const { store, close } = openStore(place.at);
      const clock = { ...systemClock, now: () => Date.now() + aheadMs };
      const storage = chooseStorage(store, { clock, timeoutMs: 5_000, onLostHold: 'release' });
      cleanups.push(close, () => storage.close());
      const spending = createSpending({ ledger: storage.ledger, clock, ids: randomIds, random: Math.random });
      return async (amountNanoUsd: number, interval: BudgetLimit['interval'] = 'lifetime') => {
        const budgets = [{ interval, limitNanoUsd: 100 }];
        const scope = { workspaceId, apiKeyHash: null, keyLimit: null, budgets, atMs: clock.now() };
        const held = await spending.hold(scope, amountNanoUsd);
        return isRefusal(held) ? null : held;
      };
    };
  }
  const settle = (held: Reservation | null, nanoUsd: number) => held?.settle({ nanoUsd, byokNanoUsd: 0 });

  it.each([
    ['ahead', hourMs],
    ['behind', -hourMs],
  ])('one whose clock is %s takes no living hold of another for lost', async (_, aheadMs) => {
    const instance = await start();
    const [right, wrong] = [instance(0), instance(aheadMs)];
    const first = await right(100);
    expect(await wrong(1)).toBeNull();
    settle(first, 0);
    await expect.poll(async () => (await wrong(100)) !== null).toBe(true);
    expect(await right(1)).toBeNull();
  });

  it('one whose clock is months ahead drops nothing of what was spent', async () => {
    const instance = await start();
    const [right, wrong] = [instance(0), instance(80 * dayMs)];
    settle(await right(60, 'daily'), 60);
    await expect.poll(() => right(50, 'daily')).toBeNull();
    for (const interval of ['daily', 'weekly', 'monthly'] as const) settle(await wrong(1, interval), 1);
    expect(await right(50, 'daily')).toBeNull();
  });
}

describe('instances on one SQLite file', () => testClocks(newSqliteFile));
describeWithRedis('instances on one Redis', (url) => testClocks(async () => newNamespace(await url())));
describeWithPostgres('instances on one PostgreSQL', (url) => testClocks(async () => newSchema(await url())));

it('gateways on one Map share the clock of the first', async () => {
  const store = new Map();
  const open = (now: () => number) =>
    chooseStorage(store, { clock: { ...systemClock, now }, timeoutMs: 5_000, onLostHold: 'release' }).ledger;
  const [right, wrong] = [open(() => 0), open(() => hourMs)];
  const window = { account: 'workspace', interval: 'lifetime', startMs: 0, endMs: null, limitNanoUsd: 100 } as const;
  const request = { workspaceId: newWorkspace(), amountNanoUsd: 100, windows: [window], leaseMs: 60_000 };
  expect((await right.hold({ ...request, id: randomUUID() })).isHeld).toBe(true);
  expect((await wrong.hold({ ...request, id: randomUUID() })).isHeld).toBe(false);
});
