import type { GatewayError } from '../../base/errors.ts';
import type { Interval } from '../../base/windows.ts';
import type { KeyLimit } from '../../call/call.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { BudgetLimit } from '../budgets.ts';
import type { LimitedWindow, WindowState } from '../ledger/ledger.ts';

export type { BudgetLimit };

/**
 * What the pipeline knows of money: it holds the worst case before a call and says afterwards what it was. That the
 * store hears of it, whenever it can be reached again, is taken care of here.
 */
export interface Spending {
  /**
   * Holds the amount in every limited window of the workspace's budgets and of the api key's limit, or in none. Where
   * nothing is limited, nothing is held and no store asked: such a reservation only counts what is spent. Without a
   * promise where no store is asked, or the one in this process.
   * @param amountNanoUsd  integer, not negative
   * @throws GatewayError unavailable (503) when the store cannot tell; nothing is held then, or not for long
   */
  hold(scope: HoldScope, amountNanoUsd: number): ReservationOutcome | Promise<ReservationOutcome>;
  /**
   * How the windows stand in which `hold` would hold, without holding anything.
   * @throws GatewayError unavailable (503)
   */
  preview(scope: HoldScope): Promise<Preview>;
  /**
   * What was spent and is held in an account's windows of now, including all that was settled here before.
   * @param account  `workspace`, `key:<hash>`, or one of them with `:byok` behind it (see `Window`)
   * @throws GatewayError unavailable (503)
   */
  read(workspaceId: WorkspaceId, account: string, nowMs: number): Promise<Record<Interval, WindowState>>;
  /** Forgets all of a workspace that was deleted, also what has not reached the store yet. @throws GatewayError unavailable (503) */
  forget(workspaceId: WorkspaceId): Promise<void>;
  /** Sends what was only counted to the store; what that does not take is sent again later. Never rejects. */
  flush(): Promise<void>;
  /** Sends all that is left and waits for it, but not for long. Calls that are still in flight may settle meanwhile. Never rejects. */
  close(): Promise<void>;
}

export type ReservationOutcome = Reservation | Refusal;

/** On whose account a call is, and what limits it. */
export interface HoldScope {
  workspaceId: WorkspaceId;
  /** Whose account is counted beside the workspace's; null: no api key's. */
  apiKeyHash: string | null;
  /** Of that api key. */
  keyLimit: KeyLimit | null;
  budgets: readonly BudgetLimit[];
  /** When the call was admitted, epoch ms: it belongs to the windows of this instant, however long it takes. */
  atMs: number;
  /**
   * true: counts for the api key alone, because another reservation of the same call, without api key, counts for the
   * workspace. So it is done where budgets and the key's limit differ on what they count.
   */
  isFurther?: boolean;
}

/** What a hold would meet just now. */
export interface Preview {
  /** Every limited window; none: nothing is limited. */
  windows: readonly (LimitedWindow & WindowState)[];
  /** What a hold of this amount would be answered; null: it would fit. */
  refusalOf(amountNanoUsd: number): Refusal | null;
}

/** A hold that does not fit. Nothing is held. */
export interface Refusal {
  /** payment_required (402), naming the broadest interval that is exhausted. */
  error: GatewayError;
  /** The same for a smaller amount, which does not fit either. */
  errorFor(amountNanoUsd: number): GatewayError;
  /** The largest amount that would have fitted. Others may take it meanwhile. */
  availableNanoUsd: number;
}

export interface Reservation {
  /** What is held in all; 0 where nothing is limited. */
  readonly nanoUsd: number;
  /** false: nothing is held, and any cost is covered. */
  readonly isLimited: boolean;
  /**
   * Holds more, in the same windows.
   * @returns why more is not held; what is held then stays as it was
   * @throws GatewayError unavailable (503) when the store cannot tell; what is held stays as it was
   */
  extend(moreNanoUsd: number): Promise<Extended>;
  /**
   * Books what was spent and frees the rest. The first call counts. Returns at once and never throws: what the store
   * does not take now is booked when it does.
   */
  settle(actual: Actual): void;
}

/** `refusal` is null where the reservation was settled meanwhile. */
export type Extended = { isHeld: true } | { isHeld: false; refusal: Refusal | null };

/** Integer nano-USD. */
export interface Actual {
  /** What counts against the limits. Booked as it is, though it be more than was held. */
  nanoUsd: number;
  /** What went through the workspace's own credentials, counted on accounts of its own, whether or not it is in `nanoUsd`. */
  byokNanoUsd: number;
}

export function isRefusal(outcome: ReservationOutcome): outcome is Refusal {
  return 'error' in outcome;
}
