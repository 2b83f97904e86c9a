import { andThen } from '../../base/and-then.ts';
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
import type { Outbox } from './outbox.ts';
import type { BookingObserver } from './spending.ts';

/** The holds in the ledger, from the request for a hold to its confirmed end. */
export interface Holds {
  /**
   * Returns no promise when the ledger returns none.
   * @returns the states of the windows if the hold does not fit
   * @throws the ledger's error; if the hold was made all the same, it is released
   */
  take(workspaceId: WorkspaceId, windows: readonly LimitedWindow[], amountNanoUsd: number): Taken | Promise<Taken>;
  /** Books the cost of a hold and frees the remainder. Returns at once; the outbox sends the booking to the ledger. */
  end(hold: Hold, actualNanoUsd: number): void;
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
  /** Deleted workspaces. */
  forgotten: ReadonlySet<WorkspaceId>;
  /** Is told what the store has booked; absent: nobody wants to know. */
  observer?: BookingObserver | null | undefined;
}

export function createHolds({ ledger, clock, ids, outbox, heartbeat, ...settings }: HoldsDeps): Holds {
  const { logger, leaseMs, forgotten, observer } = settings;
  const steps = requestSteps(ledger);

  function ask(
    workspaceId: WorkspaceId,
    windows: readonly LimitedWindow[],
    amountNanoUsd: number,
  ): Taken | Promise<Taken> {
    const nowMs = clock.now();
    const id = holdId(ids, nowMs);
    const onOutcome = (outcome: HoldOutcome): Taken => {
      outbox.wake();
      if (!outcome.isHeld) return outcome.states;
      heartbeat.add(workspaceId, id);
      return { id, workspaceId, windows, nanoUsd: amountNanoUsd, sinceMs: nowMs };
    };
    const outcome = steps.hold({ id, workspaceId, amountNanoUsd, windows, leaseMs });
    if (!(outcome instanceof Promise)) return onOutcome(outcome);
    return outcome.then(onOutcome, (error: unknown) => {
      releaseUnknown(workspaceId, id, error);
      throw error;
    });
  }

  /** The hold may have been made, or may still arrive. The release counts before and after the hold. */
  function releaseUnknown(workspaceId: WorkspaceId, id: string, error: unknown): void {
    if (wasNotSent(error)) return;
    outbox.deliver({
      workspaceId,
      kind: 'release',
      send: async () => void (await ledger.release(workspaceId, id)),
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
      writeLog(logger, 'warn', fields, 'a hold expired before it was settled; its actual cost is booked now');
      return;
    }
    if (outcome !== 'unknown') return;
    // The store remembers what was settled. So this hold is lost, for example in a failover, and perhaps an earlier
    // settlement of it.
    if (actualNanoUsd === 0 || forgotten.has(workspaceId)) return;
    if (clock.now() - sinceMs >= keepEndedMs) {
      writeLog(logger, 'warn', fields, 'a hold of more than a day is not known any more; its cost is not booked again');
      return;
    }
    writeLog(logger, 'warn', fields, 'the store has lost a hold; its cost is booked again');
    const additions = windows.map((window) => ({ window, nanoUsd: actualNanoUsd }));
    outbox.deliver({
      workspaceId,
      kind: 'addition',
      // The id of the hold: whoever books for this hold again books nothing.
      send: () => ledger.add(workspaceId, id, additions),
    });
  }

  return {
    take(workspaceId, windows, amountNanoUsd) {
      const again = (first: Taken): Taken | Promise<Taken> => {
        if (isHold(first)) return first;
        // Holds of earlier calls may still be held, because their settlements are on the way to the store. Wait for
        // those.
        const inFlight = outbox.inFlight(workspaceId);
        return inFlight ? inFlight.then(() => ask(workspaceId, windows, amountNanoUsd)) : first;
      };
      return andThen(ask(workspaceId, windows, amountNanoUsd), again);
    },
    end(hold, actualNanoUsd) {
      const { workspaceId, id } = hold;
      outbox.deliver({
        workspaceId,
        kind: 'settlement',
        send: () => settle(hold, actualNanoUsd),
        // Until then the lease is renewed, so that the hold still exists when the store comes back.
        end: () => heartbeat.remove(workspaceId, id),
      });
    },
  };
}

export function isHold(taken: Taken): taken is Hold {
  return !Array.isArray(taken);
}
