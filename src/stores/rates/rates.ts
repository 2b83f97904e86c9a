import type { WorkspaceId } from '../../call/workspace.ts';
import type { RateLimits } from '../../schema/tenants/rate-limits.ts';

/** An account with its limits: `workspace`, or `key:<hash>` for one api key. */
export interface LimitedAccount extends RateLimits {
  account: string;
}

/** The used part of an account's limits at one moment. */
export interface RateState {
  /** Requests in parts: a request is `partsPerUnit` parts. */
  requests: number;
  /**
   * Tokens in parts: a token is `partsPerUnit` parts. They may exceed the limit, when calls used more than was held.
   */
  tokens: number;
  /** The number of calls that have not ended. */
  inFlight: number;
}

export interface AdmitRequest {
  /** The id of the call: a UUID that was never used before. For further tokens of a call: the id of its admission. */
  id: string;
  workspaceId: WorkspaceId;
  /** At least one, all different. Each has at least one limit. */
  accounts: readonly LimitedAccount[];
  /** The tokens to hold where tokens are limited. Not negative. */
  tokens: number;
  /** true: takes only tokens, for a call that was admitted before. */
  isFurther: boolean;
  /** Epoch ms; null: the time by the clock of the store, if the store has one. */
  nowMs: number | null;
  /** The time for which the call counts as in flight, unless it is renewed. */
  leaseMs: number;
}

/** The state of every account, in order: after the call was admitted, or as it was when it did not fit. */
export interface AdmitOutcome {
  isAdmitted: boolean;
  states: RateState[];
}

/** The end of a call. */
export interface CallEnding {
  id: string;
  workspaceId: WorkspaceId;
  /** The accounts as they were admitted. */
  accounts: readonly LimitedAccount[];
  /** The used tokens minus the held ones. */
  moreTokens: number;
  nowMs: number | null;
}

/**
 * Counts requests, tokens and calls in flight, per workspace. Every method is one atomic step, for any number of
 * processes.
 *
 * A limit per minute is a bucket that leaks: what was taken goes at the speed of the limit. So in any `t` minutes at
 * most `limit * (1 + t)` is taken. All is counted in whole parts and milliseconds: each store comes to the same result.
 */
export interface Rates {
  /** true: the store has a clock of its own, which is the same for all processes. */
  readonly hasClock: boolean;
  /** Takes a request, its tokens and its place in flight from every account, or nothing from any. */
  admit(request: AdmitRequest): Promise<AdmitOutcome>;
  /**
   * Gives the place in flight back, and corrects the tokens. Only the first call for an id has an effect. A call after
   * the end of the lease has none: the held tokens then stay counted.
   */
  end(ending: CallEnding): Promise<void>;
  /** Extends the leases of calls in flight that have not ended. @param places  see `placeOf` */
  renew(workspaceId: WorkspaceId, places: readonly string[], nowMs: number | null, leaseMs: number): Promise<void>;
  /** The states of accounts, in the order asked. Changes nothing. */
  read(workspaceId: WorkspaceId, accounts: readonly LimitedAccount[], nowMs: number | null): Promise<RateState[]>;
  /** Deletes the counts of a deleted workspace. The counts of its keys may stay until they have leaked. */
  forget(workspaceId: WorkspaceId): Promise<void>;
}

/** The same steps without promises, for counts in this process. */
export interface LocalRates {
  admit(request: AdmitRequest): AdmitOutcome;
  end(ending: CallEnding): void;
}

/** The name of a call in flight in an account. The name of an account contains no space. */
export function placeOf({ account }: LimitedAccount, id: string): string {
  return `${account} ${id}`;
}

/** Tells whether an account has to know its calls one by one. */
export function countsCalls({ tokensPerMinute, requestsInFlight }: RateLimits): boolean {
  return tokensPerMinute !== null || requestsInFlight !== null;
}

/** The most lost calls that one step ends. */
export const expireBatch = 200;
