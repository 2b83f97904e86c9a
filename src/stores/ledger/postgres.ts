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
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

/** Steps that go together at most: some ten milliseconds of the server's time. */
const maxSteps = 128;

/**
 * One function, which takes the steps of one workspace in one transaction under a lock of that workspace: nobody waits
 * for two locks, so there is no deadlock.
 *
 * While a workspace's steps are in flight, the next ones wait here and then go together: a crowd costs one transaction
 * at a time, not a connection each.
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
      const waiting: Waiting = { step, resolve: (answer) => resolve(answer as T), reject };
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
        // Who stands behind has waited for the same server: more would come than it can catch up with.
        for (const { reject } of failed) reject(error);
      }
    }
    lines.delete(workspaceId);
  }

  async function send(workspaceId: WorkspaceId, together: readonly Waiting[]): Promise<void> {
    const steps = JSON.stringify(together.map(({ step }) => step));
    const values = [connection.namespace, workspaceId, onLostHold === 'charge', steps];
    let lost: unknown = null;
    const answers = await connection.call(take, values, false).catch((error: unknown) => {
      if (!isLost(error)) throw error;
      // No step does anything twice. Once: when the server is down, the next attempt is told so.
      lost = error;
      return connection.call(take, values, false);
    });
    const parsed = together.map((_, index): unknown => JSON.parse(answers[index] ?? ''));
    for (const [index, { step, resolve, reject }] of together.entries()) {
      // A hold that has ended may have been ended by this very settlement, before the connection was lost: whoever
      // took it for one that was never made would book it again.
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

/** One of the steps holds what the server cannot work with, such as half a nano-dollar: not the fault of the others. */
function isOfValue(error: unknown): boolean {
  return /^2[23]/.test(codeOf(error));
}
