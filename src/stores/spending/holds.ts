import { andThen } from '../../base/and-then.ts';
import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
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

/** Holds in the ledger, from the first question to the confirmed end. */
export interface Holds {
  /**
   * Without a promise where the ledger answers without one.
   * @returns how the windows stand when it does not fit
   * @throws what the ledger threw; a hold that was made all the same is released
   */
  take(workspaceId: WorkspaceId, windows: readonly LimitedWindow[], amountNanoUsd: number): Taken | Promise<Taken>;
  /** Books what was spent of a hold and frees the rest. Returns at once; the ledger hears of it in time. */
  end(hold: Hold, actualNanoUsd: number): void;
}

/** The hold, or how the windows stand in which it does not fit. */
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
  /** Workspaces that are no more. */
  forgotten: ReadonlySet<WorkspaceId>;
}

export function createHolds({ ledger, clock, ids, outbox, heartbeat, ...rest }: HoldsDeps): Holds {
  const { logger, leaseMs, forgotten } = rest;
  const steps = requestSteps(ledger);

  function ask(
    workspaceId: WorkspaceId,
    windows: readonly LimitedWindow[],
    amountNanoUsd: number,
  ): Taken | Promise<Taken> {
    const id = ids.uuid();
    const nowMs = clock.now();
    const answered = (outcome: HoldOutcome): Taken => {
      outbox.wake();
      if (!outcome.isHeld) return outcome.states;
      heartbeat.add(workspaceId, id);
      return { id, workspaceId, windows, nanoUsd: amountNanoUsd, sinceMs: nowMs };
    };
    const request = { id, workspaceId, amountNanoUsd, windows, nowMs, leaseUntilMs: nowMs + leaseMs };
    const outcome = steps.hold(request);
    if (!(outcome instanceof Promise)) return answered(outcome);
    return outcome.then(answered, (error: unknown) => {
      releaseUnknown(workspaceId, id, error);
      throw error;
    });
  }

  /** It may have been made, or will be: the release is then what comes first or last, and either way it counts. */
  function releaseUnknown(workspaceId: WorkspaceId, id: string, error: unknown): void {
    if (wasNotSent(error)) return;
    outbox.deliver({
      workspaceId,
      kind: 'release',
      send: async () => void (await ledger.release(workspaceId, id, clock.now())),
    });
  }

  function settle(hold: Hold, actualNanoUsd: number, isRepeat: boolean): void | Promise<void> {
    const outcome = steps.settle(hold.workspaceId, hold.id, actualNanoUsd, clock.now());
    return andThen(outcome, (ended) => settled(hold, actualNanoUsd, isRepeat, ended));
  }

  function settled(hold: Hold, actualNanoUsd: number, isRepeat: boolean, outcome: EndOutcome): void {
    if (outcome === 'ended') return;
    const { workspaceId, windows, sinceMs } = hold;
    if (outcome === 'late') {
      writeLog(
        logger,
        'warn',
        { workspaceId, actualNanoUsd },
        'a hold expired before it was settled; now it is booked as it was',
      );
    }
    // Of a repeated settlement that says nothing: the first may have arrived.
    if (outcome !== 'unknown' || isRepeat || actualNanoUsd === 0 || forgotten.has(workspaceId)) return;
    // As old as this it has expired, and what it held was charged.
    if (clock.now() - sinceMs >= keepEndedMs) return;
    writeLog(
      logger,
      'warn',
      { workspaceId, actualNanoUsd },
      'the store has lost a hold; what was spent of it is booked anew',
    );
    const addition = ids.uuid();
    outbox.deliver({
      workspaceId,
      kind: 'addition',
      send: () =>
        ledger.add(
          workspaceId,
          addition,
          windows.map((window) => ({ window, nanoUsd: actualNanoUsd })),
          clock.now(),
        ),
    });
  }

  return {
    take(workspaceId, windows, amountNanoUsd) {
      const again = (first: Taken): Taken | Promise<Taken> => {
        if (isHold(first)) return first;
        // Who calls one after the other is not refused because what the last one left is still on its way to the store.
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
        send: (isRepeat) => settle(hold, actualNanoUsd, isRepeat),
        // Until then the lease is renewed: a store that comes back finds the hold as it was.
        end: () => heartbeat.remove(workspaceId, id),
      });
    },
  };
}

export function isHold(taken: Taken): taken is Hold {
  return !Array.isArray(taken);
}
