import { batched } from '../batch.ts';
import type { PostgresConnection } from '../storage/postgres/connection.ts';
import type { PostgresNames } from '../storage/postgres/sql.ts';
import { rateNames } from './postgres-functions.ts';
import { type AdmitOutcome, countsCalls, type LimitedAccount, type RateState, type Rates } from './rates.ts';

/** The most steps in one call: they take some ten milliseconds of the server's time. */
const maxSteps = 128;

/**
 * Rate limits in PostgreSQL. One function runs the steps of one workspace in one transaction, under a lock of that
 * workspace, by the clock of the server. While steps of a workspace are in flight, its next steps wait here and are
 * then sent together: a limited workspace never uses more than one connection.
 */
export function postgresRates(connection: PostgresConnection, names: PostgresNames): Rates {
  const { step: functionName } = rateNames(names);
  const ask = batched<object, unknown>({ send, maxSteps });

  /** Never repeats a call: a request that counts twice would block another one. */
  async function send(workspaceId: string, steps: readonly object[]): Promise<unknown[]> {
    const values = [connection.namespace, workspaceId, JSON.stringify(steps)];
    const results = await connection.call(functionName, values, false);
    return steps.map((_, at) => JSON.parse(results[at] ?? ''));
  }

  return {
    hasClock: true,
    admit: ({ workspaceId, accounts, nowMs, ...rest }) =>
      ask(workspaceId, {
        kind: 'admit',
        ...rest,
        nowMs: whole(nowMs),
        accounts: accounts.map(withCounts),
      }) as Promise<AdmitOutcome>,
    end: ({ workspaceId, id, accounts, moreTokens, nowMs }) =>
      ask(workspaceId, {
        kind: 'end',
        id,
        tokens: moreTokens,
        nowMs: whole(nowMs),
        accounts: accounts.map(withCounts),
      }) as Promise<void>,
    async renew(workspaceId, places, nowMs, leaseMs) {
      if (places.length > 0) await ask(workspaceId, { kind: 'renew', places, nowMs: whole(nowMs), leaseMs });
    },
    async read(workspaceId, accounts, nowMs) {
      if (accounts.length === 0) return [];
      const step = { kind: 'read', nowMs: whole(nowMs), accounts: accounts.map(withCounts) };
      return ask(workspaceId, step) as Promise<RateState[]>;
    },
    forget: (workspaceId) => ask(workspaceId, { kind: 'forget' }) as Promise<void>,
  };
}

function whole(nowMs: number | null): number | null {
  return nowMs === null ? null : Math.floor(nowMs);
}

function withCounts(limited: LimitedAccount) {
  return { ...limited, countsCalls: countsCalls(limited) };
}
