import { GatewayError } from '../../base/errors.ts';
import type { RateLimitState } from '../../schema/tenants/rate-limits.ts';
import { msToLeak, partsPerUnit } from './bucket.ts';
import type { LimitedAccount, RateState } from './rates.ts';
import { rateLimitHeaders, scopeOf, showLimits } from './show.ts';

/** A guess: nobody knows when a call in flight will end. */
const retryInFlightMs = 1_000;

interface Blocked {
  scope: RateLimitState['scope'];
  name: RateLimitState['name'];
  waitMs: number;
}

const words = {
  requests_per_minute: 'requests per minute',
  tokens_per_minute: 'tokens per minute',
  requests_in_flight: 'requests at the same time',
} as const;
const whose = { key: 'this API key', workspace: 'this workspace' } as const;

/**
 * The error of a call that does not fit. It names the limit that takes longest, and the time at which the call would
 * fit if no other call came.
 * @param nowMs  epoch ms, by the clock of this process
 */
export function rateLimited(
  accounts: readonly LimitedAccount[],
  states: readonly RateState[],
  taking: { tokens: number; isFurther: boolean },
  nowMs: number,
): GatewayError {
  const blocked = accounts.flatMap((limited, at) => blockedBy(limited, states[at] as RateState, taking));
  const longest = blocked.reduce((one, other) => (other.waitMs > one.waitMs ? other : one), blocked[0] as Blocked);
  const { scope, name, waitMs } = longest;
  const { limit, remaining } = showLimits(accounts, states).find(
    (one) => one.scope === scope && one.name === name,
  ) as RateLimitState;
  return new GatewayError(
    'rate_limited',
    `Rate limit reached: ${limit} ${words[name]} for ${whose[scope]}. Please try again in ${waitMs / 1000}s.`,
    {
      retryAfterMs: waitMs,
      metadata: { scope, limit_name: name, limit, remaining, retry_after_seconds: waitMs / 1000 },
      headers: {
        ...rateLimitHeaders(accounts, states),
        'x-ratelimit-limit': String(limit),
        'x-ratelimit-remaining': String(remaining),
        'x-ratelimit-reset': String(Math.ceil(nowMs + waitMs)),
      },
    },
  );
}

/** @returns null: every limit has room for the tokens, sooner or later */
export function neverFits(accounts: readonly LimitedAccount[], tokens: number): GatewayError | null {
  for (const limited of accounts) {
    const { tokensPerMinute } = limited;
    if (tokensPerMinute === null || tokens <= tokensPerMinute) continue;
    return new GatewayError(
      'payload_too_large',
      `The request needs about ${tokens} tokens, but the limit for ${whose[scopeOf(limited)]} is ${tokensPerMinute} tokens per minute; shorten the prompt, or lower max_tokens`,
      { metadata: { limit_name: 'tokens_per_minute', limit: tokensPerMinute, tokens } },
    );
  }
  return null;
}

function blockedBy(
  limited: LimitedAccount,
  state: RateState,
  { tokens, isFurther }: { tokens: number; isFurther: boolean },
): Blocked[] {
  const { requestsPerMinute, tokensPerMinute, requestsInFlight } = limited;
  const scope = scopeOf(limited);
  const blocked: Blocked[] = [];
  const wait = (name: RateLimitState['name'], limit: number | null, parts: number) => {
    if (limit === null) return;
    const waitMs = msToLeak(parts - limit * partsPerUnit, limit);
    if (waitMs > 0) blocked.push({ scope, name, waitMs });
  };
  wait('tokens_per_minute', tokensPerMinute, state.tokens + tokens * partsPerUnit);
  if (isFurther) return blocked;
  wait('requests_per_minute', requestsPerMinute, state.requests + partsPerUnit);
  if (requestsInFlight !== null && state.inFlight >= requestsInFlight)
    blocked.push({ scope, name: 'requests_in_flight', waitMs: retryInFlightMs });
  return blocked;
}
