import type { Interval } from '../../base/windows.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { BudgetSettings } from '../../schema/settings.ts';

export type { Interval };

/** A stretch of time whose spending is added up. UTC. */
export interface Window {
  /** Whose spending: `workspace`, or `key:<hash>` for one api key; with `:byok` behind it, what went through own credentials. */
  account: string;
  interval: Interval;
  /** Epoch ms, inclusive; 0 for a lifetime. */
  startMs: number;
  /** Epoch ms, exclusive; null: never ends. */
  endMs: number | null;
}

export interface LimitedWindow extends Window {
  /** Integer nano-USD. */
  limitNanoUsd: number;
}

export interface WindowState {
  /** Settled. Integer nano-USD. */
  spentNanoUsd: number;
  /** Held and not settled yet. Integer nano-USD. */
  heldNanoUsd: number;
}

export interface HoldRequest {
  /** A UUID that was never used before. */
  id: string;
  workspaceId: WorkspaceId;
  /** Integer nano-USD, not negative. */
  amountNanoUsd: number;
  /** At least one, all different. */
  windows: readonly LimitedWindow[];
  nowMs: number;
  /** From then on the hold counts as lost, unless it was renewed. */
  leaseUntilMs: number;
}

/** Refused: nothing is held, and how every window asked for stands, in the order asked. */
export type HoldOutcome = { isHeld: true } | { isHeld: false; states: WindowState[] };

/** What became of the end of a hold. */
export type EndOutcome =
  | 'ended'
  /** The hold had expired; what was charged for it has been replaced by what is said now. */
  | 'late'
  /** There is no such hold: it has ended before, or was never made. */
  | 'unknown';

/** A sum that is booked without a hold. */
export interface Addition {
  window: Window;
  nanoUsd: number;
}

/**
 * Holds money before it is spent and books what was spent, per workspace. Every method is one atomic step, however many
 * processes call it, and may be repeated after a failure of unknown outcome: it then does nothing twice.
 *
 * At every instant, in every window: spent + held + amount <= limit, for each hold that is made. Money already spent is
 * kept when limits change, and never lost when a window ends: a window that has ended is kept for at least 40 days.
 */
export interface Ledger {
  /**
   * Holds the amount in all windows, or in none when it does not fit into one of them. Before, holds of the workspace
   * whose lease has run out expire (see `expire`). An id that was released before is refused.
   */
  hold(request: HoldRequest): Promise<HoldOutcome>;
  /** Ends a hold: books the actual sum in all of its windows, though it be more than was held. */
  settle(workspaceId: WorkspaceId, id: string, actualNanoUsd: number, nowMs: number): Promise<EndOutcome>;
  /**
   * Ends a hold that was not used. One that is not known is remembered for a day, so that a hold of that id which was
   * in flight for longer than its release is refused.
   */
  release(workspaceId: WorkspaceId, id: string, nowMs: number): Promise<EndOutcome>;
  /** Puts off the lease of holds that are there. */
  renew(workspaceId: WorkspaceId, ids: readonly string[], leaseUntilMs: number): Promise<void>;
  /**
   * Ends the holds whose lease has run out, because their process has died: charged at the amount held, or released, as
   * the ledger was told when it was made. A settlement that comes later (within a day) still replaces that.
   * @returns how many
   */
  expire(workspaceId: WorkspaceId, nowMs: number): Promise<number>;
  /** Books sums without a hold. `id` is a UUID: a second call with it does nothing, within a day. */
  add(workspaceId: WorkspaceId, id: string, additions: readonly Addition[], nowMs: number): Promise<void>;
  /** How windows stand, in the order asked, after expiring what has run out. */
  read(workspaceId: WorkspaceId, windows: readonly Window[], nowMs: number): Promise<WindowState[]>;
  /** Forgets all of a workspace that was deleted. */
  forget(workspaceId: WorkspaceId): Promise<void>;
}

/** What every request asks of a ledger, of one in this very process without a promise. */
export interface RequestSteps {
  hold(request: HoldRequest): HoldOutcome | Promise<HoldOutcome>;
  settle(...settlement: Parameters<Ledger['settle']>): EndOutcome | Promise<EndOutcome>;
}

export type LedgerOptions = Pick<BudgetSettings, 'onLostHold'>;

/** How long ended windows are kept. */
export const keepWindowsMs = 40 * 86_400_000;
/** How long ids of expired and of released holds, and of additions, are remembered. */
export const keepEndedMs = 86_400_000;
/** How many lost holds one step ends at most. */
export const expireBatch = 200;
