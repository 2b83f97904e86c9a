import { andThen } from '../../base/async/and-then.ts';
import type { Clock } from '../../base/clock.ts';
import { holdId, type Ids } from '../../base/ids.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import {
  type EndOutcome,
  type HoldOutcome,
  keepEndedMs,
  type Ledger,
  type LimitedWindow,
  type WindowState,
} from '../ledger/ledger.ts';
import { requestSteps } from '../ledger/memory.ts';
import { wasNotSent } from '../storage/circuit.ts';
import { type StoreLogger, writeLog } from '../storage/logger.ts';
import type { Heartbeat } from './heartbeat.ts';
import { ownedHoldId } from './hold-owner.ts';
import type { LostHolds } from './lost-holds.ts';
import type { Outbox } from './outbox.ts';
import type { BookingObserver, HoldScope } from './spending.ts';
import type { Limited } from './windows.ts';

/** The holds in the ledger, from the request for a hold to its confirmed end. */
export interface Holds {
  /**
   * Returns no promise when the ledger returns none.
   * @returns the states of the windows if the hold does not fit
   * @throws the ledger's error; if the hold was made all the same, it is released
   */
  take(scope: HoldScope, limited: Limited, amountNanoUsd: number): Taken | Promise<Taken>;
  /**
   * Books the cost of a hold and frees the remainder. The outbox sends the booking until the ledger accepts it.
   * @param onEnd  called with true when the ledger has accepted the booking, with false when the booking was given up
   * @returns resolves after the first attempt, with success or not; no promise if the ledger accepted at once
   */
  end(hold: Hold, actualNanoUsd: number, onEnd?: (isTaken: boolean) => void): void | Promise<void>;
}

/** The hold, or the states of the windows into which it does not fit. */
export type Taken = Hold | WindowState[];

export interface Hold {
  id: string;
  workspaceId: WorkspaceId;
  windows: readonly LimitedWindow[];
  nanoUsd: number;
  sinceMs: number;
}

export interface HoldsDeps {
  ledger: Ledger;
  clock: Clock;
  ids: Ids;
  outbox: Outbox;
  heartbeat: Heartbeat;
  logger: StoreLogger | null;
  leaseMs: number;
  lostHolds: Pick<LostHolds, 'used' | 'settledLate'>;
  /** Resolves when the bookings of a workspace that are being sent have arrived or failed; null: there are none. */
  bookingsInFlight: (workspaceId: WorkspaceId) => Promise<unknown> | null;
  /** Deleted workspaces. */
  forgotten: ReadonlySet<WorkspaceId>;
  /** Called with the bookings that the store has accepted; absent: no observer. */
  observer?: BookingObserver | null | undefined;
}

export function createHolds({ ledger, clock, ids, outbox, heartbeat, ...settings }: HoldsDeps): Holds {
  const { logger, leaseMs, lostHolds, forgotten, observer, bookingsInFlight } = settings;
  const steps = requestSteps(ledger);

  function ask(scope: HoldScope, limited: Limited, amountNanoUsd: number): Taken | Promise<Taken> {
    const { workspaceId } = scope;
    const { windows } = limited;
    const nowMs = clock.now();
    const id = ownedHoldId(holdId(ids, nowMs), scope, limited);
    const onOutcome = (outcome: HoldOutcome): Taken => {
      outbox.wake();
      if (!outcome.isHeld) return outcome.states;
      heartbeat.add(workspaceId, id);
      if (scope.callId !== undefined) lostHolds.used(workspaceId);
      return { id, workspaceId, windows, nanoUsd: amountNanoUsd, sinceMs: clock.monotonic() };
    };
    const outcome = steps.hold({ id, workspaceId, amountNanoUsd, windows, leaseMs });
    if (!(outcome instanceof Promise)) return onOutcome(outcome);
    return outcome.then(onOutcome, (error: unknown) => {
      releaseUnknown(workspaceId, id, amountNanoUsd, error);
      throw error;
    });
  }

  /** Releases a hold that may have been made, or may still arrive. The release works before and after the hold. */
  function releaseUnknown(workspaceId: WorkspaceId, id: string, heldNanoUsd: number, error: unknown): void {
    if (wasNotSent(error)) return;
    outbox.deliver({
      workspaceId,
      kind: 'release',
      send: async () => {
        const outcome = await ledger.release(workspaceId, id);
        if (outcome === 'late' || outcome === 'repeated') takeBack(workspaceId, id, heldNanoUsd);
      },
    });
  }

  /**
   * Takes back what was booked beside the ledger's charge for an expired hold. Nothing changes if the hold has not
   * expired. So this may also follow a repeated end, where nobody knows whether the first was late.
   */
  function takeBack(workspaceId: WorkspaceId, id: string, heldNanoUsd: number): void {
    outbox.deliver({
      workspaceId,
      kind: 'addition',
      send: () => lostHolds.settledLate(workspaceId, id, heldNanoUsd),
    });
  }

  function settle(hold: Hold, actualNanoUsd: number): void | Promise<void> {
    const outcome = steps.settle(hold.workspaceId, hold.id, actualNanoUsd);
    return andThen(outcome, (ended) => settled(hold, actualNanoUsd, ended));
  }

  function settled(hold: Hold, actualNanoUsd: number, outcome: EndOutcome): void {
    const { id, workspaceId, windows, sinceMs } = hold;
    const fields = { workspaceId, hold: id, actualNanoUsd };
    if (observer && actualNanoUsd > 0) observer.booked(workspaceId, windows);
    if (outcome === 'late') {
      takeBack(workspaceId, id, hold.nanoUsd);
      writeLog(logger, 'warn', fields, 'a hold expired before it was settled; its actual cost is booked now');
      return;
    }
    if (outcome === 'repeated') takeBack(workspaceId, id, hold.nanoUsd);
    if (outcome !== 'unknown') return;
    // The store remembers settled holds. So this hold is lost, for example in a failover, and perhaps with an earlier
    // settlement of it.
    if (actualNanoUsd === 0 || forgotten.has(workspaceId)) return;
    if (clock.monotonic() - sinceMs >= keepEndedMs) {
      writeLog(logger, 'warn', fields, 'a hold of more than a day is not known any more; its cost is not booked again');
      return;
    }
    writeLog(logger, 'warn', fields, 'the store has lost a hold; its cost is booked again');
    const additions = windows.map((window) => ({ window, nanoUsd: actualNanoUsd }));
    outbox.deliver({
      workspaceId,
      kind: 'addition',
      // The id of the hold: another process that books for this hold books nothing.
      send: () => ledger.add(workspaceId, id, additions),
    });
  }

  return {
    take(scope, limited, amountNanoUsd) {
      const again = (first: Taken): Taken | Promise<Taken> => {
        if (isHold(first)) return first;
        // Earlier calls may still hold money, because their settlements are on the way to the store. Wait for those.
        const inFlight = bookingsInFlight(scope.workspaceId);
        return inFlight ? inFlight.then(() => ask(scope, limited, amountNanoUsd)) : first;
      };
      return andThen(ask(scope, limited, amountNanoUsd), again);
    },
    end(hold, actualNanoUsd, onEnd) {
      const { workspaceId, id } = hold;
      return outbox.deliver({
        workspaceId,
        kind: 'settlement',
        send: () => settle(hold, actualNanoUsd),
        // The heartbeat renews the lease until then, so that the hold still exists when the store comes back.
        end(isTaken) {
          heartbeat.remove(workspaceId, id);
          onEnd?.(isTaken);
        },
      });
    },
  };
}

export function isHold(taken: Taken): taken is Hold {
  return !Array.isArray(taken);
}
