import { andThen } from '../../base/async/and-then.ts';
import type { Clock } from '../../base/clock.ts';
import { holdId, type Ids } from '../../base/ids.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import { type EndOutcome, type HoldOutcome, keepEndedMs, type Ledger, type WindowState } from '../ledger/ledger.ts';
import { requestSteps } from '../ledger/memory.ts';
import { wasNotSent } from '../storage/circuit.ts';
import { type StoreLogger, writeLog } from '../storage/logger.ts';
import { createEscrow, type Escrow } from './escrow.ts';
import type { Heartbeat } from './heartbeat.ts';
import { type Hold, isHold, type Taken } from './hold.ts';
import { ownedHoldId } from './hold-owner.ts';
import type { LostHolds } from './lost-holds.ts';
import type { Outbox } from './outbox.ts';
import { arrived, type Reported, type SliceReport, sendInOrder } from './slice.ts';
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
  /** Books what another process has noted of a hold, step by step. Like `end`. */
  endNoted(noted: NotedHold, onEnd?: (isTaken: boolean) => void): void | Promise<void>;
  /** Sends a report of a slice of this process, after the earlier ones. Like `end`. */
  report(report: SliceReport, onEnd?: (isTaken: boolean) => void): void | Promise<void>;
  /** The slices of this process; null: each request is held in the ledger by itself. */
  readonly escrow: Escrow | null;
}

/** A part of a hold that is booked. */
interface HoldDraw {
  /** The hold, with the amount that it had before. */
  hold: Hold;
  toNanoUsd: number;
  spentNanoUsd: number;
}

/** The end of a hold, or a report of a slice, of another process. */
export interface NotedHold {
  hold: Hold;
  /** The amount that stays held; null: the hold ends. */
  toNanoUsd: number | null;
  spentNanoUsd: number;
  /** The reports of the slice that have to arrive before. */
  before: readonly Reported[];
}

/** The slice as a hold, with the amount that it had before the report. */
export function holdOf({ slice, fromNanoUsd: nanoUsd }: SliceReport): Hold {
  const { id, workspaceId, windows, sinceMs } = slice;
  return { id, workspaceId, windows, nanoUsd, sinceMs };
}

export interface HoldsDeps {
  ledger: Ledger;
  clock: Clock;
  ids: Ids;
  outbox: Outbox;
  heartbeat: Heartbeat;
  logger: StoreLogger | null;
  leaseMs: number;
  lostHolds: Pick<LostHolds, 'used' | 'settledLate' | 'takeBack' | 'drawnLate'>;
  /** true: holds are made out of slices where requests come often. */
  isEscrow: boolean;
  /** Resolves when the bookings of a workspace that are being sent have arrived or failed; null: there are none. */
  bookingsInFlight: (workspaceId: WorkspaceId) => Promise<unknown> | null;
  /** Deleted workspaces. */
  forgotten: ReadonlySet<WorkspaceId>;
  /** Called with the bookings that the store has accepted; absent: no observer. */
  observer?: BookingObserver | null | undefined;
}

export function createHolds({ ledger, clock, ids, outbox, heartbeat, ...settings }: HoldsDeps): Holds {
  const { logger, leaseMs, lostHolds, forgotten, observer, bookingsInFlight, isEscrow } = settings;
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

  /**
   * Makes a step that draws. It may be taken again until it succeeds.
   * @returns whether the ledger charges the slice, or does not know it
   */
  function drawing({ hold, toNanoUsd, spentNanoUsd }: HoldDraw): () => Promise<boolean> {
    const { id, workspaceId, windows, nanoUsd: fromNanoUsd } = hold;
    const drawn = { id, fromNanoUsd, toNanoUsd, spentNanoUsd };
    // From then on, a repeated draw is one that was late: its first reply got lost.
    let isLate = false;
    return async () => {
      const outcome = isLate ? 'late' : ((await ledger.draw?.(workspaceId, drawn)) ?? 'unknown');
      if (outcome === 'late') {
        isLate = true;
        await lostHolds.takeBack(workspaceId, id, fromNanoUsd);
        await ledger.draw?.(workspaceId, { ...drawn, isLate });
        const send = () => lostHolds.drawnLate(workspaceId, id, toNanoUsd);
        outbox.deliver({ workspaceId, kind: 'addition', send });
      }
      if (observer && spentNanoUsd > 0) observer.booked(workspaceId, windows);
      if (outcome === 'unknown') drawAgain({ hold, toNanoUsd, spentNanoUsd });
      return outcome === 'late' || outcome === 'unknown';
    };
  }

  /** Books what was drawn from a slice that the store has lost with all that it held, unless the workspace was deleted. */
  function drawAgain({ hold, spentNanoUsd }: HoldDraw): void {
    const { id, workspaceId, windows, nanoUsd: fromNanoUsd, sinceMs } = hold;
    if (spentNanoUsd === 0 || forgotten.has(workspaceId)) return;
    const fields = { workspaceId, hold: id, actualNanoUsd: spentNanoUsd };
    if (clock.monotonic() - sinceMs >= keepEndedMs) {
      writeLog(logger, 'warn', fields, 'a hold of more than a day is not known any more; its cost is not booked again');
      return;
    }
    writeLog(logger, 'warn', fields, 'the store has lost a hold; its cost is booked again');
    const additions = windows.map((window) => ({ window, nanoUsd: spentNanoUsd }));
    // Another process that sends the same report books nothing.
    const send = () => ledger.add(workspaceId, `draw:${id}:${fromNanoUsd}`, additions);
    outbox.deliver({ workspaceId, kind: 'addition', send });
  }

  function report(of: SliceReport, onEnd?: (isTaken: boolean) => void): void | Promise<void> {
    const { slice, toNanoUsd, spentNanoUsd } = of;
    const hold = holdOf(of);
    const { workspaceId, id } = slice;
    const draw = toNanoUsd === null ? null : drawing({ hold, toNanoUsd, spentNanoUsd });
    const step = draw
      ? async () => {
          if (await draw()) slice.isEnding = true;
        }
      : () => settle(hold, spentNanoUsd);
    return outbox.deliver({
      workspaceId,
      kind: 'settlement',
      send: () => sendInOrder(of, step),
      isNext: () => slice.onTheirWay[0] === of,
      end(isTaken) {
        arrived(of);
        if (toNanoUsd === null) {
          heartbeat.remove(workspaceId, id);
          escrow?.confirmed();
        }
        onEnd?.(isTaken);
      },
    });
  }

  const escrow = isEscrow ? createEscrow({ ledger, clock, ids, leaseMs, hold: ask, send: report }) : null;

  return {
    escrow,
    take(scope, limited, amountNanoUsd) {
      const { workspaceId } = scope;
      const local = escrow?.take(scope, limited, amountNanoUsd);
      if (local) {
        if (scope.callId !== undefined) lostHolds.used(workspaceId);
        return local;
      }
      const { windows } = limited;
      const giveBack = (states: readonly WindowState[]) =>
        escrow?.giveBack(workspaceId, { windows, states, amountNanoUsd }) ?? null;
      const askAfter = (...waits: unknown[]) => Promise.all(waits).then(() => ask(scope, limited, amountNanoUsd));
      const again = (first: Taken): Taken | Promise<Taken> => {
        if (isHold(first)) return first;
        // Earlier calls may still hold money, because their settlements are on the way to the store. Wait for those, and
        // for what slices of this process hold and do not need.
        const [booked, back] = [bookingsInFlight(workspaceId), giveBack(first)];
        if (back) return askAfter(booked, back);
        return booked ? askAfter(booked).then(last) : first;
      };
      // With what was booked meanwhile, what is free in slices may suffice.
      const last = (second: Taken): Taken | Promise<Taken> => {
        const back = isHold(second) ? null : giveBack(second);
        return back ? askAfter(back) : second;
      };
      // A smaller request gets what is free in slices, so it is told as room; but not where that would suffice for this one.
      const told = (taken: Taken): Taken => {
        if (isHold(taken) || escrow === null) return taken;
        const without = escrow.withoutFree(workspaceId, windows, taken);
        const isShort = windows.some(({ limitNanoUsd }, at) => {
          const { spentNanoUsd = 0, heldNanoUsd = 0 } = without[at] ?? {};
          return amountNanoUsd > limitNanoUsd - spentNanoUsd - heldNanoUsd;
        });
        return isShort ? without : taken;
      };
      return andThen(andThen(ask(scope, limited, amountNanoUsd), again), told);
    },
    end(hold, actualNanoUsd, onEnd) {
      const { workspaceId, id } = hold;
      if (hold.slice && escrow) {
        escrow.ended(hold, actualNanoUsd);
        const [due] = escrow.reports([{ hold, nanoUsd: actualNanoUsd }]).reports;
        return due ? report(due, onEnd) : onEnd?.(true);
      }
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
    endNoted({ hold, toNanoUsd, spentNanoUsd, before }, onEnd) {
      const steps: (() => unknown)[] = before.map(([nanoUsd, to, spent]) =>
        drawing({ hold: { ...hold, nanoUsd }, toNanoUsd: to, spentNanoUsd: spent }),
      );
      steps.push(toNanoUsd === null ? () => settle(hold, spentNanoUsd) : drawing({ hold, toNanoUsd, spentNanoUsd }));
      return outbox.deliver({
        workspaceId: hold.workspaceId,
        kind: 'settlement',
        // If one of them fails, it and the later ones are sent again.
        async send() {
          for (let [step] = steps; step; [step] = steps) {
            await step();
            steps.shift();
          }
        },
        end: (isTaken) => onEnd?.(isTaken),
      });
    },
    report,
  };
}
