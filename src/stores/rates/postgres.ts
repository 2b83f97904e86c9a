import type { WorkspaceId } from '../../call/workspace.ts';
import type { PostgresConnection } from '../storage/postgres-connection.ts';
import type { PostgresNames } from '../storage/postgres-sql.ts';
import { rateNames } from './postgres-functions.ts';
import { type AdmitOutcome, countsCalls, type LimitedAccount, type RateState, type Rates } from './rates.ts';

interface Waiting {
  step: object;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** The most steps in one call: they take some ten milliseconds of the server's time. */
const maxSteps = 128;

/**
 * One function runs the steps of one workspace in one transaction, under a lock of that workspace, by the clock of the
 * server. While steps of a workspace are in flight, its next steps wait here and are then sent together: a limited workspace
 * never uses more than one connection.
 */
export function postgresRates(connection: PostgresConnection, names: PostgresNames): Rates {
  const { step: functionName } = rateNames(names);
  const lines = new Map<WorkspaceId, Waiting[]>();

  function ask<T>(workspaceId: WorkspaceId, step: object): Promise<T> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { step, resolve: (result) => resolve(result as T), reject };
      const line = lines.get(workspaceId);
      if (line) line.push(waiting);
      else void serve(workspaceId, [waiting]);
    });
  }

  async function serve(workspaceId: WorkspaceId, line: Waiting[]): Promise<void> {
    lines.set(workspaceId, line);
    while (line.length > 0) {
      const together = line.splice(0, maxSteps);
      try {
        await send(workspaceId, together);
      } catch (error) {
        // The steps in the queue have waited for the same server.
        for (const { reject } of [...together, ...line.splice(0)]) reject(error);
      }
    }
    lines.delete(workspaceId);
  }

  /** Never repeated: what was counted twice would stand in somebody's way. */
  async function send(workspaceId: WorkspaceId, together: readonly Waiting[]): Promise<void> {
    const values = [connection.namespace, workspaceId, JSON.stringify(together.map(({ step }) => step))];
    const results = await connection.call(functionName, values, false);
    const parsed = together.map((_, at): unknown => JSON.parse(results[at] ?? ''));
    for (const [at, { resolve }] of together.entries()) resolve(parsed[at]);
  }

  return {
    hasClock: true,
    admit: ({ workspaceId, accounts, nowMs, ...rest }) =>
      ask<AdmitOutcome>(workspaceId, {
        kind: 'admit',
        ...rest,
        nowMs: whole(nowMs),
        accounts: accounts.map(withCounts),
      }),
    end: ({ workspaceId, id, accounts, moreTokens, nowMs }) =>
      ask(workspaceId, {
        kind: 'end',
        id,
        tokens: moreTokens,
        nowMs: whole(nowMs),
        accounts: accounts.map(withCounts),
      }),
    async renew(workspaceId, places, nowMs, leaseMs) {
      if (places.length > 0) await ask(workspaceId, { kind: 'renew', places, nowMs: whole(nowMs), leaseMs });
    },
    async read(workspaceId, accounts, nowMs) {
      if (accounts.length === 0) return [];
      return ask<RateState[]>(workspaceId, { kind: 'read', nowMs: whole(nowMs), accounts: accounts.map(withCounts) });
    },
    forget: (workspaceId) => ask(workspaceId, { kind: 'forget' }),
  };
}

function whole(nowMs: number | null): number | null {
  return nowMs === null ? null : Math.floor(nowMs);
}

function withCounts(limited: LimitedAccount) {
  return { ...limited, countsCalls: countsCalls(limited) };
}
