import { describe, expect, it } from 'vitest';
import type { SpendingAddition } from '../../../../src/stores/ledger/ledger.ts';
import { away, createBench, daily, everywhere, noonMs, replyLost, slow, spentIn, workspaceId } from './bench.ts';

const dayMs = 86_400_000;
const cost = (nanoUsd: number, byokNanoUsd = 0) => ({ nanoUsd, byokNanoUsd });

describe('what nothing limits', () => {
  it('is counted in all windows of the workspace and of the key', async () => {
    const bench = createBench();
    (await bench.held(0, { apiKeyHash: 'abc' })).settle(cost(40));
    (await bench.held(0, { apiKeyHash: 'def' })).settle(cost(5));
    (await bench.held(0)).settle(cost(300));
    await bench.spending.flush();
    expect(await spentIn(bench, 'workspace')).toEqual(everywhere(345));
    expect(await spentIn(bench, 'key:abc')).toEqual(everywhere(40));
    expect(await spentIn(bench, 'key:def')).toEqual(everywhere(5));
  });
  it('is counted beside what is held, and nothing twice', async () => {
    const bench = createBench();
    const keyLimit = { limitNanoUsd: 1_000, interval: 'weekly', includesByok: false } as const;
    const scope = { ...daily(1_000), apiKeyHash: 'abc', keyLimit };
    (await bench.held(100, scope)).settle(cost(40));
    await bench.spending.flush();
    expect(await spentIn(bench, 'workspace')).toEqual(everywhere(40));
    expect(await spentIn(bench, 'key:abc')).toEqual(everywhere(40));
  });
  it('is counted once of a call with two reservations', async () => {
    const bench = createBench();
    const keyLimit = { limitNanoUsd: 1_000, interval: 'weekly', includesByok: true } as const;
    (await bench.held(100, daily(1_000))).settle(cost(40, 30));
    (await bench.held(100, { isFurther: true, apiKeyHash: 'abc', keyLimit })).settle(cost(70, 30));
    await bench.spending.flush();
    expect(await spentIn(bench, 'workspace')).toEqual(everywhere(40));
    expect(await spentIn(bench, 'workspace:byok')).toEqual(everywhere(30));
    expect(await spentIn(bench, 'key:abc')).toEqual(everywhere(70));
    expect(await spentIn(bench, 'key:abc:byok')).toEqual(everywhere(30));
  });
  it('of own credentials has accounts of its own', async () => {
    const bench = createBench();
    (await bench.held(10, { ...daily(100), apiKeyHash: 'abc' })).settle(cost(0, 25));
    await bench.spending.flush();
    expect(await spentIn(bench, 'workspace')).toEqual(everywhere(0));
    expect(await spentIn(bench, 'workspace:byok')).toEqual(everywhere(25));
    expect(await spentIn(bench, 'key:abc:byok')).toEqual(everywhere(25));
  });
  it('is counted in the windows of its admission', async () => {
    const bench = createBench();
    const lateMs = Date.UTC(2026, 5, 30, 23, 59, 59, 999);
    const reservation = await bench.held(0, { atMs: lateMs });
    await bench.clock.advance(20 * dayMs);
    reservation.settle(cost(40));
    (await bench.held(0, { atMs: lateMs + 1 })).settle(cost(3));
    await bench.spending.flush();
    // The 30th was a Tuesday: day and month are over, the week goes on.
    expect(await spentIn(bench, 'workspace', lateMs)).toEqual({ daily: 40, weekly: 43, monthly: 40, lifetime: 43 });
    expect(await spentIn(bench, 'workspace', lateMs + 1)).toEqual({ daily: 3, weekly: 43, monthly: 3, lifetime: 43 });
  });
  it('is sent once a second and workspace, however many calls there are', async () => {
    const bench = createBench();
    const other = 'other' as typeof workspaceId;
    for (let call = 0; call < 2_000; call++) {
      (await bench.held(0, { apiKeyHash: `key${call % 3}` })).settle(cost(2));
      (await bench.held(0, { workspaceId: other })).settle(cost(1));
    }
    expect([bench.countOf('add'), bench.clock.pending]).toEqual([0, 1]);
    await bench.clock.advance(1_000);
    expect([bench.countOf('add'), bench.clock.pending]).toEqual([2, 0]);
    expect(await spentIn(bench, 'workspace')).toEqual(everywhere(4_000));
    await bench.clock.advance(60_000);
    expect(bench.countOf('add')).toBe(2);
  });
  it('and cost nothing is not sent', async () => {
    const bench = createBench();
    (await bench.held(0)).settle(cost(0));
    expect(bench.clock.pending).toBe(0);
  });
  it('by very many keys is sent in several parts', async () => {
    const bench = createBench();
    for (let key = 0; key < 350; key++) (await bench.held(0, { apiKeyHash: `key${key}` })).settle(cost(key));
    await bench.spending.flush();
    const sizes = bench.calls.map(({ args }) => (args[2] as SpendingAddition[]).length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(400);
    // All but the key that cost nothing, and the workspace; four windows each.
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(350 * 4);
    expect(await spentIn(bench, 'key:key349')).toEqual(everywhere(349));
    expect(await spentIn(bench, 'workspace')).toEqual(everywhere((349 * 350) / 2));
  });
});

describe('a count that the store does not take', () => {
  it('is sent again under the same id, and what comes meanwhile waits with it', async () => {
    const bench = createBench();
    bench.faults.add = replyLost;
    for (let second = 0; second < 120; second++) {
      (await bench.held(0)).settle(cost(1));
      await bench.clock.advance(1_000);
    }
    const ids = new Set(bench.calls.map(({ args }) => args[1]));
    expect(ids.size).toBe(1);
    bench.faults.add = undefined;
    await bench.clock.advance(60_000);
    expect(await spentIn(bench, 'workspace')).toEqual(everywhere(120));
    expect(new Set(bench.calls.map(({ args }) => args[1])).size).toBe(2);
    expect(bench.clock.pending).toBe(0);
  });
  it('does not stand in the way of others’', async () => {
    const bench = createBench();
    const other = 'other' as typeof workspaceId;
    bench.faults.add = (run) => (bench.calls.at(-1)?.args[0] === other ? away(run) : run());
    (await bench.held(0, { workspaceId: other })).settle(cost(1));
    await bench.clock.advance(5_000);
    (await bench.held(0)).settle(cost(7));
    await bench.clock.advance(1_000);
    expect(await spentIn(bench, 'workspace')).toEqual(everywhere(7));
  });
});

describe('reading', () => {
  it('tells the windows of now, and sends what was counted here before', async () => {
    const bench = createBench();
    (await bench.held(100, daily(1_000))).settle(cost(40));
    await bench.held(7, daily(1_000));
    (await bench.held(0)).settle(cost(5));
    const all = await bench.spending.read(workspaceId, 'workspace', noonMs);
    expect(all).toEqual({
      daily: { spentNanoUsd: 45, heldNanoUsd: 7 },
      weekly: { spentNanoUsd: 45, heldNanoUsd: 0 },
      monthly: { spentNanoUsd: 45, heldNanoUsd: 0 },
      lifetime: { spentNanoUsd: 45, heldNanoUsd: 0 },
    });
    expect((await bench.spending.read(workspaceId, 'workspace', noonMs + dayMs)).daily).toEqual({
      spentNanoUsd: 0,
      heldNanoUsd: 0,
    });
    expect((await bench.spending.read(workspaceId, 'key:abc', noonMs)).lifetime).toEqual({
      spentNanoUsd: 0,
      heldNanoUsd: 0,
    });
  });
  it('waits for settlements on their way', async () => {
    const bench = createBench();
    const reservation = await bench.held(100, daily(1_000));
    bench.faults.settle = slow(bench.clock, 100);
    reservation.settle(cost(40));
    const states = await bench.clock.until(bench.spending.read(workspaceId, 'workspace', noonMs));
    expect(states.daily).toEqual({ spentNanoUsd: 40, heldNanoUsd: 0 });
  });
  it('fails with the store', async () => {
    const bench = createBench();
    bench.faults.read = away;
    await expect(bench.spending.read(workspaceId, 'workspace', noonMs)).rejects.toMatchObject({ status: 503 });
  });
});

describe('a budget that comes later', () => {
  it('counts what was spent here a moment before', async () => {
    const bench = createBench();
    (await bench.held(0)).settle(cost(40));
    const { error } = await bench.refused(70, daily(100));
    expect(error.metadata).toMatchObject({ spent_usd: 40 / 1e9 });
  });
  it('counts what is just on its way', async () => {
    const bench = createBench();
    (await bench.held(0, { apiKeyHash: 'abc' })).settle(cost(40));
    bench.faults.add = slow(bench.clock, 100);
    void bench.spending.flush();
    const keyLimit = { limitNanoUsd: 100, interval: 'monthly', includesByok: false } as const;
    const { error } = await bench.clock.until(bench.refused(70, { apiKeyHash: 'abc', keyLimit }));
    expect(error.metadata).toMatchObject({ scope: 'key', spent_usd: 40 / 1e9 });
  });
  it('does not make later holds wait for counts', async () => {
    const bench = createBench();
    for (let call = 0; call < 5; call++) (await bench.held(10, daily(1_000))).settle(cost(4));
    expect(bench.countOf('add')).toBe(0);
  });
});

describe('a workspace that was deleted', () => {
  it('is forgotten by the store, and not counted for later', async () => {
    const bench = createBench();
    (await bench.held(0)).settle(cost(40));
    await bench.spending.flush();
    (await bench.held(0)).settle(cost(50));
    await bench.spending.forget(workspaceId);
    await bench.clock.advance(10_000);
    expect(await spentIn(bench, 'workspace')).toEqual(everywhere(0));
    expect(bench.clock.pending).toBe(0);
  });
  it('is not given what waited for a store that was away', async () => {
    const bench = createBench();
    bench.faults.add = away;
    (await bench.held(0)).settle(cost(40));
    await bench.clock.advance(5_000);
    await bench.spending.forget(workspaceId);
    bench.faults.add = undefined;
    await bench.clock.advance(60_000);
    expect(await spentIn(bench, 'workspace')).toEqual(everywhere(0));
  });
});

describe('closing', () => {
  it('sends what was counted and waits for what is on its way', async () => {
    const bench = createBench();
    const reservation = await bench.held(100, daily(1_000));
    bench.faults.settle = slow(bench.clock, 300);
    bench.faults.add = slow(bench.clock, 200);
    reservation.settle(cost(40));
    await bench.clock.until(bench.spending.close());
    expect(bench.clock.now()).toBe(noonMs + 300);
    expect(await spentIn(bench, 'workspace')).toEqual(everywhere(40));
    expect(bench.clock.pending).toBe(0);
  });
  it('tries again at once what waits for the store', async () => {
    const bench = createBench();
    const reservation = await bench.held(100, daily(1_000));
    bench.faults.settle = away;
    reservation.settle(cost(40));
    await bench.clock.advance(120_000);
    bench.faults.settle = undefined;
    const before = bench.clock.now();
    await bench.clock.until(bench.spending.close());
    expect(bench.clock.now()).toBe(before);
    expect(await bench.state('workspace', 'daily')).toEqual([40, 0]);
  });
  it('gives up after two seconds, says what is lost, and leaves no timer', async () => {
    const bench = createBench();
    const reservation = await bench.held(100, daily(1_000));
    const still = await bench.held(1, daily(1_000));
    bench.faults.settle = away;
    reservation.settle(cost(40));
    await bench.clock.until(bench.spending.close());
    expect(bench.clock.now()).toBe(noonMs + 2_000);
    expect(bench.warnings.at(-1)).toMatch(/given up/);
    expect(bench.clock.pending).toBe(0);
    bench.faults.settle = undefined;
    // A call that outlives the gateway is still booked, if the store takes it.
    still.settle(cost(1));
    expect(await bench.state('workspace', 'daily')).toEqual([1, 100]);
    expect(await bench.state('workspace', 'weekly')).toEqual([41, 0]);
    expect(bench.clock.pending).toBe(0);
  });
  it('at once where nothing is left, and twice', async () => {
    const bench = createBench();
    await bench.spending.close();
    await bench.spending.close();
    expect([bench.calls, bench.clock.now()]).toEqual([[], noonMs]);
  });
  it('holds no more, but refuses nothing that needs no hold', async () => {
    const bench = createBench();
    await bench.spending.close();
    await expect(bench.held(1, daily(100))).rejects.toMatchObject({ status: 503 });
    const free = await bench.held(1);
    free.settle(cost(5));
    expect(await spentIn(bench, 'workspace')).toEqual(everywhere(5));
    expect(bench.clock.pending).toBe(0);
  });
  it('does not wait for ever for a store that hangs', async () => {
    const bench = createBench();
    bench.faults.add = () => new Promise(() => {});
    (await bench.held(0)).settle(cost(5));
    await bench.clock.until(bench.spending.close());
    expect(bench.clock.now()).toBe(noonMs + 2_000);
  });
});
