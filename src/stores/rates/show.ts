import type { RateLimitState } from '../../schema/tenants/rate-limits.ts';
import { msToLeak, partsPerUnit } from './bucket.ts';
import type { LimitedAccount, RateState } from './rates.ts';

/** The party that an account limits. */
export function scopeOf({ account }: LimitedAccount): RateLimitState['scope'] {
  return account === 'workspace' ? 'workspace' : 'key';
}

/** The limits of accounts and the rest of each, in the order of the accounts. */
export function showLimits(accounts: readonly LimitedAccount[], states: readonly RateState[]): RateLimitState[] {
  return accounts.flatMap((limited, at) => {
    const { requests, tokens, inFlight } = states[at] as RateState;
    const scope = scopeOf(limited);
    const shown: RateLimitState[] = [];
    const perMinute = (name: RateLimitState['name'], limit: number | null, parts: number) => {
      if (limit === null) return;
      const remaining = Math.max(0, Math.floor(limit - parts / partsPerUnit));
      shown.push({ scope, name, limit, remaining, reset_seconds: msToLeak(parts, limit) / 1000 });
    };
    perMinute('requests_per_minute', limited.requestsPerMinute, requests);
    perMinute('tokens_per_minute', limited.tokensPerMinute, tokens);
    const limit = limited.requestsInFlight;
    if (limit !== null) {
      const remaining = Math.max(0, limit - inFlight);
      shown.push({ scope, name: 'requests_in_flight', limit, remaining, reset_seconds: null });
    }
    return shown;
  });
}

/**
 * The headers of a limited response, as OpenAI sends them: for requests and for tokens per minute, each of the account
 * that has the least left. `reset` is the time until the whole limit is free again.
 */
export function rateLimitHeaders(
  accounts: readonly LimitedAccount[],
  states: readonly RateState[],
): Record<string, string> {
  const shown = showLimits(accounts, states);
  const headers: Record<string, string> = {};
  for (const [name, suffix] of [
    ['requests_per_minute', 'requests'],
    ['tokens_per_minute', 'tokens'],
  ] as const) {
    let least: RateLimitState | null = null;
    for (const one of shown) if (one.name === name && (least === null || one.remaining < least.remaining)) least = one;
    if (least === null) continue;
    headers[`x-ratelimit-limit-${suffix}`] = String(least.limit);
    headers[`x-ratelimit-remaining-${suffix}`] = String(least.remaining);
    headers[`x-ratelimit-reset-${suffix}`] = durationText((least.reset_seconds as number) * 1000);
  }
  return headers;
}

/** Writes a duration as OpenAI does: `120ms`, `1.5s`, `6m0s`, `1h0m0s`. */
export function durationText(ms: number): string {
  const whole = Math.ceil(ms);
  if (whole < 1000) return `${whole}ms`;
  const seconds = whole / 1000;
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  const rest = `${Math.round((seconds - minutes * 60) * 1000) / 1000}s`;
  return minutes < 60 ? `${minutes}m${rest}` : `${Math.floor(minutes / 60)}h${minutes % 60}m${rest}`;
}
