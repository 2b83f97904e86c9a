import { Keyv } from 'keyv';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../../src/base/errors.ts';
import type { Ids } from '../../../../src/base/ids.ts';
import { windowOf } from '../../../../src/base/windows.ts';
import { memoryLedger } from '../../../../src/stores/ledger/memory.ts';
import { createSpending } from '../../../../src/stores/spending/create-spending.ts';
import type { Reservation } from '../../../../src/stores/spending/spending.ts';
import { chooseStorage } from '../../../../src/stores/storage/choose.ts';
import type { Storage } from '../../../../src/stores/storage/storage.ts';
import { manualClock, settle } from '../../../support/manual-clock.ts';
import { daily, noonMs, scopeOf, workspaceId } from './bench.ts';

const dayMs = 86_400_000;

/** Processes on one store. */
function bench() {
  const clock = manualClock(noonMs);
  const ledger = memoryLedger({ onLostHold: 'charge', now: () => clock.now() });
  const storage = chooseStorage(new Keyv(), { clock, timeoutMs: 250, onLostHold: 'charge' });
  const warnings: string[] = [];
  const logger = { info() {}, warn: (_: object, message: string) => void warnings.push(message) };
  let count = 0;
  const ids: Ids = { uuid: () => `id-${++count}` };
  const never = new Promise<never>(() => undefined);

  /** @param upMs  how much longer it runs than the others */
  function process(instance: string, upMs = 0) {
    let isCut = false;
    let slowMs = 0;
    let isFailing = false;
    let written = 0;
    const step =
      <Given extends unknown[], Result>(work: (...given: Given) => Promise<Result>) =>
      (...given: Given): Promise<Result> =>
        isCut ? never : work(...given);
    const own: Storage = {
      ...storage,
      async commit(changes) {
        if (slowMs > 0) await new Promise<void>((resolve) => clock.after(slowMs, resolve));
        if (isFailing) throw new GatewayError('unavailable', 'The store does not respond');
        if (changes.some(({ value }) => value !== null)) written++;
        return storage.commit(changes);
      },
    };
    const spending = createSpending({
      ledger: { ...ledger, settle: step(ledger.settle), add: step(ledger.add), renew: step(ledger.renew) },
      notes: { storage: own, instance: () => instance },
      clock: { ...clock, now: clock.now, monotonic: () => clock.monotonic() + upMs },
      ids,
      random: () => 0.5,
      logger,
    });
    return {
      spending,
      held: (amountNanoUsd: number) => spending.hold(scopeOf(daily(1_000)), amountNanoUsd) as Promise<Reservation>,
      /** From now on nothing that it books arrives: it has died. */
      die() {
        isCut = true;
      },
      takesToNote(ms: number) {
        slowMs = ms;
      },
      failsToNote() {
        isFailing = true;
      },
      written: () => written,
    };
  }

  const state = async (interval: 'daily' | 'monthly') => {
    const window = { account: 'workspace', interval, ...windowOf(interval, noonMs) };
    const [found] = await ledger.read(workspaceId, [window]);
    return [found?.spentNanoUsd, found?.heldNanoUsd];
  };
  /** Spent in a limited window, and in one without a limit; held; notes. */
  const books = async () => {
    const [[limited, held], [free]] = [await state('daily'), await state('monthly')];
    const { total: notes } = await storage.list(workspaceId, 'booking', { offset: 0, limit: 0 });
    return { limited, free, held, notes };
  };
  return { clock, ledger, process, books, warnings };
}

const cost = (nanoUsd: number) => ({ nanoUsd, byokNanoUsd: 0 });
const leaseMs = 60_000;

describe('what a call books', () => {
  it('is noted before it is sent, and the note goes within a second after all of it was booked', async () => {
    const { clock, process, books } = bench();
    const one = process('a');
    const reservation = await one.held(60);
    one.takesToNote(20);
    reservation.settle(cost(10));
    await clock.advance(19);
    expect(await books()).toEqual({ limited: 0, free: 0, held: 60, notes: 0 });
    await clock.advance(1);
    expect(await books()).toEqual({ limited: 10, free: 10, held: 0, notes: 1 });
    await clock.advance(1_020);
    expect(await books()).toEqual({ limited: 10, free: 10, held: 0, notes: 0 });
    expect(clock.pending).toBe(0);
  });

  it('is booked all the same where it cannot be noted', async () => {
    const { process, books } = bench();
    const one = process('a');
    const reservation = await one.held(60);
    one.failsToNote();
    reservation.settle(cost(10));
    await settle();
    expect(await books()).toEqual({ limited: 10, free: 10, held: 0, notes: 0 });
  });

  it('is noted together with all that comes while a note is being written, and for some milliseconds after it', async () => {
    const { clock, process, books } = bench();
    const one = process('a');
    const reservations = await Promise.all(Array.from({ length: 10 }, () => one.held(60)));
    one.takesToNote(20);
    reservations.pop()?.settle(cost(10));
    await settle();
    for (const reservation of reservations) {
      reservation.settle(cost(10));
      await clock.advance(2);
    }
    expect(one.written()).toBe(0);
    await clock.advance(2);
    expect([one.written(), await books()]).toEqual([1, { limited: 10, free: 10, held: 540, notes: 1 }]);
    await clock.advance(19);
    expect(one.written()).toBe(1);
    await clock.advance(21);
    expect([one.written(), await books()]).toMatchObject([2, { limited: 100, free: 100, held: 0 }]);
  });

  it('does not keep a hold from what is settled, though its note is being written', async () => {
    const { clock, process } = bench();
    const one = process('a');
    const reservation = await one.held(1_000);
    one.takesToNote(20);
    reservation.settle(cost(10));
    expect(await clock.until(one.held(990))).toMatchObject({ nanoUsd: 990 });
  });
});

describe('of a process that died after it had noted what it books', () => {
  async function died() {
    const { clock, ledger, process, books, warnings } = bench();
    const [first, second, third] = [process('a'), process('b', 10 * dayMs), process('c')];
    const reservation = await first.held(60);
    first.die();
    reservation.settle(cost(10));
    await settle();
    expect(await books()).toEqual({ limited: 0, free: 0, held: 60, notes: 1 });
    return { clock, ledger, first, second, third, books, warnings };
  }

  it('another books it, once, though two find it at the same time', async () => {
    const { clock, second, third, books, warnings } = await died();
    await second.spending.bookLost(workspaceId);
    // It may still live.
    expect(await books()).toMatchObject({ limited: 0, notes: 1 });
    await clock.advance(2_000);
    await Promise.all([second.spending.bookLost(workspaceId), third.spending.bookLost(workspaceId)]);
    expect(await books()).toEqual({ limited: 10, free: 10, held: 0, notes: 0 });
    expect(warnings).toContain('bookings of another process were sent again');
    await third.spending.bookLost(workspaceId);
    await clock.advance(2 * leaseMs);
    await third.spending.bookLost(workspaceId);
    expect(await books()).toEqual({ limited: 10, free: 10, held: 0, notes: 0 });
  });

  it('its true cost replaces what was charged when its lease ended', async () => {
    const { clock, second, books } = await died();
    await clock.advance(leaseMs);
    expect(await books()).toEqual({ limited: 60, free: 0, held: 0, notes: 1 });
    await second.spending.bookLost(workspaceId);
    await settle();
    expect(await books()).toEqual({ limited: 10, free: 10, held: 0, notes: 0 });
  });

  it('it is booked also where the store has lost the hold, by a process that runs for days', async () => {
    const { clock, ledger, second, books, warnings } = await died();
    await clock.advance(2_000);
    await ledger.forget(workspaceId);
    await second.spending.bookLost(workspaceId);
    await settle();
    expect(await books()).toMatchObject({ limited: 10, held: 0 });
    expect(warnings).toContain('the store has lost a hold; its cost is booked again');
  });

  it('nothing is booked more than a day later: the ledger may have forgotten that it was', async () => {
    const { clock, second, books, warnings } = await died();
    await clock.advance(dayMs);
    await second.spending.bookLost(workspaceId);
    expect(await books()).toMatchObject({ limited: 60, notes: 0 });
    expect(warnings).toContain('bookings of more than a day ago are not sent again');
  });

  it('no note stays where its workspace is deleted', async () => {
    const { second, books } = await died();
    await second.spending.forget(workspaceId);
    expect(await books()).toMatchObject({ notes: 0 });
  });
});
