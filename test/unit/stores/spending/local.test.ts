import { describe, expect, it } from 'vitest';
import { memoryLedger } from '../../../../src/stores/ledger/memory.ts';
import { createSpending } from '../../../../src/stores/spending/create-spending.ts';
import { isRefusal, type Reservation } from '../../../../src/stores/spending/spending.ts';
import { manualClock } from '../../../support/manual-clock.ts';
import { createLocalBench, daily, noonMs, scopeOf, workspaceId } from './bench.ts';

const keyLimit = { limitNanoUsd: 100, interval: 'monthly', includesByok: true } as const;

function open(onLostHold: 'charge' | 'release' = 'charge') {
  const clock = manualClock(noonMs);
  const warnings: string[] = [];
  const logger = { info() {}, warn: (_: object, message: string) => void warnings.push(message) };
  let count = 0;
  const ids = { uuid: () => `id-${++count}` };
  let aheadMs = 0;
  const ledger = memoryLedger({ onLostHold, now: () => clock.now() + aheadMs });
  const expireAhead = (ms: number) => {
    aheadMs = ms;
    return ledger.expire(workspaceId).finally(() => {
      aheadMs = 0;
    });
  };
  return { clock, warnings, expireAhead, spending: createSpending({ ledger, clock, ids, random: () => 0.5, logger }) };
}

describe('on a ledger in memory', () => {
  it('money is held and booked without a promise', async () => {
    const { spending, clock } = open();
    const scope = scopeOf(daily(100));
    const held = spending.hold(scope, 60) as Reservation;
    expect([held.nanoUsd, held.isLimited]).toEqual([60, true]);
    const refused = spending.hold(scope, 60);
    expect(isRefusal(refused as Reservation)).toBe(true);
    expect(refused).toMatchObject({ availableNanoUsd: 40 });
    held.settle({ nanoUsd: 10, byokNanoUsd: 0 });
    // Nothing is on its way: who calls next finds the rest free at once.
    const next = spending.hold(scope, 90) as Reservation;
    expect(next.nanoUsd).toBe(90);
    next.settle({ nanoUsd: 90, byokNanoUsd: 0 });
    expect(spending.hold(scope, 1)).toMatchObject({ availableNanoUsd: 0 });
    await clock.advance(1_000);
    expect(clock.pending).toBe(0);
  });
  it('money goes to each of several holds, and what is beyond them to the last', async () => {
    const bench = createLocalBench();
    const held = await bench.held(10, daily(100));
    expect([await held.extend(20), await held.extend(30), held.nanoUsd]).toEqual([
      { isHeld: true },
      { isHeld: true },
      60,
    ]);
    expect(await held.extend(50)).toMatchObject({ isHeld: false, refusal: { availableNanoUsd: 40 } });
    held.settle({ nanoUsd: 75, byokNanoUsd: 0 });
    held.settle({ nanoUsd: 1, byokNanoUsd: 0 });
    expect(await bench.state('workspace', 'daily')).toEqual([75, 0]);
    expect(bench.warnings).toEqual(['a call cost more than was held for it']);
  });
  it('a hold that expired is booked as it was after all', async () => {
    const { spending, expireAhead, warnings } = open();
    const held = spending.hold(scopeOf(daily(100)), 60) as Reservation;
    expect(await expireAhead(61_000)).toBe(1);
    held.settle({ nanoUsd: 10, byokNanoUsd: 0 });
    expect(warnings).toEqual(['a hold expired before it was settled; its actual cost is booked now']);
    expect((await spending.read(workspaceId, 'workspace', noonMs)).daily).toEqual({ spentNanoUsd: 10, heldNanoUsd: 0 });
  });
  it('a close waits for what is still held, and no longer', async () => {
    const { spending, clock } = open();
    const held = spending.hold(scopeOf(daily(100)), 60) as Reservation;
    let isClosed = false;
    void spending.close().then(() => {
      isClosed = true;
    });
    await clock.advance(500);
    expect(isClosed).toBe(false);
    held.settle({ nanoUsd: 10, byokNanoUsd: 0 });
    await clock.advance(0);
    expect(isClosed).toBe(true);
    expect(clock.pending).toBe(0);
  });
});

describe('limits that change', () => {
  const bench = createLocalBench();
  const available = async (limits: Parameters<typeof bench.refused>[1]) =>
    (await bench.refused(1_000, limits)).availableNanoUsd;

  it('count as they are, of the workspace, of the key, and of both', async () => {
    const budgets = daily(100).budgets;
    expect(await available({ budgets })).toBe(100);
    expect(await available({ budgets, apiKeyHash: 'a', keyLimit: { ...keyLimit, limitNanoUsd: 70 } })).toBe(70);
    expect(await available({ budgets, apiKeyHash: 'a', keyLimit })).toBe(100);
    expect(await available({ apiKeyHash: 'a', keyLimit })).toBe(100);
    expect(await available(daily(30))).toBe(30);
    expect(await available({ budgets })).toBe(100);
  });
  it('of two keys are two, though they be the same object', async () => {
    const held = await bench.held(80, { apiKeyHash: 'a', keyLimit });
    expect(await available({ apiKeyHash: 'a', keyLimit })).toBe(20);
    expect(await available({ apiKeyHash: 'b', keyLimit })).toBe(100);
    expect(await available({ budgets: daily(500).budgets, apiKeyHash: 'a', keyLimit })).toBe(20);
    held.settle({ nanoUsd: 0, byokNanoUsd: 0 });
  });
  it('begin anew with the day, though they be the same object', async () => {
    const { budgets } = daily(100);
    (await bench.held(60, { budgets })).settle({ nanoUsd: 60, byokNanoUsd: 0 });
    expect(await available({ budgets })).toBe(40);
    expect(await available({ budgets, atMs: noonMs + 86_400_000 })).toBe(100);
    // Who was admitted before midnight still belongs there.
    expect(await available({ budgets })).toBe(40);
  });
});
