import type { AdmitRequest, CallEnding, LimitedAccount, RateState } from '../../../src/stores/rates/rates.ts';

/**
 * What `Rates` promises, in the plainest way: exact rational numbers, and a list of the calls in flight. Time does not
 * go back.
 */
export function modelRates() {
  /** In units, as numerators over 60,000: a limit of N per minute is N of them each millisecond. */
  const used = new Map<string, { requests: bigint; tokens: bigint; atMs: number }>();
  let calls: { account: string; id: string; untilMs: number }[] = [];

  function levels({ account, requestsPerMinute, tokensPerMinute }: LimitedAccount, nowMs: number) {
    const last = used.get(account) ?? { requests: 0n, tokens: 0n, atMs: nowMs };
    const elapsed = BigInt(nowMs - last.atMs);
    const left = (before: bigint, limit: number | null) => {
      if (limit === null) return 0n;
      const after = before - BigInt(limit) * elapsed;
      return after > 0n ? after : 0n;
    };
    return {
      requests: left(last.requests, requestsPerMinute),
      tokens: left(last.tokens, tokensPerMinute),
      atMs: nowMs,
    };
  }

  const inFlight = (account: string, nowMs: number) => {
    calls = calls.filter(({ untilMs }) => untilMs > nowMs);
    return calls.filter((call) => call.account === account).length;
  };
  const units = (count: number) => BigInt(count) * 60_000n;
  const read = (accounts: readonly LimitedAccount[], nowMs: number): RateState[] =>
    accounts.map((limited) => {
      const { requests, tokens } = levels(limited, nowMs);
      return { requests: Number(requests), tokens: Number(tokens), inFlight: inFlight(limited.account, nowMs) };
    });

  return {
    read,
    admit({ id, accounts, tokens, isFurther, nowMs, leaseMs }: AdmitRequest) {
      const now = nowMs as number;
      const isAdmitted = accounts.every((limited) => {
        const { requestsPerMinute, tokensPerMinute, requestsInFlight } = limited;
        const level = levels(limited, now);
        if (tokensPerMinute !== null && level.tokens + units(tokens) > units(tokensPerMinute)) return false;
        if (isFurther) return true;
        if (requestsPerMinute !== null && level.requests + units(1) > units(requestsPerMinute)) return false;
        return requestsInFlight === null || inFlight(limited.account, now) + 1 <= requestsInFlight;
      });
      if (isAdmitted)
        for (const limited of accounts) {
          const level = levels(limited, now);
          if (limited.requestsPerMinute !== null && !isFurther) level.requests += units(1);
          if (limited.tokensPerMinute !== null) level.tokens += units(tokens);
          used.set(limited.account, level);
          const isCounted = limited.tokensPerMinute !== null || limited.requestsInFlight !== null;
          if (isCounted && !isFurther) calls.push({ account: limited.account, id, untilMs: now + leaseMs });
        }
      return { isAdmitted, states: read(accounts, now) };
    },
    end({ id, accounts, moreTokens, nowMs }: CallEnding) {
      const now = nowMs as number;
      for (const limited of accounts) {
        inFlight(limited.account, now);
        const before = calls.length;
        calls = calls.filter((call) => call.account !== limited.account || call.id !== id);
        if (calls.length === before) continue;
        const level = levels(limited, now);
        if (limited.tokensPerMinute !== null) {
          const corrected = level.tokens + BigInt(moreTokens) * 60_000n;
          level.tokens = corrected > 0n ? corrected : 0n;
        }
        used.set(limited.account, level);
      }
    },
    renew(places: readonly string[], nowMs: number, leaseMs: number) {
      calls = calls.filter(({ untilMs }) => untilMs > nowMs);
      for (const call of calls)
        if (places.includes(`${call.account} ${call.id}`)) call.untilMs = Math.max(call.untilMs, nowMs + leaseMs);
    },
  };
}
