import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Interval, windowOf } from '../../../src/base/windows.ts';
import type { WorkspaceId } from '../../../src/call/workspace.ts';
import {
  type Draw,
  expireBatch,
  type HoldOutcome,
  keepEndedMs,
  keepWindowsMs,
  type Ledger,
  type LedgerOptions,
  type LimitedWindow,
  type LostHold,
  type SpendingWindow,
  type WindowState,
} from '../../../src/stores/ledger/ledger.ts';
import { storeClock, type TimedLedger } from '../../support/timed-ledger.ts';
import { randomSequences } from './ledger-sequences.ts';

/** A ledger under test, on a store that may be shared: every test uses workspaces of its own. */
export type OpenLedger = (options?: Partial<LedgerOptions>) => Promise<{ ledger: Ledger; close(): Promise<void> }>;

const dayMs = 86_400_000;
/**
 * A Wednesday noon, years ahead: a server that lets keys expire by its own clock expires none of them. It differs from
 * the real time, so that a ledger which asks another clock than the one it was given is found out.
 */
export const noonMs = Date.UTC(2092, 4, 14, 12);
const leaseMs = 60_000;
const most = Number.MAX_SAFE_INTEGER;

/** The promises of a Ledger; each implementation's test calls this and adds its own oddities. */
export function testLedger(name: string, open: OpenLedger): void {
  describe(name, () => {
    const { now, timed } = storeClock(noonMs);
    let charging: Awaited<ReturnType<OpenLedger>>;
    let releasing: Awaited<ReturnType<OpenLedger>>;
    beforeAll(async () => {
      charging = await open({ onLostHold: 'charge', now });
      releasing = await open({ onLostHold: 'release', now });
    });
    afterAll(async () => {
      await charging?.close();
      await releasing?.close();
    });
    const bench = () => createBench(timed(charging.ledger));
    const releasingBench = () => createBench(timed(releasing.ledger));

    describe('hold', () => holds(bench));
    describe('settle and release', () => ends(bench));
    describe('draw', () => draws(bench));
    describe('holds whose process died', () => expires(bench, releasingBench));
    describe('windows', () => windowsOfTime(bench));
    describe('add, read and forget', () => additions(bench));
    describe('many at once', () => crowds(bench));
    describe('random sequences', () => {
      randomSequences('charge', () => timed(charging.ledger));
      randomSequences('release', () => timed(releasing.ledger));
    });
  });
}

type Bench = ReturnType<typeof createBench>;

interface HoldOptions {
  id?: string;
  nowMs?: number;
  leaseUntilMs?: number;
}

/** One workspace of a ledger, with what most tests leave alone filled in. */
function createBench(ledger: TimedLedger) {
  const workspaceId = newWorkspace();
  const hold = (
    amountNanoUsd: number,
    windows: readonly LimitedWindow[],
    options: HoldOptions = {},
  ): Promise<HoldOutcome> => {
    const { id = randomUUID(), nowMs = noonMs } = options;
    const { leaseUntilMs = nowMs + leaseMs } = options;
    return ledger.hold({ id, workspaceId, amountNanoUsd, windows, nowMs, leaseUntilMs });
  };
  return {
    ledger,
    workspaceId,
    hold,
    /** Holds, sees that it is held, and gives the id. */
    async held(
      amountNanoUsd: number,
      windows: readonly LimitedWindow[],
      options: { nowMs?: number; leaseUntilMs?: number } = {},
    ): Promise<string> {
      const id = randomUUID();
      expect(await hold(amountNanoUsd, windows, { id, ...options })).toEqual({ isHeld: true });
      return id;
    },
    settle: (id: string, actualNanoUsd: number, nowMs = noonMs) => ledger.settle(workspaceId, id, actualNanoUsd, nowMs),
    release: (id: string, nowMs = noonMs) => ledger.release(workspaceId, id, nowMs),
    draw: (id: string, fromNanoUsd: number, toNanoUsd: number, spentNanoUsd: number, nowMs = noonMs) => {
      const drawn: Draw = { id, fromNanoUsd, toNanoUsd, spentNanoUsd };
      return ledger.draw(workspaceId, drawn, nowMs);
    },
    drawLate: (id: string, fromNanoUsd: number, toNanoUsd: number, spentNanoUsd: number, nowMs = noonMs) => {
      const drawn: Draw = { id, fromNanoUsd, toNanoUsd, spentNanoUsd, isLate: true };
      return ledger.draw(workspaceId, drawn, nowMs);
    },
    expire: (nowMs: number) => ledger.expire(workspaceId, nowMs),
    lost: (sinceMs: number, nowMs: number) => ledger.lost(workspaceId, sinceMs, nowMs),
    renew: (ids: readonly string[], leaseUntilMs: number) => ledger.renew(workspaceId, ids, leaseUntilMs),
    add: (window: SpendingWindow, nanoUsd: number, { id = randomUUID() as string, nowMs = noonMs } = {}) =>
      ledger.add(workspaceId, id, [{ window, nanoUsd }], nowMs),
    read: (windows: readonly SpendingWindow[], nowMs = noonMs) => ledger.read(workspaceId, windows, nowMs),
    /** Of one window: `[spent, held]`. */
    async state(window: SpendingWindow, nowMs = noonMs): Promise<[number, number]> {
      const [state] = await ledger.read(workspaceId, [window], nowMs);
      return [state!.spentNanoUsd, state!.heldNanoUsd];
    },
  };
}

export function newWorkspace(): WorkspaceId {
  return randomUUID() as WorkspaceId;
}

/** The window of an interval at an instant, limited. */
export function limited(
  interval: Interval,
  limitNanoUsd: number,
  { account = 'workspace', atMs = noonMs } = {},
): LimitedWindow {
  return { account, interval, ...windowOf(interval, atMs), limitNanoUsd };
}

/** Parts of holds: what a process that took more than one request needs reports of it. */
function draws(bench: () => Bench): void {
  const shared = () => [limited('daily', 1_000), limited('lifetime', 1_000, { account: 'key:abc' })];
  it('books the spent part in every window, and frees what is neither spent nor held any more', async () => {
    const { held, draw, read, settle } = bench();
    const windows = shared();
    const id = await held(600, windows);
    expect(await draw(id, 600, 450, 100)).toBe('drawn');
    expect(await read(windows)).toEqual([state(100, 450), state(100, 450)]);
    expect(await draw(id, 450, 0, 450)).toBe('drawn');
    expect(await read(windows)).toEqual([state(550, 0), state(550, 0)]);
    expect(await settle(id, 0)).toBe('ended');
    expect(await read(windows)).toEqual([state(550, 0), state(550, 0)]);
  });
  it('books in full what cost more than it takes from the hold', async () => {
    const { held, draw, state: at } = bench();
    const [day] = shared();
    const id = await held(100, [day!]);
    expect(await draw(id, 100, 60, 75)).toBe('drawn');
    expect(await at(day!)).toEqual([75, 60]);
  });
  it('changes nothing when it is repeated, also after later draws and after the end of the hold', async () => {
    const { held, draw, settle, state: at } = bench();
    const [day] = shared();
    const id = await held(100, [day!]);
    expect(await draw(id, 100, 80, 10)).toBe('drawn');
    expect(await draw(id, 100, 80, 10)).toBe('repeated');
    expect(await draw(id, 80, 50, 20)).toBe('drawn');
    expect(await draw(id, 100, 80, 10)).toBe('repeated');
    expect(await draw(id, 80, 50, 20)).toBe('repeated');
    expect(await at(day!)).toEqual([30, 50]);
    expect(await settle(id, 40)).toBe('ended');
    expect(await draw(id, 50, 20, 5)).toBe('repeated');
    expect(await at(day!)).toEqual([70, 0]);
  });
  it('changes nothing where nothing was held', async () => {
    const { draw, state: at } = bench();
    const [day] = shared();
    expect(await draw(randomUUID(), 100, 80, 10)).toBe('unknown');
    expect(await at(day!)).toEqual([0, 0]);
  });
  it('counts as spent what draws took that the store has lost', async () => {
    const { held, draw, state: at } = bench();
    const [day] = shared();
    const id = await held(100, [day!]);
    // A draw of 100 to 70 never arrived.
    expect(await draw(id, 70, 50, 20)).toBe('drawn');
    expect(await at(day!)).toEqual([50, 50]);
    expect(await draw(id, 100, 70, 5)).toBe('repeated');
  });
  it('leaves room for as much as it frees, and not one nano more', async () => {
    const { held, hold, draw } = bench();
    const [day] = shared();
    const id = await held(1_000, [day!]);
    expect((await hold(1, [day!])).isHeld).toBe(false);
    await draw(id, 1_000, 400, 350);
    expect((await hold(251, [day!])).isHeld).toBe(false);
    expect((await hold(250, [day!])).isHeld).toBe(true);
  });
  it('takes a part of the charge of a hold that has expired, once, and a settlement takes the rest', async () => {
    const { held, draw, drawLate, settle, state: at, lost } = bench();
    const [day] = shared();
    const id = await held(600, [day!]);
    await draw(id, 600, 500, 90);
    const lateMs = noonMs + leaseMs;
    expect(await at(day!, lateMs)).toEqual([590, 0]);
    // It was made before the hold expired.
    for (const again of [draw, drawLate]) expect(await again(id, 600, 500, 90, lateMs)).toBe('repeated');
    // Its caller learns only now that it is late.
    expect(await draw(id, 500, 300, 50, lateMs)).toBe('late');
    expect(await at(day!, lateMs)).toEqual([590, 0]);
    expect(await drawLate(id, 500, 300, 50, lateMs)).toBe('late');
    for (const again of [draw, drawLate]) expect(await again(id, 500, 300, 50, lateMs)).toBe('repeated');
    expect(await at(day!, lateMs)).toEqual([440, 0]);
    expect(await lost(0, lateMs)).toEqual([{ id, chargedNanoUsd: 300, expiredAtMs: lateMs }]);
    expect(await settle(id, 10, lateMs)).toBe('late');
    expect(await at(day!, lateMs)).toEqual([150, 0]);
    for (const again of [draw, drawLate]) expect(await again(id, 300, 100, 7, lateMs)).toBe('repeated');
    expect(await at(day!, lateMs)).toEqual([150, 0]);
  });
  it('takes a part of a live hold also where its caller took it for an expired one', async () => {
    const { held, drawLate, state: at } = bench();
    const [day] = shared();
    const id = await held(600, [day!]);
    expect(await drawLate(id, 600, 500, 90)).toBe('drawn');
    expect(await at(day!)).toEqual([90, 500]);
  });
  it('charges only what is left when the hold expires', async () => {
    const { held, draw, state: at } = bench();
    const [day] = shared();
    const id = await held(600, [day!]);
    await draw(id, 600, 200, 100);
    expect(await at(day!, noonMs + leaseMs)).toEqual([300, 0]);
  });
}

const state = (spentNanoUsd: number, heldNanoUsd: number): WindowState => ({ spentNanoUsd, heldNanoUsd });

function holds(bench: () => Bench): void {
  it('holds what fits exactly, and not one nano more', async () => {
    const { hold, state: at } = bench();
    const day = limited('daily', 1_000);
    expect(await hold(600, [day])).toEqual({ isHeld: true });
    expect(await hold(401, [day])).toEqual({ isHeld: false, states: [state(0, 600)] });
    expect(await hold(400, [day])).toEqual({ isHeld: true });
    expect(await hold(1, [day])).toEqual({ isHeld: false, states: [state(0, 1_000)] });
    expect(await at(day)).toEqual([0, 1_000]);
  });
  it('refuses more than the limit into a window that nobody has used', async () => {
    const { hold, read } = bench();
    const windows = [limited('monthly', 10), limited('daily', 10)];
    expect(await hold(11, windows)).toEqual({ isHeld: false, states: [state(0, 0), state(0, 0)] });
    expect(await read(windows)).toEqual([state(0, 0), state(0, 0)]);
  });
  it.each(['daily', 'weekly', 'monthly', 'lifetime', 'key'])(
    'holds nothing anywhere when the %s window is full',
    async (full) => {
      const { hold, held, settle, read } = bench();
      const windows = (['daily', 'weekly', 'monthly', 'lifetime'] as const).map((interval) =>
        limited(interval, interval === full ? 99 : 1_000),
      );
      windows.push(limited('monthly', full === 'key' ? 99 : 1_000, { account: 'key:abc' }));
      await settle(await held(30, windows), 20);
      await held(10, windows);
      expect(await hold(70, windows)).toEqual({ isHeld: false, states: windows.map(() => state(20, 10)) });
      expect(await read(windows)).toEqual(windows.map(() => state(20, 10)));
      expect(await hold(69, windows)).toEqual({ isHeld: true });
      expect(await read(windows)).toEqual(windows.map(() => state(20, 79)));
    },
  );
  it('tells how the windows stand in the order asked', async () => {
    const { hold, held, settle, add } = bench();
    const [day, week, life] = [limited('daily', 5), limited('weekly', 500), limited('lifetime', 500)];
    await settle(await held(5, [day]), 3);
    await held(7, [week]);
    await add(life, 11);
    expect(await hold(9, [life, day, week])).toEqual({
      isHeld: false,
      states: [state(11, 0), state(3, 0), state(0, 7)],
    });
    expect(await hold(9, [week, life, day])).toEqual({
      isHeld: false,
      states: [state(0, 7), state(11, 0), state(3, 0)],
    });
  });
  it('lets an amount of zero in as long as the limit is not passed', async () => {
    const { hold, held, settle, state: at } = bench();
    expect(await hold(0, [limited('daily', 0)])).toEqual({ isHeld: true });
    const day = limited('daily', 100);
    await settle(await held(100, [day]), 100);
    const id = await held(0, [day]);
    expect(await at(day)).toEqual([100, 0]);
    expect(await settle(id, 0)).toBe('ended');
    expect(await at(day)).toEqual([100, 0]);
    expect(await hold(0, [limited('daily', 99)])).toEqual({ isHeld: false, states: [state(100, 0)] });
  });
  it('answers the same when it is asked again, without holding twice', async () => {
    const { hold, held, settle, state: at } = bench();
    const day = limited('daily', 100);
    const id = randomUUID();
    expect(await hold(60, [day], { id })).toEqual({ isHeld: true });
    expect(await hold(60, [day], { id })).toEqual({ isHeld: true });
    expect(await at(day)).toEqual([0, 60]);
    // Also when it would not fit a second time.
    await held(40, [day]);
    expect(await hold(60, [day], { id })).toEqual({ isHeld: true });
    expect(await settle(id, 60)).toBe('ended');
    expect(await at(day)).toEqual([60, 40]);
  });
  it('remembers nothing of what it refused', async () => {
    const { hold, release, settle, held, state: at } = bench();
    const day = limited('daily', 100);
    const other = await held(50, [day]);
    const id = randomUUID();
    expect(await hold(60, [day], { id })).toEqual({ isHeld: false, states: [state(0, 50)] });
    expect(await settle(id, 60)).toBe('unknown');
    expect(await at(day)).toEqual([0, 50]);
    await release(other);
    // The answer was lost and the same question comes again: it fits now.
    expect(await hold(60, [day], { id })).toEqual({ isHeld: true });
    expect(await at(day)).toEqual([0, 60]);
  });
  it('refuses an id that was released before it was held', async () => {
    const { hold, release, state: at } = bench();
    const day = limited('daily', 100);
    const id = randomUUID();
    expect(await release(id)).toBe('unknown');
    expect(await hold(10, [day], { id })).toEqual({ isHeld: false, states: [state(0, 0)] });
    expect(await hold(10, [day], { id, nowMs: noonMs + keepEndedMs - 1 })).toMatchObject({ isHeld: false });
    expect(await at(day)).toEqual([0, 0]);
  });
  it('refuses an id that was settled: the question of a hold may arrive twice, late', async () => {
    const { hold, held, settle, state: at } = bench();
    const day = limited('daily', 100);
    const id = await held(10, [day]);
    expect(await settle(id, 4)).toBe('ended');
    expect(await hold(10, [day], { id })).toEqual({ isHeld: false, states: [state(4, 0)] });
    expect(await at(day)).toEqual([4, 0]);
  });
  it('refuses an id that was held and released', async () => {
    const { hold, release, state: at } = bench();
    const day = limited('daily', 100);
    const id = randomUUID();
    await hold(10, [day], { id });
    expect(await release(id)).toBe('ended');
    expect(await hold(10, [day], { id })).toEqual({ isHeld: false, states: [state(0, 0)] });
    expect(await at(day)).toEqual([0, 0]);
  });
  it('keeps what was spent when the limit changes, and refuses under it', async () => {
    const { hold, held, settle, state: at } = bench();
    await settle(await held(80, [limited('monthly', 100)]), 80);
    expect(await hold(1, [limited('monthly', 80)])).toEqual({ isHeld: false, states: [state(80, 0)] });
    expect(await hold(1, [limited('monthly', 50)])).toEqual({ isHeld: false, states: [state(80, 0)] });
    expect(await hold(20, [limited('monthly', 100)])).toEqual({ isHeld: true });
    expect(await hold(100, [limited('monthly', 200)])).toEqual({ isHeld: true });
    expect(await at(limited('monthly', 1))).toEqual([80, 120]);
  });
  it('lets a hold pass that other windows than the full one ask for', async () => {
    const { hold, held } = bench();
    await held(100, [limited('daily', 100)]);
    expect(await hold(100, [limited('weekly', 100)])).toEqual({ isHeld: true });
    expect(await hold(1, [limited('daily', 100), limited('lifetime', 5)])).toMatchObject({ isHeld: false });
    expect(await hold(5, [limited('lifetime', 5)])).toEqual({ isHeld: true });
  });
  it('is exact up to the largest integer', async () => {
    const { hold, held, settle, add, state: at } = bench();
    const life = limited('lifetime', most);
    const id = await held(most, [life]);
    expect(await at(life)).toEqual([0, most]);
    expect(await hold(1, [life])).toEqual({ isHeld: false, states: [state(0, most)] });
    expect(await hold(most, [life])).toEqual({ isHeld: false, states: [state(0, most)] });
    expect(await settle(id, most - 2)).toBe('ended');
    expect(await at(life)).toEqual([most - 2, 0]);
    expect(await hold(3, [life])).toEqual({ isHeld: false, states: [state(most - 2, 0)] });
    const last = await held(1, [life]);
    expect(await at(life)).toEqual([most - 2, 1]);
    expect(await settle(last, 1)).toBe('ended');
    await add(life, 1);
    expect(await at(life)).toEqual([most, 0]);
    expect(await hold(1, [life])).toEqual({ isHeld: false, states: [state(most, 0)] });
    const day = limited('daily', most);
    await held(most - 4, [day]);
    expect(await hold(5, [day])).toEqual({ isHeld: false, states: [state(0, most - 4)] });
    expect(await hold(4, [day])).toEqual({ isHeld: true });
  });
}

function ends(bench: () => Bench): void {
  it.each([
    ['less than', 40],
    ['exactly', 100],
    ['more than', 170],
    ['nothing of', 0],
  ])('books %s what was held, in every window', async (_, actual) => {
    const { held, settle, read } = bench();
    const windows = [limited('daily', 100), limited('weekly', 100), limited('lifetime', 100, { account: 'key:abc' })];
    const id = await held(100, windows);
    expect(await settle(id, actual)).toBe('ended');
    expect(await read(windows)).toEqual(windows.map(() => state(actual, 0)));
  });
  it('frees what was not used for others, and refuses all where more was used', async () => {
    const { hold, held, settle } = bench();
    const day = limited('daily', 100);
    await settle(await held(100, [day]), 40);
    const id = await held(60, [day]);
    expect(await hold(1, [day])).toMatchObject({ isHeld: false });
    await settle(id, 61);
    expect(await hold(0, [day])).toEqual({ isHeld: false, states: [state(101, 0)] });
  });
  it('books once, though it be settled again, released, or settled after a release', async () => {
    const { held, settle, release, state: at } = bench();
    const day = limited('daily', 1_000);
    const first = await held(100, [day]);
    const other = await held(7, [day]);
    expect(await settle(first, 30)).toBe('ended');
    expect(await settle(first, 30)).toBe('repeated');
    expect(await settle(first, 55)).toBe('repeated');
    expect(await release(first)).toBe('repeated');
    expect(await at(day)).toEqual([30, 7]);
    expect(await release(other)).toBe('ended');
    expect(await release(other)).toBe('repeated');
    expect(await settle(other, 7)).toBe('repeated');
    expect(await at(day)).toEqual([30, 0]);
  });
  it('tells a hold that was settled from one that is lost, for a day', async () => {
    const { held, settle, state: at } = bench();
    const day = limited('daily', 1_000);
    const id = await held(100, [day]);
    expect(await settle(id, 30)).toBe('ended');
    // Others are settled meanwhile.
    for (let n = 0; n < 20; n++) await settle(await held(1, [day]), 1, noonMs + keepEndedMs - 1);
    expect(await settle(id, 30, noonMs + keepEndedMs - 1)).toBe('repeated');
    expect(await settle(randomUUID(), 30, noonMs + keepEndedMs - 1)).toBe('unknown');
    expect(await at(day)).toEqual([50, 0]);
  });
  it('knows nothing of a hold that was never made', async () => {
    const { settle, state: at } = bench();
    expect(await settle(randomUUID(), 5)).toBe('unknown');
    expect(await at(limited('daily', 1))).toEqual([0, 0]);
  });
  it('ends one hold and no other', async () => {
    const { held, settle, release, state: at } = bench();
    const day = limited('daily', 1_000);
    const [first, second, third] = [await held(1, [day]), await held(20, [day]), await held(300, [day])];
    expect(await settle(second, 10)).toBe('ended');
    expect(await at(day)).toEqual([10, 301]);
    expect(await release(third)).toBe('ended');
    expect(await at(day)).toEqual([10, 1]);
    expect(await settle(first, 1)).toBe('ended');
    expect(await at(day)).toEqual([11, 0]);
  });
  it('ends in the windows of the hold, not of another hold', async () => {
    const { held, settle, read } = bench();
    const [day, week] = [limited('daily', 100), limited('weekly', 100)];
    const both = await held(10, [day, week]);
    const one = await held(5, [week]);
    await settle(one, 4);
    expect(await read([day, week])).toEqual([state(0, 10), state(4, 10)]);
    await settle(both, 9);
    expect(await read([day, week])).toEqual([state(9, 0), state(13, 0)]);
  });
}

const sorted = (lost: readonly LostHold[]) => lost.toSorted((a, b) => (a.id < b.id ? -1 : 1));

function expires(bench: () => Bench, releasingBench: () => Bench): void {
  it('are charged at what was held, in every window', async () => {
    const { held, expire, read } = bench();
    const windows = [limited('daily', 100), limited('monthly', 100, { account: 'key:abc' })];
    await held(70, windows);
    expect(await expire(noonMs + leaseMs)).toBe(1);
    expect(await read(windows)).toEqual([state(70, 0), state(70, 0)]);
    expect(await expire(noonMs + leaseMs)).toBe(0);
  });
  it('are released where the ledger was told so', async () => {
    const { held, expire, read } = releasingBench();
    const windows = [limited('daily', 100), limited('monthly', 100, { account: 'key:abc' })];
    await held(70, windows);
    expect(await expire(noonMs + leaseMs)).toBe(1);
    expect(await read(windows)).toEqual([state(0, 0), state(0, 0)]);
  });
  it('expire at the end of the lease and not a millisecond before', async () => {
    const { held, expire, state: at } = bench();
    const day = limited('daily', 100);
    await held(10, [day], { leaseUntilMs: noonMs + 5_000 });
    await held(20, [day], { leaseUntilMs: noonMs + 6_000 });
    expect(await expire(noonMs + 4_999)).toBe(0);
    expect(await at(day, noonMs + 4_999)).toEqual([0, 30]);
    expect(await expire(noonMs + 5_000)).toBe(1);
    expect(await at(day, noonMs + 5_999)).toEqual([10, 20]);
  });
  it('expire before another is held', async () => {
    const { hold, held } = releasingBench();
    const day = limited('daily', 100);
    await held(100, [day]);
    expect(await hold(100, [day], { nowMs: noonMs + leaseMs - 1 })).toEqual({ isHeld: false, states: [state(0, 100)] });
    expect(await hold(100, [day], { nowMs: noonMs + leaseMs })).toEqual({ isHeld: true });
  });
  it('expire before a hold is refused', async () => {
    const { hold, held } = bench();
    const day = limited('daily', 100);
    await held(100, [day]);
    expect(await hold(1, [day], { nowMs: noonMs + leaseMs })).toEqual({ isHeld: false, states: [state(100, 0)] });
  });
  it('expire before windows are read, also those of which nothing is asked', async () => {
    const { held, state: at } = bench();
    const [day, week] = [limited('daily', 100), limited('weekly', 100)];
    await held(60, [day]);
    expect(await at(week, noonMs + leaseMs)).toEqual([0, 0]);
    expect(await at(day, noonMs)).toEqual([60, 0]);
  });
  it.each([
    ['less', 20],
    ['more', 95],
    ['as much', 70],
    ['nothing', 0],
  ])('are replaced by what a late settlement says: %s', async (_, actual) => {
    const { held, expire, settle, read } = bench();
    const windows = [limited('daily', 1_000), limited('lifetime', 1_000, { account: 'key:abc' })];
    await settle(await held(5, windows), 5);
    const id = await held(70, windows);
    await held(1, windows, { leaseUntilMs: noonMs + 10 * dayMs });
    await expire(noonMs + leaseMs);
    expect(await settle(id, actual, noonMs + leaseMs + keepEndedMs - 1)).toBe('late');
    expect(await read(windows)).toEqual([state(5 + actual, 1), state(5 + actual, 1)]);
    expect(await settle(id, actual, noonMs + leaseMs + keepEndedMs - 1)).toBe('repeated');
    expect(await read(windows)).toEqual([state(5 + actual, 1), state(5 + actual, 1)]);
  });
  it.each(['charge', 'release'])(
    'are listed for a day with what they cost, unless they are settled (%s)',
    async (mode) => {
      const { held, hold, lost, settle, release, add } = mode === 'charge' ? bench() : releasingBench();
      const day = limited('daily', 10_000);
      const charged = (nanoUsd: number) => (mode === 'charge' ? nanoUsd : 0);
      // As the gateway names them.
      const id = `hold-1-abc/${noonMs}/1/0/0/${'a'.repeat(64)}/gen-1`;
      const atMs = noonMs + leaseMs;
      const laterMs = atMs + 5_000;
      expect(await lost(0, noonMs)).toEqual([]);
      expect(await hold(70, [day], { id })).toEqual({ isHeld: true });
      const [second, third] = [await held(20, [day], { leaseUntilMs: laterMs }), await held(5, [day])];
      await release(await held(3, [day]));
      await settle(await held(4, [day]), 4);
      await add(day, 9);
      expect(await lost(0, atMs - 1)).toEqual([]);
      const first = { id, chargedNanoUsd: charged(70), expiredAtMs: atMs };
      expect(sorted(await lost(0, atMs))).toEqual(
        sorted([first, { id: third, chargedNanoUsd: charged(5), expiredAtMs: atMs }]),
      );
      expect(await release(third, atMs)).toBe('late');
      expect(await lost(0, atMs)).toEqual([first]);
      const last = { id: second, chargedNanoUsd: charged(20), expiredAtMs: laterMs };
      expect(sorted(await lost(atMs, laterMs))).toEqual(sorted([first, last]));
      expect(await lost(atMs + 1, laterMs)).toEqual([last]);
      expect(await settle(id, 1, laterMs)).toBe('late');
      expect(await lost(0, laterMs)).toEqual([last]);
      expect(await lost(0, laterMs + keepEndedMs)).toEqual([]);
    },
  );
  it('are booked by a late settlement where they had been released', async () => {
    const { held, expire, settle, state: at } = releasingBench();
    const day = limited('daily', 100);
    const id = await held(70, [day]);
    await expire(noonMs + leaseMs);
    expect(await settle(id, 30, noonMs + leaseMs)).toBe('late');
    expect(await at(day)).toEqual([30, 0]);
    expect(await settle(id, 30, noonMs + leaseMs)).toBe('repeated');
    expect(await at(day)).toEqual([30, 0]);
  });
  it.each(['charge', 'release'])('cost nothing after a late release (%s)', async (mode) => {
    const { hold, held, expire, release, settle, state: at } = mode === 'charge' ? bench() : releasingBench();
    const day = limited('daily', 100);
    const id = await held(70, [day]);
    await expire(noonMs + leaseMs);
    expect(await release(id, noonMs + leaseMs)).toBe('late');
    expect(await at(day)).toEqual([0, 0]);
    expect(await release(id, noonMs + leaseMs)).toBe('repeated');
    expect(await settle(id, 70, noonMs + leaseMs)).toBe('repeated');
    expect(await hold(70, [day], { id, nowMs: noonMs + leaseMs })).toMatchObject({ isHeld: false });
    expect(await at(day)).toEqual([0, 0]);
  });
  it('are settled as ever when nobody has noticed yet that the lease has run out', async () => {
    const { held, settle, expire, state: at } = bench();
    const day = limited('daily', 100);
    const id = await held(70, [day]);
    expect(await settle(id, 30, noonMs + leaseMs)).toBe('ended');
    expect(await expire(noonMs + leaseMs)).toBe(0);
    expect(await at(day)).toEqual([30, 0]);
  });
  it('do not expire while their lease is renewed', async () => {
    const { held, renew, expire, settle, state: at } = bench();
    const day = limited('daily', 1_000);
    const [first, second, third] = [await held(10, [day]), await held(200, [day]), await held(5, [day])];
    await renew([first, third], noonMs + 2 * leaseMs);
    expect(await expire(noonMs + leaseMs)).toBe(1);
    expect(await at(day, noonMs + 2 * leaseMs - 1)).toEqual([200, 15]);
    expect(await expire(noonMs + 2 * leaseMs)).toBe(2);
    expect(await settle(second, 1, noonMs + 2 * leaseMs)).toBe('late');
    expect(await at(day)).toEqual([16, 0]);
  });
  it('are not brought back by a renewal', async () => {
    const { held, renew, expire, state: at } = bench();
    const day = limited('daily', 100);
    const id = await held(10, [day]);
    await expire(noonMs + leaseMs);
    await renew([id], noonMs + 10 * leaseMs);
    expect(await at(day, noonMs + leaseMs)).toEqual([10, 0]);
    expect(await expire(noonMs + 20 * leaseMs)).toBe(0);
    expect(await at(day, noonMs + 20 * leaseMs)).toEqual([10, 0]);
  });
  it('renewing what is not there does no harm', async () => {
    const { hold, held, release, settle, renew, expire, state: at } = bench();
    const day = limited('daily', 100);
    const [settled, released, never] = [await held(10, [day]), await held(10, [day]), randomUUID() as string];
    await settle(settled, 10);
    await release(released);
    const there = await held(1, [day]);
    await renew([settled, released, never, there], noonMs + 2 * leaseMs);
    await renew([], noonMs + 2 * leaseMs);
    expect(await at(day)).toEqual([10, 1]);
    expect(await settle(never, 5)).toBe('unknown');
    expect(await hold(5, [day], { id: randomUUID() })).toEqual({ isHeld: true });
    expect(await expire(noonMs + leaseMs)).toBe(1);
  });
  it('expire in steps that are bounded, and nothing is lost between two', async () => {
    const { held, expire, state: at } = bench();
    const life = limited('lifetime', 1e9);
    const many = 2 * expireBatch + 50;
    await Promise.all(Array.from({ length: many }, () => held(3, [life])));
    await held(1_000, [life], { leaseUntilMs: noonMs + 10 * dayMs });
    expect(await at(life)).toEqual([0, many * 3 + 1_000]);
    let expired = 0;
    for (let ended = 1; ended > 0; expired += ended) {
      ended = await expire(noonMs + leaseMs);
      expect(ended).toBeLessThanOrEqual(expireBatch);
      const sum = (expired + ended) * 3;
      expect(await at(life, noonMs)).toEqual([sum, many * 3 + 1_000 - sum]);
    }
    expect(expired).toBe(many);
  });
  it('expire in batches while others hold and read', async () => {
    const { hold, held, state: at } = releasingBench();
    const life = limited('lifetime', 300);
    await Promise.all(Array.from({ length: 300 }, () => held(1, [life])));
    expect(await hold(200, [life], { nowMs: noonMs + leaseMs })).toEqual({ isHeld: true });
    expect(await at(life, noonMs + leaseMs - 1)).toEqual([0, 300]);
    expect(await at(life, noonMs + leaseMs)).toEqual([0, 200]);
  });
  it('expire in their own workspace only', async () => {
    const { held, state: at } = bench();
    const other = bench();
    const day = limited('daily', 100);
    await held(10, [day]);
    await other.held(20, [day]);
    expect(await other.expire(noonMs + leaseMs)).toBe(1);
    expect(await at(day)).toEqual([0, 10]);
    expect(await other.state(day)).toEqual([20, 0]);
  });
}

function windowsOfTime(bench: () => Bench): void {
  it('start anew when the interval is over, and keep what was', async () => {
    const { hold, held, settle, state: at } = bench();
    const [today, tomorrow] = [limited('daily', 100), limited('daily', 100, { atMs: noonMs + dayMs })];
    await settle(await held(100, [today]), 100);
    expect(await hold(1, [today])).toMatchObject({ isHeld: false });
    expect(await hold(100, [tomorrow], { nowMs: noonMs + dayMs })).toEqual({ isHeld: true });
    expect(await at(today)).toEqual([100, 0]);
    expect(await at(tomorrow)).toEqual([0, 100]);
  });
  it('book a hold of one day that is settled in the next in the first', async () => {
    const { held, settle, release, expire, read } = bench();
    const lateMs = windowOf('daily', noonMs).endMs! - 1;
    const soonMs = lateMs + 10_000;
    const [first, second] = [limited('daily', 100, { atMs: lateMs }), limited('daily', 100, { atMs: soonMs })];
    const settled = await held(40, [first], { nowMs: lateMs });
    const released = await held(30, [first], { nowMs: lateMs });
    await held(20, [first], { nowMs: lateMs });
    await settle(settled, 35, soonMs);
    await release(released, soonMs);
    expect(await expire(lateMs + leaseMs)).toBe(1);
    expect(await read([first, second])).toEqual([state(55, 0), state(0, 0)]);
  });
  it('of different intervals are apart, though they begin at the same instant', async () => {
    const { hold, held, settle, read } = bench();
    // A Monday that is the 1st of a month.
    const mondayMs = Date.UTC(2092, 8, 1);
    const of = (interval: Interval) => limited(interval, 10, { atMs: mondayMs });
    expect(new Set([of('daily').startMs, of('weekly').startMs, of('monthly').startMs])).toEqual(new Set([mondayMs]));
    await settle(await held(10, [of('weekly')], { nowMs: mondayMs }), 10, mondayMs);
    await held(4, [of('monthly')], { nowMs: mondayMs });
    expect(await hold(10, [of('daily')], { nowMs: mondayMs })).toEqual({ isHeld: true });
    expect(await read([of('daily'), of('weekly'), of('monthly'), of('lifetime')], mondayMs)).toEqual([
      state(0, 10),
      state(10, 0),
      state(0, 4),
      state(0, 0),
    ]);
  });
  it('are kept for 40 days after they have ended, a lifetime for ever', async () => {
    const { ledger, workspaceId, held, settle, add, expire, state: at } = bench();
    const [day, life] = [limited('daily', 100), limited('lifetime', 1e9)];
    await settle(await held(40, [day, life]), 33);
    await held(20, [day, life]);
    await expire(noonMs + leaseMs);
    const laterMs = day.endMs! + keepWindowsMs - 1;
    // Whatever clears up does it while others work.
    const busy = async (nowMs: number) => {
      const then = limited('daily', 100, { atMs: nowMs });
      await settle(await held(10, [then, life], { nowMs }), 10, nowMs);
      await add(then, 1, { nowMs });
      await ledger.release(workspaceId, randomUUID(), nowMs);
      await expire(nowMs);
    };
    await busy(laterMs);
    expect(await at(day, laterMs)).toEqual([53, 0]);
    await busy(noonMs + 400 * dayMs);
    expect(await at(life, noonMs + 400 * dayMs)).toEqual([73, 0]);
  });
  it('of different accounts never mix', async () => {
    const { hold, held, settle, read } = bench();
    const accounts = ['workspace', 'workspace:byok', 'key:abc', 'key:abc:byok', 'key:abcd'];
    const windows = accounts.map((account) => limited('daily', 100, { account }));
    for (const [index, window] of windows.entries()) await settle(await held(10, [window]), index + 1);
    expect(await read(windows)).toEqual(accounts.map((_, index) => state(index + 1, 0)));
    expect(await hold(99, windows)).toMatchObject({ isHeld: false });
    expect(await hold(95, windows)).toEqual({ isHeld: true });
  });
  it('of different workspaces never mix', async () => {
    const [one, two] = [bench(), bench()];
    const day = limited('daily', 100);
    const id = await one.held(100, [day]);
    expect(await two.hold(100, [day])).toEqual({ isHeld: true });
    expect(await two.settle(id, 50)).toBe('unknown');
    expect(await one.settle(id, 50)).toBe('ended');
    expect(await one.state(day)).toEqual([50, 0]);
    expect(await two.state(day)).toEqual([0, 100]);
  });
}

function additions(bench: () => Bench): void {
  it('take back what an earlier one has added, once', async () => {
    const { add, hold, state: at } = bench();
    const day = limited('daily', 100);
    await add(day, 100);
    const id = randomUUID();
    await add(day, -70, { id });
    await add(day, -70, { id });
    expect(await at(day)).toEqual([30, 0]);
    expect(await hold(70, [day])).toEqual({ isHeld: true });
  });
  it('book without a hold, and count against the limit', async () => {
    const { hold, add, state: at } = bench();
    const day = limited('daily', 100);
    await add(day, 60);
    await add(day, 30);
    expect(await at(day)).toEqual([90, 0]);
    expect(await hold(11, [day])).toEqual({ isHeld: false, states: [state(90, 0)] });
    expect(await hold(10, [day])).toEqual({ isHeld: true });
  });
  it('book once by id', async () => {
    const { add, state: at } = bench();
    const day = limited('daily', 100);
    const id = randomUUID();
    await Promise.all([add(day, 5, { id }), add(day, 5, { id })]);
    await add(day, 5, { id });
    await add(day, 5, { id, nowMs: noonMs + keepEndedMs - 1 });
    expect(await at(day)).toEqual([5, 0]);
    await add(day, 5);
    expect(await at(day)).toEqual([10, 0]);
  });
  it('book several sums at once, also into the same window', async () => {
    const { ledger, workspaceId, read } = bench();
    const windows = (['daily', 'weekly', 'monthly', 'lifetime'] as const).map((interval) => limited(interval, 0));
    const [day, week, month, life] = windows as unknown as [
      SpendingWindow,
      SpendingWindow,
      SpendingWindow,
      SpendingWindow,
    ];
    const sums = [
      { window: day, nanoUsd: 1 },
      { window: week, nanoUsd: 20 },
      { window: month, nanoUsd: 0 },
      { window: life, nanoUsd: 300 },
      { window: { ...day, account: 'key:abc' }, nanoUsd: 7 },
      { window: day, nanoUsd: 4 },
    ];
    await ledger.add(workspaceId, randomUUID(), sums, noonMs);
    await ledger.add(workspaceId, randomUUID(), [], noonMs);
    expect(await read([...windows, { ...day, account: 'key:abc' }])).toEqual([
      state(5, 0),
      state(20, 0),
      state(0, 0),
      state(300, 0),
      state(7, 0),
    ]);
  });
  it('book into a window that has ended', async () => {
    const { add, state: at } = bench();
    const day = limited('daily', 100);
    await add(day, 5, { nowMs: day.endMs! + 10 * dayMs });
    expect(await at(day)).toEqual([5, 0]);
  });
  it('do not touch what is held', async () => {
    const { add, held, settle, state: at } = bench();
    const day = limited('daily', 100);
    const id = await held(10, [day]);
    await add(day, 5);
    expect(await at(day)).toEqual([5, 10]);
    await settle(id, 3);
    expect(await at(day)).toEqual([8, 0]);
  });
  it('reading tells windows in the order asked, zeros of those that are not known', async () => {
    const { add, held, read } = bench();
    const [day, week, month] = [limited('daily', 100), limited('weekly', 100), limited('monthly', 100)];
    await add(week, 3);
    await held(2, [month]);
    expect(await read([day, week, month])).toEqual([state(0, 0), state(3, 0), state(0, 2)]);
    expect(await read([month, day, week])).toEqual([state(0, 2), state(0, 0), state(3, 0)]);
    expect(await read([week, week])).toEqual([state(3, 0), state(3, 0)]);
    expect(await read([])).toEqual([]);
  });
  it('forgetting a workspace leaves nothing of it, and all of others', async () => {
    const { ledger, workspaceId, add, held, expire, settle, read } = bench();
    const other = bench();
    const [day, life] = [limited('daily', 100), limited('lifetime', 100)];
    await add(day, 3);
    const open = await held(10, [day, life]);
    const expired = await held(10, [day, life], { leaseUntilMs: noonMs + 1 });
    await expire(noonMs + 1);
    await other.held(10, [day, life]);
    await other.add(life, 5);
    await ledger.forget(workspaceId);
    expect(await read([day, life])).toEqual([state(0, 0), state(0, 0)]);
    expect(await settle(open, 10)).toBe('unknown');
    expect(await settle(expired, 10)).toBe('unknown');
    expect(await expire(noonMs + leaseMs)).toBe(0);
    expect(await read([day, life])).toEqual([state(0, 0), state(0, 0)]);
    expect(await other.read([day, life])).toEqual([state(0, 10), state(5, 10)]);
    await settle(await held(100, [day, life]), 100);
    expect(await read([day, life])).toEqual([state(100, 0), state(100, 0)]);
    await ledger.forget(workspaceId);
    await ledger.forget(newWorkspace());
    expect(await read([day, life])).toEqual([state(0, 0), state(0, 0)]);
  });
}

function crowds(bench: () => Bench): void {
  it('of 200 that want the last cents exactly as many get them as fit', async () => {
    const { hold, held, settle, read } = bench();
    const windows = [
      limited('daily', 1_000),
      limited('lifetime', 1_000),
      limited('monthly', 1_000, { account: 'key:abc' }),
    ];
    await settle(await held(500, windows), 305);
    const outcomes = await Promise.all(Array.from({ length: 200 }, () => hold(10, windows)));
    expect(outcomes.filter(({ isHeld }) => isHeld)).toHaveLength(69);
    expect(await read(windows)).toEqual(windows.map(() => state(305, 690)));
  });
  it('what 200 settle at once is booked in full', async () => {
    const { held, settle, read } = bench();
    const windows = [limited('daily', 1e6), limited('weekly', 1e6)];
    const ids = await Promise.all(Array.from({ length: 200 }, () => held(100, windows)));
    const outcomes = await Promise.all(ids.flatMap((id, index) => [settle(id, index), settle(id, index)]));
    expect(outcomes.filter((outcome) => outcome === 'ended')).toHaveLength(200);
    expect(outcomes.filter((outcome) => outcome === 'repeated')).toHaveLength(200);
    expect(await read(windows)).toEqual(windows.map(() => state((199 * 200) / 2, 0)));
  });
  it('the same hold asked for many times at once is one hold', async () => {
    const { hold, state: at } = bench();
    const day = limited('daily', 15);
    const id = randomUUID();
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => hold(10, [day], { id })));
    expect(outcomes).toEqual(outcomes.map(() => ({ isHeld: true })));
    expect(await at(day)).toEqual([0, 10]);
  });
  it('a hold and its release at once leave nothing held', async () => {
    const { hold, release, state: at } = bench();
    const day = limited('daily', 1e6);
    const ids = Array.from({ length: 50 }, () => randomUUID() as string);
    await Promise.all(
      ids.flatMap((id, index) =>
        index % 2 === 0 ? [hold(10, [day], { id }), release(id)] : [release(id), hold(10, [day], { id })],
      ),
    );
    expect(await at(day)).toEqual([0, 0]);
  });
  it('expiring and settling at once books one of the two, and the settlement wins', async () => {
    const { held, settle, expire, state: at } = bench();
    const day = limited('daily', 1e6);
    const ids = await Promise.all(Array.from({ length: 60 }, () => held(100, [day])));
    const outcomes = await Promise.all(
      ids.flatMap((id, index) => {
        const end = settle(id, 7, noonMs + leaseMs);
        return index % 10 === 5 ? [expire(noonMs + leaseMs), end] : [end];
      }),
    );
    expect(outcomes).not.toContain('unknown');
    expect(await expire(noonMs + leaseMs)).toBe(0);
    expect(await at(day)).toEqual([60 * 7, 0]);
  });
  it('holds in opposite orders of windows do not lock each other out', async () => {
    const { hold, read } = bench();
    const windows = (['daily', 'weekly', 'monthly', 'lifetime'] as const).map((interval) => limited(interval, 1e6));
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, (_, index) => hold(10, index % 2 === 0 ? windows : windows.toReversed())),
    );
    expect(outcomes.every(({ isHeld }) => isHeld)).toBe(true);
    expect(await read(windows)).toEqual(windows.map(() => state(0, 600)));
  });
}
