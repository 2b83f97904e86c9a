import type { GatewayError } from '../../base/errors.ts';
import type { Interval } from '../../base/windows.ts';
import type { BudgetLimit, KeyLimit } from '../../call/call.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { LimitedWindow, WindowState } from '../ledger/ledger.ts';
import type { LostCallRecorder } from './lost-call.ts';
import type { PendingBookings } from './pending-bookings.ts';

export type { BudgetLimit };

/**
 * The pipeline's interface to money. The pipeline holds the worst-case cost before a call and settles the actual cost
 * afterwards. Spending makes sure that the bookings reach the store, also after the store was away.
 */
export interface Spending {
  /**
   * Holds the amount in every limited window of the workspace's budgets and of the api key's limit, or in none. Without
   * limits, nothing is held and no store is called: such a reservation only counts the spending. Returns no promise if
   * no store is called, or only the one in this process.
   * @param amountNanoUsd  integer, not negative
   * @throws GatewayError unavailable (503) when the store does not respond; then nothing is held, or not for long
   */
  hold(scope: HoldScope, amountNanoUsd: number): ReservationOutcome | Promise<ReservationOutcome>;
  /**
   * The states of the windows in which `hold` would hold. Holds nothing.
   * @throws GatewayError unavailable (503)
   */
  preview(scope: HoldScope): Promise<Preview>;
  /**
   * The spent and held amounts in an account's current windows, including everything that was settled here before.
   * @param account  `workspace` or `key:<hash>`, also with the suffix `:byok` (see `SpendingWindow`)
   * @throws GatewayError unavailable (503)
   */
  read(workspaceId: WorkspaceId, account: string, nowMs: number): Promise<Record<Interval, WindowState>>;
  /**
   * Deletes all money data of a deleted workspace, also bookings that wait in the outbox. @throws GatewayError
   * unavailable (503)
   */
  forget(workspaceId: WorkspaceId): Promise<void>;
  /**
   * Sends the counted spending to the store. If the store does not accept it, it is sent again later. Never rejects.
   */
  flush(): Promise<void>;
  /** Sends everything that waits to be booked, and waits until it was sent once. Never rejects. */
  sendAll(): Promise<void>;
  /**
   * Books and records the calls of processes that have died in this workspace, also where nothing is limited. Never
   * rejects.
   */
  bookLost(workspaceId: WorkspaceId): Promise<void>;
  /** From now on, calls `recorder` for each lost call. */
  recordLost(recorder: LostCallRecorder): void;
  /** The bookings that are written together with the records of their calls; null: bookings are not noted. */
  readonly pending: PendingBookings | null;
  /** The open holds and bookings of this process. */
  state(): SpendingState;
  /**
   * Sends all bookings that are left, and waits for them up to a limit. Calls in flight may settle meanwhile. Never
   * rejects.
   */
  close(): Promise<void>;
}

/** The open holds and bookings of a process. */
export interface SpendingState {
  /** The number of holds of calls in flight. */
  holds: number;
  /** The number of bookings that the store has not confirmed. */
  waitingBookings: number;
}

/** Gets the bookings that the store has accepted. */
export interface BookingObserver {
  booked(workspaceId: WorkspaceId, windows: readonly LimitedWindow[]): void;
}

export type ReservationOutcome = Reservation | Refusal;

/** The accounts of a call, and the limits for it. */
export interface HoldScope {
  workspaceId: WorkspaceId;
  /** The api key whose account is counted in addition to the workspace's; null: the call has no api key. */
  apiKeyHash: string | null;
  /** The limit of that api key. */
  keyLimit: KeyLimit | null;
  /** The budgets of the workspace, and those that guardrails give to the api key. */
  budgets: readonly BudgetLimit[];
  /** The instant at which the call was admitted, epoch ms. The call counts in the windows of this instant, however long it takes. */
  atMs: number;
  /** The id of the call, for its record if its process dies. Absent: the call has none. */
  callId?: string;
  /**
   * true: counts for the api key only, and leaves the budgets of the workspace alone. Another reservation of the same
   * call, without api key, counts for the workspace.
   * Used when the budgets and the key's limit do not count the same costs.
   */
  isFurther?: boolean;
}

/** The result that a hold would have now. */
export interface Preview {
  /** All limited windows; empty: nothing is limited. */
  windows: readonly (LimitedWindow & WindowState)[];
  /** The refusal that a hold of this amount would get; null: the hold would fit. */
  refusalOf(amountNanoUsd: number): Refusal | null;
}

/** The hold does not fit. Nothing is held. */
export interface Refusal {
  /** payment_required (402). Names the broadest interval that is exhausted. */
  error: GatewayError;
  /**
   * The same error for a smaller amount that does not fit either.
   * @param fittingMaxTokens  the largest output with which the request would fit; 0, the default: with none
   */
  errorFor(amountNanoUsd: number, fittingMaxTokens?: number): GatewayError;
  /** The largest amount that would have fitted. Other calls may take it meanwhile. */
  availableNanoUsd: number;
}

export interface Reservation {
  /** The total amount held; 0 if nothing is limited. */
  readonly nanoUsd: number;
  /** false: nothing is held, and any cost is covered. */
  readonly isLimited: boolean;
  /**
   * Holds more, in the same windows.
   * @returns why no more is held; the held amount then does not change
   * @throws GatewayError unavailable (503) when the store does not respond; the held amount does not change
   */
  extend(moreNanoUsd: number): Promise<Extended>;
  /**
   * Books the actual cost and frees the remainder. Only the first call has an effect. Returns at once and never throws:
   * if the store does not accept the booking now, it is sent again.
   */
  settle(actual: Actual): void;
}

/** `refusal` is null where the reservation was settled meanwhile. */
export type Extended = { isHeld: true } | { isHeld: false; refusal: Refusal | null };

/** Integer nano-USD. */
export interface Actual {
  /** The cost that counts against the limits. Booked in full, also if it is more than the held amount. */
  nanoUsd: number;
  /** The cost of BYOK credentials. Counted on separate accounts, whether or not `nanoUsd` includes it. */
  byokNanoUsd: number;
}

export function isRefusal(outcome: ReservationOutcome): outcome is Refusal {
  return 'error' in outcome;
}
