import { andThen } from '../../base/and-then.ts';
import type { Clock } from '../../base/clock.ts';
import { GatewayError } from '../../base/errors.ts';
import type { Ids } from '../../base/ids.ts';
import { type Interval, intervals, windowOf } from '../../base/windows.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { Ledger, WindowState } from '../ledger/ledger.ts';
import type { StoreLogger } from '../storage/logger.ts';
import { createHeartbeat } from './heartbeat.ts';
import { createHolds, isHold } from './holds.ts';
import { createOutbox } from './outbox.ts';
import { refuse } from './refuse.ts';
import { FreeReservation, LimitedReservation } from './reservation.ts';
import type { BookingObserver, HoldScope, ReservationOutcome, Spending } from './spending.ts';
import { createUsageCounter } from './usage-counter.ts';
import { type Limited, rememberLimits } from './windows.ts';

export interface SpendingDeps {
  /** A guarded ledger: spending itself sets no time limit for its calls. */
  ledger: Ledger;
  clock: Clock;
  ids: Ids;
  /** In [0, 1). */
  random: () => number;
  /** null: no logging. */
  logger?: StoreLogger | null;
  /** A hold is lost when its process sends no renewal for this time, in ms. Default 60,000. */
  leaseMs?: number;
  /** How long spending without a limit is collected before it is sent to the store, in ms. Default 1,000. */
  flushMs?: number;
  /** The longest time that `close` waits, in ms. Default 2,000. */
  drainMs?: number;
  /** Is told what the store has booked; absent: nobody wants to know. */
  observer?: BookingObserver | null | undefined;
  /** How long a booking is sent again if the store does not accept it, in ms. Default a day. */
  giveUpMs?: number;
}

/** The number of remembered deleted workspaces: their calls may still be in flight. Their ids are never used again. */
const maxForgotten = 1_000;

export function createSpending({
  ledger,
  clock,
  ids,
  random,
  logger = null,
  leaseMs = 60_000,
  flushMs = 1_000,
  drainMs = 2_000,
  giveUpMs = 86_400_000,
  observer = null,
}: SpendingDeps): Spending {
  const forgotten = new Set<WorkspaceId>();
  const outbox = createOutbox({ clock, random, logger, giveUpMs });
  const heartbeat = createHeartbeat(ledger, clock, leaseMs, logger);
  const holds = createHolds({ ledger, clock, ids, outbox, heartbeat, logger, leaseMs, forgotten, observer });
  const usageCounter = createUsageCounter({ ledger, clock, ids, outbox, flushMs, forgotten });
  const limitedIn = rememberLimits();
  const books = { holds, usageCounter, logger };
  let isClosed = false;

  function take(
    scope: HoldScope,
    limited: Limited,
    amountNanoUsd: number,
  ): ReservationOutcome | Promise<ReservationOutcome> {
    return andThen(holds.take(scope.workspaceId, limited.windows, amountNanoUsd), (taken) =>
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
      // Spending from the time before there was a limit.
      const unsent = usageCounter.flushFor(scope, limited);
      return unsent ? unsent.then(() => take(scope, limited, amountNanoUsd)) : take(scope, limited, amountNanoUsd);
    },
    async preview(scope) {
      const { windows } = limitedIn(scope);
      if (windows.length === 0) return { windows: [], refusalOf: () => null };
      const { workspaceId } = scope;
      await Promise.all([outbox.inFlight(workspaceId), usageCounter.flush(workspaceId)]);
      const states = await ledger.read(workspaceId, windows);
      const standing = windows.map((window, at) => ({ ...window, ...(states[at] as WindowState) }));
      const isShort = (amountNanoUsd: number) =>
        standing.some((one) => one.spentNanoUsd + one.heldNanoUsd + amountNanoUsd > one.limitNanoUsd);
      return {
        windows: standing,
        refusalOf: (amountNanoUsd) => (isShort(amountNanoUsd) ? refuse(windows, states, amountNanoUsd) : null),
      };
    },
    async read(workspaceId, account, nowMs) {
      await Promise.all([outbox.inFlight(workspaceId), usageCounter.flush(workspaceId)]);
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
      usageCounter.forget(workspaceId);
      outbox.forget(workspaceId);
      await ledger.forget(workspaceId);
    },
    flush: () => usageCounter.flushAll(),
    state: () => ({ holds: heartbeat.count(), waitingBookings: outbox.waiting() }),
    async close() {
      isClosed = true;
      // Not awaited here: its bookings go through the outbox, and `drain` waits for them.
      void usageCounter.close();
      // Calls that were just cut off settle in a moment.
      await outbox.drain(drainMs, heartbeat.whenIdle());
      heartbeat.stop();
    },
  };
}
