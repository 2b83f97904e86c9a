import { batched } from '../batch.ts';
import type { PostgresConnection } from '../storage/postgres/connection.ts';
import { codeOf } from '../storage/postgres/pool.ts';
import type { PostgresNames } from '../storage/postgres/sql.ts';
import type {
  Draw,
  DrawOutcome,
  EndOutcome,
  HoldOutcome,
  HoldRequest,
  Ledger,
  LedgerOptions,
  LimitedWindow,
  LostHold,
  SpendingAddition,
  SpendingWindow,
  WindowState,
} from './ledger.ts';
import { ledgerNames } from './postgres-tables.ts';

type Hold = { kind: 'hold' } & Omit<HoldRequest, 'workspaceId'>;
type Settlement = { kind: 'settle'; id: string; actualNanoUsd: number };
type OtherStep =
  | { kind: 'release'; id: string }
  | ({ kind: 'draw' } & Draw)
  | { kind: 'renew'; ids: readonly string[]; leaseMs: number }
  | { kind: 'expire' }
  | { kind: 'lost'; sinceMs: number }
  | { kind: 'add'; id: string; additions: readonly SpendingAddition[] }
  | { kind: 'read'; windows: readonly SpendingWindow[] }
  | { kind: 'forget' };
type Step = Hold | Settlement | OtherStep;

/** The most steps in one call: they take some milliseconds of the server's time. */
const maxSteps = 128;

/**
 * A ledger in PostgreSQL. One function runs the steps of one workspace in one transaction, under a lock of that
 * workspace. No transaction waits for two locks, so there is no deadlock.
 *
 * While steps of a workspace are in flight, its next steps wait here and are then sent together. So many requests at
 * the same time cost one transaction after another, not a connection each. Holds and settlements of one call share
 * their statements: settlements come first, so that holds find the money that they free.
 */
export function postgresLedger(
  connection: PostgresConnection,
  names: PostgresNames,
  { onLostHold, now }: LedgerOptions,
): Ledger {
  const { take } = ledgerNames(names);
  const isCharged = onLostHold === 'charge';
  const ask = batched<Step, unknown>({
    send,
    maxSteps,
    idOf: (step) => ('id' in step ? step.id : undefined),
    isOfOneStep,
  });

  async function send(workspaceId: string, steps: readonly Step[]): Promise<unknown[]> {
    const settlements = steps.filter((step) => step.kind === 'settle');
    const holds = steps.filter((step) => step.kind === 'hold');
    const others = steps.filter((step) => step.kind !== 'settle' && step.kind !== 'hold');
    const { windows, groups, groupOf } = grouped(holds);
    const values = [
      connection.namespace,
      workspaceId,
      isCharged,
      JSON.stringify(others),
      now ? Math.floor(now()) : null,
      settlements.map(({ id }) => id),
      settlements.map(({ actualNanoUsd }) => actualNanoUsd),
      JSON.stringify(windows),
      JSON.stringify(groups),
      holds.map(({ id }) => id),
      holds.map(({ amountNanoUsd }) => amountNanoUsd),
      holds.map(({ leaseMs }) => Math.floor(leaseMs)),
      groupOf,
    ];
    // A repeated step changes nothing, so the call is repeated when the connection was lost.
    const results = await connection.call(take, values, true);
    const found = new Map<Step, unknown>();
    for (const [at, step] of [...settlements, ...holds, ...others].entries()) {
      found.set(step, JSON.parse(results[at] ?? ''));
    }
    return steps.map((step) => found.get(step));
  }

  return {
    hold: ({ workspaceId, ...hold }) => ask(workspaceId, { kind: 'hold', ...hold }) as Promise<HoldOutcome>,
    settle: (workspaceId, id, actualNanoUsd) =>
      ask(workspaceId, { kind: 'settle', id, actualNanoUsd }) as Promise<EndOutcome>,
    release: (workspaceId, id) => ask(workspaceId, { kind: 'release', id }) as Promise<EndOutcome>,
    draw: (workspaceId, draw) => ask(workspaceId, { kind: 'draw', ...draw }) as Promise<DrawOutcome>,
    renew: (workspaceId, ids, leaseMs) => ask(workspaceId, { kind: 'renew', ids, leaseMs }) as Promise<void>,
    expire: (workspaceId) => ask(workspaceId, { kind: 'expire' }) as Promise<number>,
    lost: (workspaceId, sinceMs) =>
      ask(workspaceId, { kind: 'lost', sinceMs: Math.floor(sinceMs) }) as Promise<LostHold[]>,
    add: (workspaceId, id, additions) => ask(workspaceId, { kind: 'add', id, additions }) as Promise<void>,
    read: (workspaceId, windows) => ask(workspaceId, { kind: 'read', windows }) as Promise<WindowState[]>,
    forget: (workspaceId) => ask(workspaceId, { kind: 'forget' }) as Promise<void>,
  };
}

/** Holds in the same windows with the same limits. */
interface Group {
  windows: SpendingWindow[];
  /** For each window: its position among all windows, from 1. */
  at: number[];
  limits: number[];
}

/** Requests with the same limits share their list of windows, so most holds of a call are in one group. */
function grouped(holds: readonly Hold[]): { windows: SpendingWindow[]; groups: Group[]; groupOf: number[] } {
  const windows: SpendingWindow[] = [];
  const positions = new Map<string, number>();
  const groups: Group[] = [];
  const known = new Map<readonly LimitedWindow[], number>();
  const positionOf = (window: SpendingWindow) => {
    const name = `${window.interval} ${window.startMs} ${window.account}`;
    const position = positions.get(name) ?? windows.push(window);
    positions.set(name, position);
    return position;
  };
  const groupOf = holds.map(({ windows: limited }) => {
    const group = known.get(limited);
    if (group !== undefined) return group;
    const bare = limited.map(({ account, interval, startMs, endMs }) => ({ account, interval, startMs, endMs }));
    groups.push({ windows: bare, at: bare.map(positionOf), limits: limited.map(({ limitNanoUsd }) => limitNanoUsd) });
    known.set(limited, groups.length - 1);
    return groups.length - 1;
  });
  return { windows, groups, groupOf };
}

/**
 * Tells whether one of the steps has a value that the server cannot process, such as half a nano-dollar. The other
 * steps are valid.
 */
function isOfOneStep(error: unknown): boolean {
  return /^2[23]/.test(codeOf(error));
}
