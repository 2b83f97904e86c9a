import type { WorkspaceId } from '../../call/workspace.ts';
import type { PostgresConnection } from '../storage/postgres-connection.ts';
import { codeOf, isLost } from '../storage/postgres-pool.ts';
import type { PostgresNames } from '../storage/postgres-sql.ts';
import type {
  Addition,
  EndOutcome,
  HoldOutcome,
  Ledger,
  LedgerOptions,
  LimitedWindow,
  Window,
  WindowState,
} from './ledger.ts';
import { ledgerNames } from './postgres-tables.ts';

type Step =
  | {
      kind: 'hold';
      id: string;
      amountNanoUsd: number;
      windows: readonly LimitedWindow[];
      nowMs: number;
      leaseUntilMs: number;
    }
  | { kind: 'settle'; id: string; actualNanoUsd: number; nowMs: number }
  | { kind: 'release'; id: string; nowMs: number }
  | { kind: 'renew'; ids: readonly string[]; leaseUntilMs: number }
  | { kind: 'expire'; nowMs: number }
  | { kind: 'add'; id: string; additions: readonly Addition[]; nowMs: number }
  | { kind: 'read'; windows: readonly Window[]; nowMs: number }
  | { kind: 'forget' };

interface Waiting {
  step: Step;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** The most steps in one call: they take some ten milliseconds of the server's time. */
const maxSteps = 128;

/**
 * One function runs the steps of one workspace in one transaction, under a lock of that workspace. No transaction waits
 * for two locks, so there is no deadlock.
 *
 * While steps of a workspace are in flight, its next steps wait here and are then sent together. So many requests at
 * the same time cost one transaction after another, not a connection each.
 */
export function postgresLedger(
  connection: PostgresConnection,
  names: PostgresNames,
  { onLostHold }: LedgerOptions,
): Ledger {
  const { take } = ledgerNames(names);
  const lines = new Map<WorkspaceId, Waiting[]>();

  function ask<T>(workspaceId: WorkspaceId, step: Step): Promise<T> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { step, resolve: (result) => resolve(result as T), reject };
      const line = lines.get(workspaceId);
      if (line) line.push(waiting);
      else void serve(workspaceId, [waiting]);
    });
  }

  async function serve(workspaceId: WorkspaceId, line: Waiting[]): Promise<void> {
    lines.set(workspaceId, line);
    let alone = 0;
    while (line.length > 0) {
      const together = line.splice(0, alone > 0 ? 1 : maxSteps);
      alone = Math.max(0, alone - 1);
      try {
        await send(workspaceId, together);
      } catch (error) {
        if (together.length > 1 && isOfValue(error)) {
          alone = together.length;
          line.unshift(...together);
          continue;
        }
        const failed = isOfValue(error) ? together : [...together, ...line.splice(0)];
        // The steps in the queue have waited for the same server. If they were kept, more would come than it can
        // process.
        for (const { reject } of failed) reject(error);
      }
    }
    lines.delete(workspaceId);
  }

  async function send(workspaceId: WorkspaceId, together: readonly Waiting[]): Promise<void> {
    const steps = JSON.stringify(together.map(({ step }) => step));
    const values = [connection.namespace, workspaceId, onLostHold === 'charge', steps];
    let lost: unknown = null;
    const results = await connection.call(take, values, false).catch((error: unknown) => {
      if (!isLost(error)) throw error;
      // No step does anything twice, so the call is repeated. Only once: if the server is down, the repeat fails as
      // well.
      lost = error;
      return connection.call(take, values, false);
    });
    const parsed = together.map((_, index): unknown => JSON.parse(results[index] ?? ''));
    for (const [index, { step, resolve, reject }] of together.entries()) {
      // An unknown hold may have been ended by this same settlement, before the connection was lost. The caller must
      // not take it for a hold that was never made, and book the amount again.
      if (lost !== null && step.kind === 'settle' && parsed[index] === 'unknown') reject(lost);
      else resolve(parsed[index]);
    }
  }

  return {
    hold: ({ id, workspaceId, amountNanoUsd, windows, nowMs, leaseUntilMs }) =>
      ask<HoldOutcome>(workspaceId, { kind: 'hold', id, amountNanoUsd, windows, nowMs, leaseUntilMs }),
    settle: (workspaceId, id, actualNanoUsd, nowMs) =>
      ask<EndOutcome>(workspaceId, { kind: 'settle', id, actualNanoUsd, nowMs }),
    release: (workspaceId, id, nowMs) => ask<EndOutcome>(workspaceId, { kind: 'release', id, nowMs }),
    renew: (workspaceId, ids, leaseUntilMs) => ask(workspaceId, { kind: 'renew', ids, leaseUntilMs }),
    expire: (workspaceId, nowMs) => ask<number>(workspaceId, { kind: 'expire', nowMs }),
    add: (workspaceId, id, additions, nowMs) => ask(workspaceId, { kind: 'add', id, additions, nowMs }),
    read: (workspaceId, windows, nowMs) => ask<WindowState[]>(workspaceId, { kind: 'read', windows, nowMs }),
    forget: (workspaceId) => ask(workspaceId, { kind: 'forget' }),
  };
}

/**
 * One of the steps has a value that the server cannot process, such as half a nano-dollar. The other steps are valid.
 */
function isOfValue(error: unknown): boolean {
  return /^2[23]/.test(codeOf(error));
}
