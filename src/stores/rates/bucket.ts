import type { RateLimits } from '../../schema/tenants/rate-limits.ts';
import type { RateState } from './rates.ts';

/**
 * The parts of one request or one token. There are as many as a minute has milliseconds: a limit of N leaks N parts
 * each millisecond, and nothing is ever rounded.
 */
export const partsPerUnit = 60_000;

/** The most parts that are exact. More parts are cut off: some hundred years of a limit of one. */
export const mostParts = Number.MAX_SAFE_INTEGER;

/**
 * A clock that is further back than this was set back. Within this time, the bucket waits until the clock catches up.
 */
export const mostSkewMs = 60_000;

/** The state of an account at the time of its last change. */
export interface Bucket extends RateState {
  /** Epoch ms, whole. */
  atMs: number;
}

/** The bucket at a later time. */
export function leaked(bucket: Bucket, limits: RateLimits, nowMs: number): Bucket {
  const now = Math.floor(nowMs);
  const atMs = bucket.atMs - now > mostSkewMs ? now : Math.max(now, bucket.atMs);
  const elapsedMs = Math.max(0, atMs - bucket.atMs);
  return {
    requests: leakedParts(bucket.requests, limits.requestsPerMinute, elapsedMs),
    tokens: leakedParts(bucket.tokens, limits.tokensPerMinute, elapsedMs),
    inFlight: bucket.inFlight,
    atMs,
  };
}

/** The parts that are left after a time. Without a limit, nothing is counted. */
function leakedParts(parts: number, limit: number | null, elapsedMs: number): number {
  return limit === null ? 0 : Math.max(0, parts - limit * elapsedMs);
}

/** The amounts that a call takes. */
export interface Taking {
  tokens: number;
  isFurther: boolean;
}

export function fits(state: RateState, limits: RateLimits, { tokens, isFurther }: Taking): boolean {
  const { requestsPerMinute, tokensPerMinute, requestsInFlight } = limits;
  if (tokensPerMinute !== null && state.tokens + tokens * partsPerUnit > tokensPerMinute * partsPerUnit) return false;
  if (isFurther) return true;
  if (requestsPerMinute !== null && state.requests + partsPerUnit > requestsPerMinute * partsPerUnit) return false;
  return requestsInFlight === null || state.inFlight < requestsInFlight;
}

/** The bucket after a call was admitted. The caller counts `inFlight`. */
export function taken(bucket: Bucket, limits: RateLimits, { tokens, isFurther }: Taking): Bucket {
  return {
    ...bucket,
    requests: bucket.requests + (limits.requestsPerMinute === null || isFurther ? 0 : partsPerUnit),
    tokens: limits.tokensPerMinute === null ? 0 : withTokens(bucket.tokens, tokens),
  };
}

/** The parts after tokens were added or, where the number is negative, given back. */
export function withTokens(parts: number, tokens: number): number {
  return Math.min(mostParts, Math.max(0, parts + tokens * partsPerUnit));
}

/** The time at which the bucket is empty, epoch ms. */
export function emptyAtMs({ requests, tokens, atMs }: Bucket, limits: RateLimits): number {
  return atMs + Math.max(msToLeak(requests, limits.requestsPerMinute), msToLeak(tokens, limits.tokensPerMinute));
}

/** The time in ms until so many parts have leaked. */
export function msToLeak(parts: number, limit: number | null): number {
  return limit === null ? 0 : Math.ceil(Math.max(0, parts) / limit);
}
