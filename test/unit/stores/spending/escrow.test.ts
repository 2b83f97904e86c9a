import { describe, expect, it } from 'vitest';
import { memoryLedger } from '../../../../src/stores/ledger/memory.ts';
import type { Reservation } from '../../../../src/stores/spending/spending.ts';
import { memoryStorage } from '../../../../src/stores/storage/memory.ts';
import { settle } from '../../../support/manual-clock.ts';
import { away, type Bench, createBench, daily, replyLost, scopeOf, slow, workspaceId } from './bench.ts';

const limit = 100_000;
const scope = daily(limit);
/** The same budget, for requests that do not share slices with those of `scope`. */
const other = { ...scope, apiKeyHash: 'abc' };

function escrowBench(leaseMs = 60_000): Bench {
  return twoProcesses(leaseMs).one;
}

/** Two processes on one store. */
function twoProcesses(leaseMs = 60_000): { one: Bench; other: Bench } {
  const storage = memoryStorage(memoryLedger({ onLostHold: 'charge' }));
  const one = createBench({ escrow: true, leaseMs, notes: { storage, instance: () => 'one' } });
  return { one, other: one.another({ notes: { storage, instance: () => 'other' } }) };
}

const cost = (nanoUsd: number) => ({ nanoUsd, byokNanoUsd: 0 });
const look = ({ clock, spending }: Bench) => clock.until(spending.bookLost(workspaceId));

async function hold(bench: Bench, count: number, nanoUsd = 10, of = scope): Promise<Reservation[]> {
  const held: Reservation[] = [];
  for (let n = 0; n < count; n++) held.push(await bench.held(nanoUsd, of));
  await settle();
  return held;
}

/** After so many requests in a moment, there is a slice with room for eight more. */
const first = 4;

describe('a slice of a budget', () => {
  it('holds the money of further requests without a step, and reports their costs in one', async () => {
    const bench = escrowBench();
    const holds = await hold(bench, first);
    expect(bench.countOf('hold')).toBe(first + 1);
    holds.push(...(await hold(bench, 8)));
    expect(bench.countOf('hold')).toBe(first + 1);
    for (const one of holds) one.settle({ nanoUsd: 7, byokNanoUsd: 0 });
    await bench.clock.advance(150);
    expect([bench.countOf('settle'), bench.countOf('draw')]).toEqual([first, 1]);
    const [spentNanoUsd, heldNanoUsd] = await bench.state('workspace', 'daily');
    expect(spentNanoUsd).toBe(7 * (first + 8));
    // What is free stays for the next requests, and is shown as held.
    expect(heldNanoUsd).toBe(80 - 7 * 8);
  });
  it('is not taken where requests are rare, and not where it would have no room for four', async () => {
    const bench = escrowBench();
    for (let n = 0; n < 8; n++) {
      await hold(bench, 1);
      await bench.clock.advance(400);
    }
    expect(bench.countOf('hold')).toBe(8);
    const small = escrowBench();
    // A sixteenth of what is left is less than four requests.
    for (let n = 0; n < 12; n++) await small.held(2_000, scope);
    await settle();
    expect(small.countOf('hold')).toBe(12);
  });
  it('leaves its process what there is, to the last nano-dollar', async () => {
    const bench = escrowBench();
    await hold(bench, first);
    expect(await bench.state('workspace', 'daily')).toEqual([0, 10 * first + 80]);
    await bench.held(limit - 10 * first, scope);
    expect(await bench.state('workspace', 'daily')).toEqual([0, limit]);
    const { availableNanoUsd } = await bench.refused(1, scope);
    expect(availableNanoUsd).toBe(0);
  });
  it('leaves each of several requests at once what there is', async () => {
    const bench = escrowBench();
    const [ended] = await hold(bench, first);
    // It stays held in the slice.
    await hold(bench, 1);
    await bench.held(limit - 10 * first - 80 - 50, other);
    bench.faults.draw = slow(bench.clock, 20);
    // What is booked meanwhile is there sooner than what goes back.
    ended?.settle(cost(10));
    // 50 are left, and 70 are free in the slice. Both are refused at first; what goes back for one is there for the other.
    await bench.clock.until(Promise.all([bench.held(60, other), bench.held(60, other)]));
    expect(await bench.state('workspace', 'daily')).toEqual([10, limit - 10]);
  });
  it('that is being taken keeps no request of its process from the rest', async () => {
    const bench = escrowBench();
    await hold(bench, first - 1);
    const reply = slow(bench.clock, 20);
    // The store has made the hold of the slice, and its reply is on the way.
    bench.faults.hold = async (run) => {
      const isOfSlice = bench.countOf('hold') === first + 1;
      const held = await run();
      return isOfSlice ? reply(async () => held) : held;
    };
    await hold(bench, 1);
    expect(bench.countOf('hold')).toBe(first + 1);
    await bench.clock.until(bench.held(limit - 10 * first, scope));
    expect(await bench.state('workspace', 'daily')).toEqual([0, limit]);
  });
  it('stays where a refused request has no use of it: another key has spent its limit, or asks for more than there is', async () => {
    const bench = escrowBench();
    await hold(bench, first);
    const spent = { ...other, keyLimit: { interval: 'daily', limitNanoUsd: 5, includesByok: false } } as const;
    await bench.refused(10, spent);
    const { availableNanoUsd } = await bench.refused(2 * limit, scope);
    // For a smaller request, what is free would go back.
    expect(availableNanoUsd).toBe(limit - 10 * first);
    const steps = bench.countOf('hold');
    await hold(bench, 8);
    expect(bench.countOf('hold')).toBe(steps);
    await bench.held(limit - 10 * first - 80, other);
  });
  it('stays where somebody asks what a hold would get, and is no reason to refuse', async () => {
    const bench = escrowBench();
    await hold(bench, first);
    const { windows, refusalOf } = await bench.spending.preview(scopeOf(scope));
    expect(windows).toMatchObject([{ spentNanoUsd: 0, heldNanoUsd: 10 * first }]);
    expect(refusalOf(limit - 10 * first)).toBeNull();
    expect(refusalOf(limit - 10 * first + 1)?.availableNanoUsd).toBe(limit - 10 * first);
    expect(await bench.state('workspace', 'daily')).toEqual([0, 10 * first + 80]);
  });
  it('goes back after a second without requests, but for what requests in flight hold', async () => {
    const bench = escrowBench();
    const holds = await hold(bench, first);
    const [inSlice] = await hold(bench, 1);
    await bench.clock.advance(2_000);
    expect(await bench.state('workspace', 'daily')).toEqual([0, 10 * first + 10]);
    for (const one of [...holds, inSlice]) one?.settle({ nanoUsd: 3, byokNanoUsd: 0 });
    await bench.clock.advance(200);
    expect(await bench.state('workspace', 'daily')).toEqual([3 * (first + 1), 0]);
    expect(bench.spending.state()).toEqual({ holds: 0, waitingBookings: 0 });
  });
  it('goes back when the gateway closes', async () => {
    const bench = escrowBench();
    for (const one of await hold(bench, first)) one.settle({ nanoUsd: 3, byokNanoUsd: 0 });
    await bench.clock.until(bench.spending.close());
    expect(await bench.state('workspace', 'daily')).toEqual([3 * first, 0]);
  });
  it('is not used any more when its lease may have ended, by either clock of its process', async () => {
    for (const pass of [(bench: Bench) => bench.clock.advance(470), async (bench: Bench) => bench.clock.setBy(470)]) {
      const bench = escrowBench(600);
      await hold(bench, first);
      bench.faults.renew = away;
      await hold(bench, 1);
      expect(bench.countOf('hold')).toBe(first + 1);
      await pass(bench);
      await hold(bench, 1);
      expect(bench.countOf('hold')).toBeGreaterThan(first + 1);
    }
  });
  it('of an earlier limit is of no use to requests under a lower one', async () => {
    const bench = escrowBench();
    await hold(bench, first);
    const { availableNanoUsd } = await bench.refused(20, daily(10 * first + 10));
    // What was free has gone back.
    expect(availableNanoUsd).toBe(10);
  });
  it('reports in order what an outage has kept back, within seconds after the store is there again', async () => {
    const bench = escrowBench(600_000);
    await hold(bench, first);
    for (const fault of ['draw', 'settle', 'hold'] as const) bench.faults[fault] = away;
    // Reports of one slice, each after the one before, and bookings of others between them.
    for (const [inSlice] of [await hold(bench, 1), await hold(bench, 1), await hold(bench, 1), await hold(bench, 1)]) {
      inSlice?.settle({ nanoUsd: 4, byokNanoUsd: 0 });
      await bench.clock.advance(3_000);
    }
    await bench.clock.advance(60_000);
    for (const fault of ['draw', 'settle', 'hold'] as const) delete bench.faults[fault];
    await bench.clock.advance(6_000);
    expect(await bench.state('workspace', 'daily')).toEqual([4 * 4, 10 * first]);
    expect(bench.spending.state()).toEqual({ holds: first, waitingBookings: 0 });
  });
  it('whose process has died is charged, with what it had not reported', async () => {
    const bench = escrowBench();
    await hold(bench, first);
    const [inSlice] = await hold(bench, 1);
    inSlice?.settle({ nanoUsd: 4, byokNanoUsd: 0 });
    bench.faults.draw = away;
    bench.faults.renew = away;
    bench.faults.settle = away;
    await bench.clock.advance(61_000);
    await bench.ledger.expire('acme' as never);
    const [spentNanoUsd, heldNanoUsd] = await bench.state('workspace', 'daily');
    expect(heldNanoUsd).toBe(0);
    expect(spentNanoUsd).toBe(10 * first + 80);
  });
  it('takes less than one step of the store for twenty requests, at 2,000 requests a second', async () => {
    const storage = memoryStorage(memoryLedger({ onLostHold: 'charge' }));
    let commits = 0;
    const counted = {
      ...storage,
      commit: (...changes: Parameters<typeof storage.commit>) => {
        commits++;
        return storage.commit(...changes);
      },
    };
    const bench = createBench({ escrow: true, notes: { storage: counted, instance: () => 'one' } });
    const open: Reservation[][] = [];
    let requests = 0;
    const second = async () => {
      for (let turn = 0; turn < 50; turn++) {
        open.push(await hold(bench, 40, 1_000, wide));
        requests += 40;
        // A request takes a fifth of a second.
        if (open.length > 10) for (const one of open.shift() ?? []) one.settle({ nanoUsd: 300, byokNanoUsd: 0 });
        await bench.clock.advance(20);
      }
    };
    const steps = () => bench.calls.length + commits;
    const wide = daily(1e12);
    await second();
    const before = [steps(), requests] as const;
    await second();
    await second();
    const each = (steps() - before[0]) / (requests - before[1]);
    expect(each).toBeLessThan(0.05);
  });
});

describe('reports of a slice that another process finds in notes', () => {
  it('do not count as spent what was given back before, though that has not arrived', async () => {
    const { one, other } = twoProcesses();
    const holds = await hold(one, first);
    const [a, b] = await hold(one, 2);
    one.faults.draw = away;
    // What is free goes back, without a note, and does not arrive.
    await one.refused(limit - 60, scope);
    a?.settle(cost(4));
    b?.settle(cost(4));
    await one.clock.advance(2_500);
    await look(other);
    expect(await one.state('workspace', 'daily')).toEqual([8, 10 * first]);
    delete one.faults.draw;
    for (const each of holds) each.settle(cost(3));
    await one.clock.advance(6_000);
    expect(await one.state('workspace', 'daily')).toEqual([8 + 3 * first, 0]);
  });
  it('are booked before the end of the slice, though the store takes only that at first', async () => {
    const { one, other } = twoProcesses();
    for (const each of await hold(one, first)) each.settle(cost(3));
    const [a, b] = await hold(one, 2);
    for (const method of ['draw', 'settle', 'add', 'renew'] as const) one.faults[method] = away;
    a?.settle(cost(4));
    // Without further requests, the slice ends with the last one.
    await one.clock.advance(2_500);
    b?.settle(cost(5));
    await one.clock.advance(2_500);
    other.faults.draw = away;
    await look(other);
    delete other.faults.draw;
    await one.clock.advance(10_000);
    await look(other);
    expect(await one.state('workspace', 'daily')).toEqual([3 * first + 4 + 5, 0]);
  });
});

describe('a slice whose process was paused for longer than its lease', () => {
  /** Resumes at a moment at which nothing of the slice was reported. */
  async function paused() {
    const { one, other } = twoProcesses();
    for (const each of await hold(one, first)) each.settle(cost(3));
    await one.clock.advance(200);
    const inSlice = await hold(one, 2);
    const expired = () => one.ledger.expire(workspaceId);
    one.faults.renew = away;
    const end = async () => {
      for (const each of inSlice) each.settle(cost(4));
      await one.clock.advance(30_000);
      const spent = 3 * first + 8;
      expect(await one.state('workspace', 'daily')).toEqual([spent, 0]);
      // Where nothing is limited, the same was spent.
      expect(await one.state('workspace', 'monthly')).toEqual([spent, 0]);
    };
    return { one, other, expired, end };
  }
  /** The time at which the slice is given back for want of requests, and at which its lease ends. */
  const [idleMs, leaseMs] = [2_000, 60_000];

  it('leaves no charge in sums without a limit, though the reply to a late report was lost', async () => {
    const { one, other, expired, end } = await paused();
    one.faults.draw = away;
    await one.clock.advance(idleMs + leaseMs);
    expect(await expired()).toBe(1);
    await look(other);
    let lost = 0;
    one.faults.draw = (run) => (lost++ < 2 ? replyLost(run) : run());
    await end();
    expect(lost).toBeGreaterThan(2);
  });
  it('leaves no charge in sums without a limit, though another process looks while it is reported', async () => {
    const { one, other, expired, end } = await paused();
    one.faults.draw = away;
    await one.clock.advance(idleMs + leaseMs);
    expect(await expired()).toBe(1);
    delete one.faults.draw;
    // Its late report may arrive, and what follows from that does not.
    one.faults.add = away;
    await one.clock.advance(6_000);
    await look(other);
    delete one.faults.add;
    await end();
  });
});
