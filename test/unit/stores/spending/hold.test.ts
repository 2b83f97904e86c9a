import { describe, expect, it } from 'vitest';
import { isGatewayError } from '../../../../src/base/errors.ts';
import type { BudgetLimit, HoldScope } from '../../../../src/stores/spending/spending.ts';
import { away, createBench, daily, late, noonMs, notSent, replyLost, scopeOf, slow, workspaceId } from './bench.ts';

const dayMs = 86_400_000;
const usd = (dollars: number) => Math.round(dollars * 1e9);

describe('a hold where nothing is limited', () => {
  it('asks no store, starts no timer and covers anything', async () => {
    const { held, calls, clock } = createBench();
    const reservation = await held(500, { apiKeyHash: 'abc' });
    expect(reservation).toMatchObject({ isLimited: false, nanoUsd: 0 });
    expect(await reservation.extend(1e12)).toEqual({ isHeld: true });
    expect([calls, clock.pending]).toEqual([[], 0]);
  });
  it('asks no store although that is away', async () => {
    const { held, faults } = createBench();
    faults.hold = away;
    expect(await held(500)).toMatchObject({ isLimited: false });
  });
});

describe('a hold', () => {
  it('is made in every budget and in the limit of the key, of the instant of admission', async () => {
    const { held, state, countOf } = createBench();
    const atMs = noonMs - dayMs;
    const reservation = await held(70, {
      atMs,
      apiKeyHash: 'abc',
      keyLimit: { limitNanoUsd: 100, interval: 'weekly', includesByok: false },
      budgets: [
        { interval: 'daily', limitNanoUsd: 100 },
        { interval: 'lifetime', limitNanoUsd: 100 },
      ],
    });
    expect(reservation).toMatchObject({ isLimited: true, nanoUsd: 70 });
    expect(countOf('hold')).toBe(1);
    expect(await state('workspace', 'daily', atMs)).toEqual([0, 70]);
    expect(await state('workspace', 'daily')).toEqual([0, 0]);
    expect(await state('workspace', 'lifetime')).toEqual([0, 70]);
    expect(await state('workspace', 'weekly')).toEqual([0, 0]);
    expect(await state('key:abc', 'weekly')).toEqual([0, 70]);
  });
  it('of a key’s limit without the key is an error, not a hold without limit', async () => {
    const { spending } = createBench();
    const keyLimit = { limitNanoUsd: 1, interval: 'daily', includesByok: false } as const;
    await expect(spending.hold(scopeOf({ keyLimit }), 1)).rejects.toThrow('needs the hash');
  });
  it('that is the further one of a call leaves the workspace’s budgets alone', async () => {
    const { held, state } = createBench();
    const keyLimit = { limitNanoUsd: 100, interval: 'daily', includesByok: true } as const;
    await held(70, { ...daily(10), apiKeyHash: 'abc', keyLimit, isFurther: true });
    expect(await state('key:abc', 'daily')).toEqual([0, 70]);
    expect(await state('workspace', 'daily')).toEqual([0, 0]);
  });
});

describe('a refusal', () => {
  const budget = (interval: BudgetLimit['interval'], dollars: number) => ({ interval, limitNanoUsd: usd(dollars) });
  const keyLimit = (interval: BudgetLimit['interval'], dollars: number) => ({
    apiKeyHash: 'abc',
    keyLimit: { ...budget(interval, dollars), includesByok: false },
  });
  const tight = 0.5;

  it.each<[string, Partial<HoldScope>, object]>([
    [
      'daily',
      { budgets: [budget('daily', tight)] },
      { scope: 'workspace', interval: 'daily', resets_at: '2026-06-18T00:00:00.000Z' },
    ],
    [
      'weekly before daily',
      { budgets: [budget('daily', tight), budget('weekly', tight), budget('monthly', 9)] },
      { scope: 'workspace', interval: 'weekly', resets_at: '2026-06-22T00:00:00.000Z' },
    ],
    [
      'monthly before weekly',
      { budgets: [budget('weekly', tight), budget('monthly', tight)] },
      { scope: 'workspace', interval: 'monthly', resets_at: '2026-07-01T00:00:00.000Z' },
    ],
    [
      'lifetime before all, in any order',
      { budgets: [budget('lifetime', tight), budget('daily', tight), budget('monthly', tight)] },
      { scope: 'workspace', interval: 'lifetime', resets_at: null },
    ],
    [
      'the limit of the key',
      { budgets: [budget('daily', 9)], ...keyLimit('daily', tight) },
      { scope: 'key', interval: 'daily', resets_at: '2026-06-18T00:00:00.000Z' },
    ],
    [
      'the broader limit of the key before a budget',
      { budgets: [budget('daily', tight)], ...keyLimit('lifetime', tight) },
      { scope: 'key', interval: 'lifetime', resets_at: null },
    ],
    [
      'the budget before a limit of the key as broad',
      { budgets: [budget('daily', tight)], ...keyLimit('daily', tight) },
      { scope: 'workspace', interval: 'daily', resets_at: '2026-06-18T00:00:00.000Z' },
    ],
  ])('names the broadest that is exhausted: %s', async (_, scope, expected) => {
    const { refused } = createBench();
    const { error } = await refused(usd(1), scope);
    expect(error).toMatchObject({
      kind: 'payment_required',
      status: 402,
      metadata: { ...expected, limit_usd: tight, spent_usd: 0, held_usd: 0 },
    });
  });
  it('says what is spent and held, what was asked, and what would have fitted', async () => {
    const { held, refused } = createBench();
    const scope = { budgets: [budget('monthly', 10), budget('daily', 100)] };
    (await held(usd(2), scope)).settle({ nanoUsd: usd(1.25), byokNanoUsd: 0 });
    await held(usd(8.000000001), scope);
    const { error, availableNanoUsd } = await refused(usd(0.75), scope);
    expect(error.metadata).toEqual({
      scope: 'workspace',
      interval: 'monthly',
      limit_usd: 10,
      spent_usd: 1.25,
      held_usd: 8.000000001,
      resets_at: '2026-07-01T00:00:00.000Z',
    });
    expect(error.message).toBe(
      'This request may cost up to $0.75, which the monthly budget of this workspace does not cover: ' +
        'of $10.00, $1.25 are spent and $8.000000001 are held for requests in flight. It resets at 2026-07-01T00:00:00.000Z.',
    );
    expect(availableNanoUsd).toBe(usd(0.749999999));
    expect((await held(availableNanoUsd, scope)).nanoUsd).toBe(availableNanoUsd);
  });
  it('says of a key’s limit that it is that, and of a lifetime that it never resets', async () => {
    const { refused } = createBench();
    const { error } = await refused(usd(1), keyLimit('lifetime', 0.5));
    expect(error.message).toMatch(/the lifetime limit of this API key .* It never resets\.$/);
  });
  it('says that nothing fits where more is spent than the limit', async () => {
    const { held, refused } = createBench();
    (await held(100, daily(100))).settle({ nanoUsd: 150, byokNanoUsd: 0 });
    expect((await refused(1, daily(100))).availableNanoUsd).toBe(0);
  });
  it('starts no timer and leaves nothing', async () => {
    const { refused, clock, state } = createBench();
    await refused(101, daily(100));
    expect(clock.pending).toBe(0);
    expect(await state('workspace', 'daily')).toEqual([0, 0]);
  });
});

describe('settlements on their way', () => {
  it('are waited for before a hold is refused', async () => {
    const { held, clock, faults, countOf } = createBench();
    faults.settle = slow(clock, 80);
    for (let call = 0; call < 10; call++) {
      const reservation = await clock.until(held(100, daily(109)));
      reservation.settle({ nanoUsd: 1, byokNanoUsd: 0 });
    }
    expect(countOf('hold')).toBe(19);
  });
  it('of other workspaces are not waited for', async () => {
    const { held, refused, clock, faults } = createBench();
    faults.settle = () => new Promise(() => {});
    (await held(100, { ...daily(100), workspaceId: 'other' as typeof workspaceId })).settle({
      nanoUsd: 1,
      byokNanoUsd: 0,
    });
    await held(100, daily(100));
    await clock.until(refused(1, daily(100)));
  });
  it('are asked for once more and no oftener', async () => {
    const { held, refused, clock, faults, countOf } = createBench();
    faults.settle = slow(clock, 80);
    (await held(50, daily(100))).settle({ nanoUsd: 50, byokNanoUsd: 0 });
    await held(50, daily(100));
    await clock.until(refused(1, daily(100)));
    expect(countOf('hold')).toBe(4);
  });
  it('that wait for a store that is away are not waited for', async () => {
    const { held, refused, clock, faults } = createBench();
    const [first] = [await held(60, daily(100))];
    faults.settle = away;
    first.settle({ nanoUsd: 1, byokNanoUsd: 0 });
    await clock.advance(0);
    const before = clock.now();
    await refused(50, daily(100));
    expect(clock.now()).toBe(before);
  });
});

describe('a hold of unknown outcome', () => {
  it('fails with what the store said, and is released though it was made', async () => {
    const { spending, faults, state, countOf } = createBench();
    faults.hold = replyLost;
    const failure = await spending.hold(scopeOf(daily(100)), 60).catch((error: unknown) => error);
    expect(isGatewayError(failure) && failure.status).toBe(503);
    expect(await state('workspace', 'daily')).toEqual([0, 0]);
    expect(countOf('release')).toBe(1);
  });
  it('is released though it is made after its release', async () => {
    const { spending, clock, faults, state } = createBench();
    faults.hold = late(clock, 250, 5_000);
    await expect(clock.until(spending.hold(scopeOf(daily(100)), 60))).rejects.toThrow();
    await clock.advance(10_000);
    expect(await state('workspace', 'daily')).toEqual([0, 0]);
  });
  it('that was never asked for is not released', async () => {
    const { spending, clock, faults, calls } = createBench();
    faults.hold = notSent;
    await expect(spending.hold(scopeOf(daily(100)), 60)).rejects.toMatchObject({ status: 503 });
    await clock.advance(60_000);
    expect(calls.map(({ method }) => method)).toEqual(['hold']);
  });
  it('is released when the store is back', async () => {
    const { spending, clock, faults, state, countOf } = createBench();
    faults.hold = replyLost;
    faults.release = away;
    await expect(spending.hold(scopeOf(daily(100)), 60)).rejects.toThrow();
    await clock.advance(45_000);
    expect(await state('workspace', 'daily')).toEqual([0, 60]);
    faults.release = undefined;
    await clock.advance(30_000);
    expect(await state('workspace', 'daily')).toEqual([0, 0]);
    // With pauses that grow.
    expect(countOf('release')).toBeLessThan(20);
    expect(clock.pending).toBe(0);
  });
  it('costs nothing though it has expired before the store is back', async () => {
    const { spending, clock, faults, ledger, state } = createBench();
    faults.hold = replyLost;
    faults.release = away;
    await expect(spending.hold(scopeOf(daily(100)), 60)).rejects.toThrow();
    await clock.advance(90_000);
    await ledger.expire(workspaceId);
    expect(await state('workspace', 'daily')).toEqual([60, 0]);
    faults.release = undefined;
    await clock.advance(40_000);
    expect(await state('workspace', 'daily')).toEqual([0, 0]);
  });
  it('is released also when the second question has it', async () => {
    const { spending, held, clock, faults, state } = createBench();
    faults.settle = slow(clock, 50);
    (await held(100, daily(100))).settle({ nanoUsd: 0, byokNanoUsd: 0 });
    let asked = 0;
    faults.hold = (run) => (++asked === 2 ? replyLost(run) : run());
    await expect(clock.until(spending.hold(scopeOf(daily(100)), 60))).rejects.toThrow();
    expect([asked, await state('workspace', 'daily')]).toEqual([2, [0, 0]]);
  });
});

describe('more for a dearer step', () => {
  it('is held in the same windows, and freed with the rest', async () => {
    const { held, clock, state } = createBench();
    const reservation = await held(50, daily(100));
    await clock.advance(dayMs);
    expect(await reservation.extend(30)).toEqual({ isHeld: true });
    expect(reservation.nanoUsd).toBe(80);
    expect(await state('workspace', 'daily')).toEqual([0, 80]);
    reservation.settle({ nanoUsd: 60, byokNanoUsd: 0 });
    expect(await state('workspace', 'daily')).toEqual([60, 0]);
  });
  it('is refused where it does not fit, and nothing changes', async () => {
    const { held, state } = createBench();
    const reservation = await held(50, daily(100));
    expect(await reservation.extend(51)).toMatchObject({ isHeld: false, refusal: { availableNanoUsd: 50 } });
    expect(reservation.nanoUsd).toBe(50);
    expect(await state('workspace', 'daily')).toEqual([0, 50]);
    expect(await reservation.extend(50)).toEqual({ isHeld: true });
  });
  it('of unknown outcome fails, and nothing changes', async () => {
    const { held, faults, state } = createBench();
    const reservation = await held(50, daily(100));
    faults.hold = replyLost;
    await expect(reservation.extend(20)).rejects.toMatchObject({ status: 503 });
    expect(reservation.nanoUsd).toBe(50);
    expect(await state('workspace', 'daily')).toEqual([0, 50]);
  });
  it('asks no store for nothing', async () => {
    const { held, countOf } = createBench();
    const reservation = await held(50, daily(100));
    expect(await reservation.extend(0)).toEqual({ isHeld: true });
    expect(countOf('hold')).toBe(1);
  });
  it('comes too late after the settlement, also where that came while it was asked', async () => {
    const { held, clock, faults, state } = createBench();
    const reservation = await held(50, daily(100));
    faults.hold = slow(clock, 100);
    const extended = reservation.extend(20);
    reservation.settle({ nanoUsd: 10, byokNanoUsd: 0 });
    expect(await clock.until(extended)).toEqual({ isHeld: false, refusal: null });
    expect(await state('workspace', 'daily')).toEqual([10, 0]);
    expect(await reservation.extend(20)).toEqual({ isHeld: false, refusal: null });
    await clock.advance(1_000);
    expect([await state('workspace', 'daily'), clock.pending]).toEqual([[10, 0], 0]);
  });
});
