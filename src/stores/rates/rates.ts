import type { WorkspaceId } from '../../call/workspace.ts';
import type { RateLimits } from '../../schema/rate-limits.ts';

/** What a limit counts for: `workspace`, or `key:<hash>` for one api key. */
export interface LimitedAccount extends RateLimits {
  account: string;
}

/** What is used of an account's limits, at one moment. */
export interface RateState {
  /** In parts: a request is `partsPerUnit` of them. */
  requests: number;
  /** In parts: a token is `partsPerUnit` of them. May exceed the limit: more was used than was held. */
  tokens: number;
  /** Calls that have not ended. */
  inFlight: number;
}

export interface AdmitRequest {
  /** Of the call: a UUID that was never used before. For more tokens of a call: the id it was admitted with. */
  id: string;
  workspaceId: WorkspaceId;
  /** At least one, all different. Each has at least one limit. */
  accounts: readonly LimitedAccount[];
  /** To be held where tokens are limited. Not negative. */
  tokens: number;
  /** true: takes only tokens, for a call that was admitted before. */
  isFurther: boolean;
  /** Epoch ms; null: by the clock of the store, where it has one. */
  nowMs: number | null;
  /** How long the call counts as in flight, unless it is renewed. */
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
  /** As it was admitted. */
  accounts: readonly LimitedAccount[];
  /** What it used, less what was held for it. */
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
  /** true: has a clock of its own, which is the same for all processes. */
  readonly hasClock: boolean;
  /** Takes a request, its tokens and its place in flight from every account, or nothing from any. */
  admit(request: AdmitRequest): Promise<AdmitOutcome>;
  /**
   * Gives the place in flight back, and corrects the tokens. Only the first call for an id does anything; none does
   * after the lease has ended: the held tokens then stay counted.
   */
  end(ending: CallEnding): Promise<void>;
  /** Extends the lease of calls in flight, but of none whose lease has ended. @param places  see `placeOf` */
  renew(workspaceId: WorkspaceId, places: readonly string[], nowMs: number | null, leaseMs: number): Promise<void>;
  /** In the order asked. Changes nothing. */
  read(workspaceId: WorkspaceId, accounts: readonly LimitedAccount[], nowMs: number | null): Promise<RateState[]>;
  /** Deletes what is counted for a deleted workspace. What only its keys have used may go by itself, as it leaks. */
  forget(workspaceId: WorkspaceId): Promise<void>;
}

/** The same steps without a promise, for what is counted in this process. */
export interface LocalRates {
  admit(request: AdmitRequest): AdmitOutcome;
  end(ending: CallEnding): void;
}

/** A call in flight, as an account counts it. An account has no space in its name. */
export function placeOf({ account }: LimitedAccount, id: string): string {
  return `${account} ${id}`;
}

/** Whether the calls of an account have to be known one by one. */
export function countsCalls({ tokensPerMinute, requestsInFlight }: RateLimits): boolean {
  return tokensPerMinute !== null || requestsInFlight !== null;
}

/** The most lost calls that one step ends. */
export const expireBatch = 200;
