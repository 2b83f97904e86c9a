import { describe, expect, it } from 'vitest';
import type { LimitedWindow } from '../../../../src/stores/ledger/ledger.ts';
import { away, createBench, daily, type Fault, late, noonMs, notSent, replyLost, slow, workspaceId } from './bench.ts';

const cost = (nanoUsd: number, byokNanoUsd = 0) => ({ nanoUsd, byokNanoUsd });

describe('a settlement', () => {
  it.each([
    ['less than was held', 40],
    ['what was held', 100],
    ['nothing', 0],
  ])('books %s, and frees the rest', async (_, actual) => {
    const { held, state, warnings } = createBench();
    (await held(100, daily(100))).settle(cost(actual));
    expect(await state('workspace', 'daily')).toEqual([actual, 0]);
    expect(warnings).toEqual([]);
  });
  it('books more than was held, and says so', async () => {
    const { held, state, warnings } = createBench();
    (await held(100, daily(100))).settle(cost(130));
    expect(await state('workspace', 'daily')).toEqual([130, 0]);
    expect(warnings).toEqual(['a call cost more than was held for it']);
  });
  it('counts once', async () => {
    const { held, state, countOf } = createBench();
    const reservation = await held(100, daily(100));
    reservation.settle(cost(40));
    reservation.settle(cost(70));
    expect(await state('workspace', 'daily')).toEqual([40, 0]);
    expect(countOf('settle')).toBe(1);
  });
  it('returns at once while the store takes its time', async () => {
    const { held, clock, faults, state } = createBench();
    const reservation = await held(100, daily(100));
    faults.settle = slow(clock, 200);
    reservation.settle(cost(40));
    expect(await state('workspace', 'daily')).toEqual([0, 100]);
    await clock.advance(200);
    expect(await state('workspace', 'daily')).toEqual([40, 0]);
  });
  it('never throws, whatever the ledger and the logger do', async () => {
    const bench = createBench({
      logger: {
        info() {},
        warn() {
          throw new Error('full disk');
        },
      },
    });
    const reservation = await bench.held(100, daily(100));
    bench.faults.settle = () => {
      throw new TypeError('at once');
    };
    reservation.settle(cost(170));
    await bench.clock.advance(10_000);
    bench.faults.settle = undefined;
    await bench.clock.advance(60_000);
    expect(await bench.state('workspace', 'daily')).toEqual([170, 0]);
  });
  it.each([Number.NaN, -1, 0.5, Number.POSITIVE_INFINITY, 2 ** 60])(
    'of no amount (%s) books what was held',
    async (actual) => {
      const { held, state, warnings } = createBench();
      (await held(100, daily(100))).settle(cost(actual));
      expect(await state('workspace', 'daily')).toEqual([100, 0]);
      expect(warnings).toHaveLength(1);
    },
  );
  it('of several holds gives each no more than it held, so that no window is ever above its limit', async () => {
    const { held, ledger, clock, faults, spending } = createBench();
    const reservation = await held(50, daily(100));
    await reservation.extend(30);
    await reservation.extend(20);
    const window: LimitedWindow = {
      account: 'workspace',
      interval: 'daily',
      startMs: 0,
      endMs: null,
      limitNanoUsd: 100,
    };
    const { daily: now } = await spending.read(workspaceId, 'workspace', noonMs);
    expect(now).toEqual({ spentNanoUsd: 0, heldNanoUsd: 100 });
    const seen: number[] = [];
    let calls = 0;
    faults.settle = async (run) => {
      // One after the other, the last hold first.
      await slow(clock, 300 - 100 * ++calls)(run);
      const [state] = await ledger.read(workspaceId, [{ ...window, startMs: Date.UTC(2026, 5, 17) }]);
      seen.push(state!.spentNanoUsd + state!.heldNanoUsd);
    };
    reservation.settle(cost(70));
    await clock.advance(1_000);
    expect(seen).toEqual([80, 70, 70]);
  });
  it('of several holds books what is beyond all of them', async () => {
    const { held, state } = createBench();
    const reservation = await held(50, daily(100));
    await reservation.extend(30);
    reservation.settle(cost(130));
    expect(await state('workspace', 'daily')).toEqual([130, 0]);
  });
});

describe('a settlement that the store does not take', () => {
  it('is sent again until it does, with pauses that grow to five seconds', async () => {
    const { held, clock, faults, calls, state, warnings } = createBench({ leaseMs: 1e9 });
    const reservation = await held(100, daily(100));
    const at: number[] = [];
    faults.settle = async (run) => {
      at.push(clock.now() - noonMs);
      return away(run);
    };
    reservation.settle(cost(40));
    await clock.advance(600_000);
    faults.settle = undefined;
    await clock.advance(30_000);
    expect(await state('workspace', 'daily')).toEqual([40, 0]);
    // Random numbers are 0.5 here, which takes a quarter off.
    expect(at.slice(0, 6)).toEqual([0, 75, 225, 525, 1_125, 2_325]);
    const pauses = at.slice(1).map((ms, index) => ms - at[index]!);
    expect(Math.max(...pauses)).toBe(3_750);
    expect(calls.filter(({ method }) => method === 'settle')).toHaveLength(at.length + 1);
    expect(warnings.filter((warning) => warning.includes('did not accept'))).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });
  it('is booked once, though every answer is lost for a while', async () => {
    const { held, clock, faults, state, countOf } = createBench();
    const reservation = await held(100, daily(1_000));
    faults.settle = replyLost;
    reservation.settle(cost(40));
    await clock.advance(5_000);
    faults.settle = undefined;
    await clock.advance(30_000);
    expect(countOf('settle')).toBeGreaterThan(3);
    expect(countOf('add')).toBe(1);
    expect(await state('workspace', 'daily')).toEqual([40, 0]);
  });
  it('is booked once, though what was given up arrives later', async () => {
    const { held, clock, faults, state } = createBench();
    const reservation = await held(100, daily(1_000));
    faults.settle = late(clock, 250, 20_000);
    reservation.settle(cost(40));
    await clock.advance(300);
    faults.settle = undefined;
    await clock.advance(60_000);
    expect(await state('workspace', 'daily')).toEqual([40, 0]);
  });
  it('takes back what its expiry has charged elsewhere, though the reply that it was late was lost', async () => {
    const owned = { ...daily(100), callId: 'gen-1' };
    const { held, clock, faults, state, spending, another } = createBench();
    faults.renew = away;
    const reservation = await held(60, owned);
    await clock.advance(61_000);
    await another().spending.bookLost(workspaceId);
    expect([await state('workspace', 'daily'), await state('workspace', 'monthly')]).toEqual([
      [60, 0],
      [60, 0],
    ]);
    faults.settle = replyLost;
    reservation.settle(cost(10));
    await clock.advance(0);
    faults.settle = undefined;
    await clock.advance(1_000);
    await spending.flush();
    expect([await state('workspace', 'daily'), await state('workspace', 'monthly')]).toEqual([
      [10, 0],
      [10, 0],
    ]);
  });

  it('keeps its lease meanwhile', async () => {
    const { held, clock, faults, ledger, state, warnings } = createBench();
    const reservation = await held(100, daily(1_000));
    faults.settle = away;
    reservation.settle(cost(40));
    await clock.advance(600_000);
    expect(await ledger.expire(workspaceId)).toBe(0);
    faults.settle = undefined;
    await clock.advance(30_000);
    expect(await state('workspace', 'daily')).toEqual([40, 0]);
    expect(warnings.filter((warning) => warning.includes('expired'))).toEqual([]);
  });
  it('replaces what was charged where the hold has expired', async () => {
    const { held, clock, faults, ledger, state, warnings } = createBench();
    const reservation = await held(100, daily(1_000));
    Object.assign(faults, { settle: away, renew: away });
    reservation.settle(cost(40));
    await clock.advance(3_600_000);
    expect(await ledger.expire(workspaceId)).toBe(1);
    expect(await state('workspace', 'daily')).toEqual([100, 0]);
    Object.assign(faults, { settle: undefined, renew: undefined });
    await clock.advance(30_000);
    expect(await state('workspace', 'daily')).toEqual([40, 0]);
    expect(warnings.at(-1)).toMatch(/expired before it was settled/);
    expect(clock.pending).toBe(0);
  });
  it('is given up after a day, and what was held is charged', async () => {
    const { held, clock, faults, ledger, state, warnings } = createBench();
    const reservation = await held(100, daily(1_000));
    faults.settle = away;
    reservation.settle(cost(40));
    await clock.advance(86_400_000 + 60_000);
    expect(warnings.at(-1)).toMatch(/given up/);
    await clock.advance(60_000);
    expect(await ledger.expire(workspaceId)).toBe(1);
    expect(await state('workspace', 'daily')).toEqual([100, 0]);
    expect(clock.pending).toBe(0);
  });
  it('that alone fails holds nothing else up', async () => {
    const { held, clock, faults, state } = createBench();
    const bad = await held(7, daily(1_000));
    const fails: Fault = away;
    faults.settle = fails;
    bad.settle(cost(7));
    await clock.advance(30_000);
    faults.settle = undefined;
    const good = await held(100, daily(1_000));
    good.settle(cost(40));
    expect((await state('workspace', 'daily'))[0]).toBeGreaterThanOrEqual(40);
  });
  it('goes on as soon as the store answers something else', async () => {
    const { held, clock, faults, state } = createBench();
    const reservation = await held(100, daily(1_000));
    faults.settle = away;
    reservation.settle(cost(40));
    await clock.advance(300_000);
    faults.settle = undefined;
    await clock.advance(1_000);
    (await held(1, daily(1_000))).settle(cost(0));
    expect(await state('workspace', 'daily')).toEqual([40, 0]);
  });
  it('goes on as soon as the store takes another booking', async () => {
    const { held, clock, faults, state } = createBench();
    const [waits, other] = [await held(100, daily(1_000)), await held(1, daily(1_000))];
    faults.settle = away;
    waits.settle(cost(40));
    // The last attempt was at 8,475 ms; the next one would be at 12,225 ms.
    await clock.advance(8_500);
    faults.settle = undefined;
    await clock.advance(1_000);
    other.settle(cost(1));
    await clock.advance(0);
    expect(await state('workspace', 'daily')).toEqual([41, 0]);
  });
  it('comes with thousands of others when the store is back, a few at a time', async () => {
    const { held, clock, faults, state } = createBench();
    const reservations = await Promise.all(Array.from({ length: 2_000 }, () => held(10, daily(1e9))));
    faults.settle = away;
    for (const reservation of reservations) reservation.settle(cost(4));
    await clock.advance(120_000);
    let [most, now] = [0, 0];
    faults.settle = async (run) => {
      most = Math.max(most, ++now);
      await slow(clock, 5)(run);
      now--;
    };
    await clock.advance(60_000);
    expect(await state('workspace', 'daily')).toEqual([8_000, 0]);
    expect(most).toBe(16);
    expect(clock.pending).toBe(0);
  });
});

describe('a hold that the store has lost', () => {
  it('is booked by its actual cost all the same, in its windows alone', async () => {
    const { held, ledger, state, warnings, spending } = createBench();
    const reservation = await held(100, daily(1_000));
    await ledger.forget(workspaceId);
    reservation.settle(cost(40));
    await spending.flush();
    expect(await state('workspace', 'daily')).toEqual([40, 0]);
    expect(await state('workspace', 'weekly')).toEqual([40, 0]);
    expect(warnings).toEqual([expect.stringMatching(/the store has lost a hold/)]);
  });
  it('is booked also where the first settlements were never sent', async () => {
    const { held, ledger, clock, faults, state } = createBench();
    const reservation = await held(100, daily(1_000));
    await ledger.forget(workspaceId);
    faults.settle = notSent;
    reservation.settle(cost(40));
    await clock.advance(5_000);
    faults.settle = undefined;
    await clock.advance(30_000);
    expect(await state('workspace', 'daily')).toEqual([40, 0]);
  });
  it('is booked once where a settlement was in flight when the store failed over', async () => {
    const { held, ledger, clock, faults, state, warnings } = createBench();
    const reservation = await held(100, daily(1_000));
    // Nobody knows what became of the first two. Then another server answers, which has neither hold nor settlement.
    faults.settle = away;
    reservation.settle(cost(40));
    await clock.advance(100);
    await ledger.forget(workspaceId);
    faults.settle = undefined;
    faults.add = replyLost;
    await clock.advance(300);
    faults.add = undefined;
    await clock.advance(30_000);
    expect(await state('workspace', 'daily')).toEqual([40, 0]);
    expect(warnings).toContainEqual(expect.stringMatching(/the store has lost a hold; its cost is booked again/));
  });
  it('of more than a day is not booked again, and that is said', async () => {
    const { held, ledger, clock, state, warnings } = createBench();
    const reservation = await held(100, daily(1_000));
    await clock.advance(86_400_000);
    await ledger.forget(workspaceId);
    reservation.settle(cost(40));
    expect(await state('workspace', 'daily')).toEqual([0, 0]);
    expect(warnings).toContainEqual(expect.stringMatching(/not booked again/));
  });
  it('of a workspace that was deleted is not booked', async () => {
    const { held, spending, state, countOf, clock } = createBench();
    const reservation = await held(100, daily(1_000));
    await spending.forget(workspaceId);
    reservation.settle(cost(40));
    expect(await state('workspace', 'daily')).toEqual([0, 0]);
    await clock.advance(2_000);
    expect(countOf('add')).toBe(0);
    expect(clock.pending).toBe(0);
  });
});

describe('the heart beats', () => {
  it('every third of the lease, while something is open', async () => {
    const { held, clock, countOf, ledger, state } = createBench();
    const reservation = await held(100, daily(1_000));
    await clock.advance(19_999);
    expect(countOf('renew')).toBe(0);
    await clock.advance(1);
    expect(countOf('renew')).toBe(1);
    await clock.advance(600_000);
    expect(countOf('renew')).toBe(31);
    expect(await ledger.expire(workspaceId)).toBe(0);
    reservation.settle(cost(1));
    await clock.advance(1_000);
    expect([clock.pending, await state('workspace', 'daily')]).toEqual([0, [1, 0]]);
  });
  it('once for all holds of a workspace, once for each workspace', async () => {
    const { held, clock, calls } = createBench();
    const other = 'other' as typeof workspaceId;
    await Promise.all(Array.from({ length: 1_100 }, () => held(1, daily(1e6))));
    await held(1, { ...daily(100), workspaceId: other });
    await clock.advance(20_000);
    const renewals = calls
      .filter(({ method }) => method === 'renew')
      .map(({ args }) => [args[0], (args[1] as string[]).length]);
    expect(renewals).toEqual([
      [workspaceId, 500],
      [workspaceId, 500],
      [workspaceId, 100],
      [other, 1],
    ]);
  });
  it('on, when two in a row are missed', async () => {
    const { held, clock, faults, ledger, warnings } = createBench();
    await held(100, daily(1_000));
    faults.renew = away;
    await clock.advance(59_000);
    faults.renew = undefined;
    await clock.advance(1_000);
    expect(await ledger.expire(workspaceId)).toBe(0);
    expect(warnings).toEqual(Array(2).fill('holds could not be renewed'));
  });
  it('no more for a process that died: its holds are charged, and others hold on', async () => {
    const dead = createBench();
    const alive = dead.another();
    await dead.held(100, daily(250));
    dead.faults.renew = away;
    await alive.held(10, daily(250));
    await alive.clock.advance(59_999);
    expect(await alive.spending.read(workspaceId, 'workspace', alive.clock.now())).toMatchObject({
      daily: { spentNanoUsd: 0, heldNanoUsd: 110 },
    });
    await alive.clock.advance(1);
    expect(await alive.spending.read(workspaceId, 'workspace', alive.clock.now())).toMatchObject({
      daily: { spentNanoUsd: 100, heldNanoUsd: 10 },
    });
  });
});

describe('a process that has used many workspaces', () => {
  it('looks up what others have lost there in a few at a time, and in all of them', async () => {
    const { held, clock, faults, spending, calls } = createBench();
    spending.recordLost(async () => undefined);
    const count = 200;
    for (let n = 0; n < count; n++) {
      const scope = { ...daily(100), workspaceId: `acme-${n}` as typeof workspaceId, callId: `gen-${n}` };
      (await held(10, scope)).settle(cost(1));
    }
    let [now, most] = [0, 0];
    faults.lost = async (run) => {
      most = Math.max(most, ++now);
      const found = await slow(clock, 50)(run);
      now--;
      return found;
    };
    await clock.advance(60_000 + 50 * count);
    expect(new Set(calls.filter(({ method }) => method === 'lost').map(({ args }) => args[0])).size).toBe(count);
    expect(most).toBeLessThanOrEqual(16);
  });
});
