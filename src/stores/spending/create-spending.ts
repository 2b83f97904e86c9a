import { andThen } from '../../base/async/and-then.ts';
import type { Clock } from '../../base/clock.ts';
import { GatewayError } from '../../base/errors.ts';
import type { Ids } from '../../base/ids.ts';
import { type Interval, intervals, windowOf } from '../../base/windows.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { Ledger, LedgerOptions, WindowState } from '../ledger/ledger.ts';
import type { StoreLogger } from '../storage/logger.ts';
import type { Storage } from '../storage/storage.ts';
import { type BookingLog, createBookingLog } from './booking-log.ts';
import { createHeartbeat } from './heartbeat.ts';
import { isHold } from './hold.ts';
import { createHolds } from './holds.ts';
import { createLostHolds } from './lost-holds.ts';
import { createOutbox } from './outbox.ts';
import { refuse } from './refuse.ts';
import { FreeReservation, LimitedReservation } from './reservation.ts';
import type { BookingObserver, HoldScope, ReservationOutcome, Spending } from './spending.ts';
import { createUsageCounter, type SendSums } from './usage-counter.ts';
import { type Limited, rememberLimits } from './windows.ts';

export interface SpendingDeps {
  /** A guarded ledger: spending itself sets no time limit for its calls. */
  ledger: Ledger;
  /**
   * The store of notes of bookings, guarded as well. Absent: bookings that are not sent yet are lost with this process.
   */
  notes?: { storage: Storage; instance: () => string } | null;
  clock: Clock;
  ids: Ids;
  /** In [0, 1). */
  random: () => number;
  /** null: no logging. */
  logger?: StoreLogger | null;
  /** The time in ms without a renewal after which a hold is lost. Default 60,000. */
  leaseMs?: number;
  /** The time in ms for which spending without a limit is collected before it is sent to the store. Default 1,000. */
  flushMs?: number;
  /** The fate of lost holds in the ledger. Default: they are charged. */
  onLostHold?: LedgerOptions['onLostHold'];
  /**
   * true: holds are made out of slices where requests come often. Only with `notes`, on a ledger that has `draw`, and
   * where lost holds are charged: else each request is held by itself.
   */
  escrow?: boolean;
  /** The longest time that `close` waits, in ms. Default 2,000. */
  drainMs?: number;
  /** Called with the bookings that the store has accepted; absent: no observer. */
  observer?: BookingObserver | null | undefined;
  /** The time in ms for which a booking is sent again if the store does not accept it. Default a day. */
  giveUpMs?: number;
}

/**
 * The number of deleted workspaces that are remembered: their calls may still be in flight. Their ids are never used
 * again.
 */
const maxForgotten = 1_000;

export function createSpending({
  ledger,
  notes = null,
  clock,
  ids,
  random,
  logger = null,
  leaseMs = 60_000,
  onLostHold = 'charge',
  flushMs = 1_000,
  escrow: isEscrow = false,
  drainMs = 2_000,
  giveUpMs = 86_400_000,
  observer = null,
}: SpendingDeps): Spending {
  const forgotten = new Set<WorkspaceId>();
  const outbox = createOutbox({ clock, random, logger, giveUpMs });
  const heartbeat = createHeartbeat(ledger, clock, leaseMs, logger, (...renewed) => holds.escrow?.renewed(...renewed));
  /** Sends the notes of other processes, and waits for the bookings that come of them. */
  const recover = async (workspaceId: WorkspaceId) => {
    await log?.recover(workspaceId);
    await outbox.inFlight(workspaceId);
  };
  const isCharged = onLostHold === 'charge';
  const lostHolds = createLostHolds({ ledger, clock, logger, leaseMs, isCharged, recover });
  const bookingsInFlight = (workspaceId: WorkspaceId) => {
    // Not all that is sent comes from the log: slices give back what is free without a note.
    const [noted, sent] = [log?.inFlight(workspaceId) ?? null, outbox.inFlight(workspaceId)];
    return noted && sent ? Promise.all([noted, sent]) : (noted ?? sent);
  };
  const holds = createHolds({
    ledger,
    clock,
    ids,
    outbox,
    heartbeat,
    lostHolds,
    logger,
    leaseMs,
    forgotten,
    observer,
    bookingsInFlight,
    isEscrow: isEscrow && notes !== null && ledger.draw !== undefined && isCharged,
  });
  const { escrow } = holds;
  const sendSums: SendSums = (workspaceId, { id, additions }, end) =>
    outbox.deliver({ workspaceId, kind: 'addition', send: () => ledger.add(workspaceId, id, additions), end });
  const flushTogether = notes && ((workspaceId: WorkspaceId) => (log as BookingLog).flush(workspaceId));
  const usageCounter = createUsageCounter({ clock, ids, send: sendSums, flushTogether, flushMs, forgotten });
  const log: BookingLog | null =
    notes && createBookingLog({ ...notes, clock, logger, holds, usageCounter, sendSums, flushMs });
  const limitedIn = rememberLimits();
  const books = { holds, usageCounter, log, logger };
  let isClosed = false;

  /** Resolves when all bookings and sums of this process were sent once. */
  async function arrived(workspaceId: WorkspaceId): Promise<void> {
    await Promise.all([bookingsInFlight(workspaceId), usageCounter.flush(workspaceId)]);
  }

  function take(
    scope: HoldScope,
    limited: Limited,
    amountNanoUsd: number,
  ): ReservationOutcome | Promise<ReservationOutcome> {
    return andThen(holds.take(scope, limited, amountNanoUsd), (taken) =>
      isHold(taken)
        ? new LimitedReservation(scope, limited, taken, books)
        : refuse(limited.windows, taken, amountNanoUsd),
    );
  }

  return {
    hold(scope, amountNanoUsd) {
      if (scope.keyLimit === null && scope.budgets.length === 0) return new FreeReservation(scope, books);
      const limited = limitedIn(scope);
      if (isClosed) throw new GatewayError('unavailable', 'The gateway is closing', { retryAfterMs: 1_000 });
      // Sends the sums from the time before there was a limit.
      const unsent = usageCounter.flushFor(scope, limited);
      return unsent ? unsent.then(() => take(scope, limited, amountNanoUsd)) : take(scope, limited, amountNanoUsd);
    },
    async preview(scope) {
      const { windows } = limitedIn(scope);
      if (windows.length === 0) return { windows: [], refusalOf: () => null };
      const { workspaceId } = scope;
      await arrived(workspaceId);
      const read = await ledger.read(workspaceId, windows);
      const states = escrow?.withoutFree(workspaceId, windows, read) ?? read;
      const standing = windows.map((window, at) => ({ ...window, ...(states[at] as WindowState) }));
      const isShort = (amountNanoUsd: number) =>
        standing.some((one) => one.spentNanoUsd + one.heldNanoUsd + amountNanoUsd > one.limitNanoUsd);
      return {
        windows: standing,
        refusalOf: (amountNanoUsd) => (isShort(amountNanoUsd) ? refuse(windows, states, amountNanoUsd) : null),
      };
    },
    async read(workspaceId, account, nowMs) {
      await arrived(workspaceId);
      await lostHolds.look(workspaceId);
      const windows = intervals.map((interval) => ({ account, interval, ...windowOf(interval, nowMs) }));
      const states = await ledger.read(workspaceId, windows);
      return Object.fromEntries(intervals.map((interval, at) => [interval, states[at]])) as Record<
        Interval,
        WindowState
      >;
    },
    async forget(workspaceId) {
      forgotten.add(workspaceId);
      const [oldest] = forgotten;
      if (forgotten.size > maxForgotten) forgotten.delete(oldest as WorkspaceId);
      heartbeat.forget(workspaceId);
      escrow?.forget(workspaceId);
      usageCounter.forget(workspaceId);
      lostHolds.forget(workspaceId);
      outbox.forget(workspaceId);
      await log?.forget(workspaceId);
      await ledger.forget(workspaceId);
    },
    flush: () => usageCounter.flushAll(),
    async sendAll() {
      await Promise.all([usageCounter.flushAll(), log?.pending.flush()]);
      await outbox.allInFlight();
    },
    bookLost: lostHolds.look,
    recordLost: lostHolds.record,
    pending: log?.pending ?? null,
    state() {
      const { slices, holds: inSlices } = escrow?.count() ?? { slices: 0, holds: 0 };
      return { holds: heartbeat.count() - slices + inSlices, waitingBookings: outbox.waiting() };
    },
    async close() {
      isClosed = true;
      escrow?.close();
      // Not awaited here: its bookings go through the outbox, and `drain` waits for them.
      void usageCounter.close();
      // Calls that were just cut off settle in a moment.
      const isIdle = heartbeat.whenIdle();
      await outbox.drain(drainMs, log ? Promise.all([isIdle, log.pending.flush()]).then(() => undefined) : isIdle);
      await log?.close();
      heartbeat.stop();
      lostHolds.stop();
    },
  };
}
