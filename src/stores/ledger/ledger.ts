import type { Interval } from '../../base/windows.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { BudgetSettings } from '../../schema/settings/settings.ts';

export type { Interval };

/** A period whose spending is added up. UTC. */
export interface SpendingWindow {
  /**
   * The account: `workspace`, or `key:<hash>` for one api key. The suffix `:byok` counts the use of BYOK credentials.
   */
  account: string;
  /** The interval after which the limit resets. */
  interval: Interval;
  /** Epoch ms, inclusive; 0 for a lifetime. */
  startMs: number;
  /** Epoch ms, exclusive; null: never ends. */
  endMs: number | null;
}

/** A window with the limit that a budget or a key sets for it. */
export interface LimitedWindow extends SpendingWindow {
  /** Integer nano-USD. */
  limitNanoUsd: number;
  /** The guardrail that has set the limit, for error messages. The ledger does not use it. Absent: no guardrail has. */
  guardrail?: { id: string; name: string };
}

/** The money that is spent and held in a window. */
export interface WindowState {
  /** The settled amount, integer nano-USD. */
  spentNanoUsd: number;
  /** The amount that is held and not settled yet, integer nano-USD. */
  heldNanoUsd: number;
}

/** An amount to be held, and the windows that it must fit into. */
export interface HoldRequest {
  /** An id that was never used before: one line of at most some 200 characters. */
  id: string;
  /** The workspace that pays. */
  workspaceId: WorkspaceId;
  /** Integer nano-USD, not negative. */
  amountNanoUsd: number;
  /** At least one, all different. */
  windows: readonly LimitedWindow[];
  /** The hold counts as lost when it was not renewed for this long, by the clock of the store. */
  leaseMs: number;
}

/** If the hold is refused, nothing is held, and `states` has the state of every requested window, in order. */
export type HoldOutcome = { isHeld: true } | { isHeld: false; states: WindowState[] };

/** The result of ending a hold. */
export type EndOutcome =
  | 'ended'
  /** The hold had expired. The new amount has replaced the amount that was charged for it. */
  | 'late'
  /** The hold was ended before, within a day. Nothing has changed. */
  | 'repeated'
  /** There is no such hold: it was never made, or the store has lost it. Nothing is booked. */
  | 'unknown';

/** A part of a hold that its process does not need any more. All amounts are integer nano-USD. */
export interface Draw {
  /** The id of the hold. */
  id: string;
  /** The held amount before this draw, as the caller knows it. */
  fromNanoUsd: number;
  /** The amount that stays held: not negative, less than before. */
  toNanoUsd: number;
  /** The part that was spent, not negative. It may be more than the difference. */
  spentNanoUsd: number;
  /**
   * true: an expired hold is drawn as well. The caller has taken back before what was booked beside the charge, so that
   * no window has more than the charge if the caller dies after either step. Default: an expired hold stays as it is.
   */
  isLate?: boolean | undefined;
}

/** The result of a draw. */
export type DrawOutcome =
  | 'drawn'
  /**
   * The hold has expired, and the draw was not made before. With `isLate`, its charge is `toNanoUsd` from now on, and the
   * spent amount is booked beside it. Without, nothing has changed.
   */
  | 'late'
  /** The draw was made before, or the hold was ended before, within a day. Nothing has changed. */
  | 'repeated'
  /** There is no such hold: it was never made, or the store has lost it. Nothing is booked. */
  | 'unknown';

/** An amount to book without a hold. */
export interface SpendingAddition {
  /** The window in which the amount is booked. */
  window: SpendingWindow;
  /** The amount, in integer nano-USD. Negative: it takes back an earlier addition. */
  nanoUsd: number;
}

/** A hold that has expired and was not settled since. */
export interface LostHold {
  /** The id that was given to `hold`. */
  id: string;
  /** The amount that the expiry has charged, integer nano-USD. */
  chargedNanoUsd: number;
  /** The time of the expiry by the clock of the store, epoch ms. */
  expiredAtMs: number;
}

/**
 * Holds money before it is spent, and books the cost afterwards, per workspace. Every method is one atomic step, for
 * any number of processes. A method may be repeated when the outcome of a call is unknown: nothing is booked twice.
 *
 * Leases, and everything that is kept for a while, follow the clock of the store, which is the same for all processes.
 * A process whose clock is wrong must not end the holds of others. Only the windows come from the caller.
 *
 * For each new hold, at every instant and in every window: spent + held + amount <= limit. Spending stays when limits
 * change. It also stays when a window ends: an ended window is kept for at least 40 days.
 */
export interface Ledger {
  /**
   * Holds the amount in all windows, or in none if the amount does not fit into one of them. First, holds of the
   * workspace whose lease has ended expire (see `expire`). An id that was ended before is refused.
   */
  hold(request: HoldRequest): Promise<HoldOutcome>;
  /**
   * Ends a hold: books the actual cost in all of its windows, also if that is more than the held amount. The id is
   * remembered for a day, but only the last 100,000 ids of a workspace. So when the result of a settlement got lost, a
   * second call tells whether the first was booked.
   */
  settle(workspaceId: WorkspaceId, id: string, actualNanoUsd: number): Promise<EndOutcome>;
  /**
   * Ends an unused hold. The id of an unknown hold is remembered for a day. So if the hold arrives later than its
   * release, it is refused.
   */
  release(workspaceId: WorkspaceId, id: string): Promise<EndOutcome>;
  /**
   * Books a part of a hold in all of its windows, and makes the hold smaller. The draws of a hold have to come one after
   * the other. The amount tells a repeated draw: it only falls. If more is held than `fromNanoUsd`, the store has lost
   * earlier draws, and what they would have taken counts as spent.
   *
   * Only for ledgers that charge lost holds: then the charge of an expired hold covers all that was not drawn yet.
   * Absent: budgets need a step for every hold and settlement.
   */
  draw?(workspaceId: WorkspaceId, draw: Draw): Promise<DrawOutcome>;
  /** Extends the lease of existing holds: the lease ends `leaseMs` from now, or later where it already ended later. */
  renew(workspaceId: WorkspaceId, ids: readonly string[], leaseMs: number): Promise<void>;
  /**
   * Ends the holds whose lease has ended because their process died. The held amount is charged or released, as
   * `onLostHold` says. A later settlement (within a day) still replaces the charge.
   * @returns the number of expired holds
   */
  expire(workspaceId: WorkspaceId): Promise<number>;
  /**
   * Ends lost holds first. Then lists the holds that have expired within a day and were not settled since. Absent: the
   * expiry charges only the windows in which the holds were made.
   * @param sinceMs  only holds that have expired at this instant or later, by the clock of the store
   */
  lost?(workspaceId: WorkspaceId, sinceMs: number): Promise<LostHold[]>;
  /** Books amounts without a hold. `id` is a UUID: within a day, a second call with the same id does nothing. */
  add(workspaceId: WorkspaceId, id: string, additions: readonly SpendingAddition[]): Promise<void>;
  /** Ends lost holds first. Then returns the state of the windows, in the order asked. */
  read(workspaceId: WorkspaceId, windows: readonly SpendingWindow[]): Promise<WindowState[]>;
  /** Deletes all data of a deleted workspace. */
  forget(workspaceId: WorkspaceId): Promise<void>;
}

/** The steps that every request needs. The ledger in this process returns no promises. */
export interface RequestSteps {
  hold(request: HoldRequest): HoldOutcome | Promise<HoldOutcome>;
  settle(...settlement: Parameters<Ledger['settle']>): EndOutcome | Promise<EndOutcome>;
}

export interface LedgerOptions extends Pick<BudgetSettings, 'onLostHold'> {
  /**
   * Replaces the clock of the store. Returns epoch ms. Default: the server's clock; for a file, that of this machine.
   */
  now?: (() => number) | undefined;
}

/** The time for which ended windows are kept. */
export const keepWindowsMs = 40 * 86_400_000;
/** The time for which the ids of ended holds and of additions are remembered. */
export const keepEndedMs = 86_400_000;
/**
 * The most settled ids that are remembered per workspace. Some 30 MB. A settlement whose result got lost is repeated
 * within a minute, so 1,600 settlements per second would have to follow it before its id is forgotten. Its cost would
 * then be booked twice.
 */
export const maxSettled = 100_000;
/** The most lost holds that one step ends. */
export const expireBatch = 200;
