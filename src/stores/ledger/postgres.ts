import type { WorkspaceId } from '../../call/workspace.ts';
import type { PostgresConnection } from '../storage/postgres-connection.ts';
import { codeOf } from '../storage/postgres-pool.ts';
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
      leaseMs: number;
    }
  | { kind: 'settle'; id: string; actualNanoUsd: number }
  | { kind: 'release'; id: string }
  | { kind: 'renew'; ids: readonly string[]; leaseMs: number }
  | { kind: 'expire' }
  | { kind: 'add'; id: string; additions: readonly Addition[] }
  | { kind: 'read'; windows: readonly Window[] }
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
  { onLostHold, now }: LedgerOptions,
): Ledger {
  const { take } = ledgerNames(names);
  const lines = new Map<WorkspaceId, Waiting[]>();

  function ask<T>(workspaceId: WorkspaceId, step: Step): Promise<T> {
    return new Promise((resolve, reject) => {
      const timed = now ? { ...step, nowMs: Math.floor(now()) } : step;
      const waiting: Waiting = { step: timed, resolve: (result) => resolve(result as T), reject };
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
    // No step does anything twice, so the call is repeated when the connection was lost.
    const results = await connection.call(take, values, true);
    const parsed = together.map((_, index): unknown => JSON.parse(results[index] ?? ''));
    for (const [index, { resolve }] of together.entries()) resolve(parsed[index]);
  }

  return {
    hold: ({ id, workspaceId, amountNanoUsd, windows, leaseMs }) =>
      ask<HoldOutcome>(workspaceId, { kind: 'hold', id, amountNanoUsd, windows, leaseMs }),
    settle: (workspaceId, id, actualNanoUsd) => ask<EndOutcome>(workspaceId, { kind: 'settle', id, actualNanoUsd }),
    release: (workspaceId, id) => ask<EndOutcome>(workspaceId, { kind: 'release', id }),
    renew: (workspaceId, ids, leaseMs) => ask(workspaceId, { kind: 'renew', ids, leaseMs }),
    expire: (workspaceId) => ask<number>(workspaceId, { kind: 'expire' }),
    add: (workspaceId, id, additions) => ask(workspaceId, { kind: 'add', id, additions }),
    read: (workspaceId, windows) => ask<WindowState[]>(workspaceId, { kind: 'read', windows }),
    forget: (workspaceId) => ask(workspaceId, { kind: 'forget' }),
  };
}

/**
 * One of the steps has a value that the server cannot process, such as half a nano-dollar. The other steps are valid.
 */
function isOfValue(error: unknown): boolean {
  return /^2[23]/.test(codeOf(error));
}
