import { inNamespace, type SqliteDatabase } from '../sqlite-database.ts';
import {
  type EndOutcome,
  expireBatch,
  keepEndedMs,
  keepWindowsMs,
  type Ledger,
  type LedgerOptions,
  maxSettled,
  type Window,
  type WindowState,
} from './ledger.ts';

// Amounts are integers of 64 bits. Times are REAL, which holds the values of any clock. `windows` is JSON.
const schema = [
  `CREATE TABLE IF NOT EXISTS gateway_windows
    (workspace TEXT NOT NULL, account TEXT NOT NULL, interval TEXT NOT NULL, start_ms INTEGER NOT NULL, end_ms INTEGER,
    spent INTEGER NOT NULL, held INTEGER NOT NULL, PRIMARY KEY (workspace, account, interval, start_ms)) STRICT`,
  `CREATE INDEX IF NOT EXISTS gateway_windows_end
    ON gateway_windows (workspace, end_ms) WHERE end_ms IS NOT NULL`,
  `CREATE TABLE IF NOT EXISTS gateway_holds
    (workspace TEXT NOT NULL, id TEXT NOT NULL, amount INTEGER NOT NULL, lease_until_ms REAL NOT NULL,
    windows TEXT NOT NULL, PRIMARY KEY (workspace, id)) STRICT, WITHOUT ROWID`,
  'CREATE INDEX IF NOT EXISTS gateway_holds_lease ON gateway_holds (workspace, lease_until_ms)',
  // With windows: an expired hold, which may still be settled. Without windows: an id that must not be used again.
  `CREATE TABLE IF NOT EXISTS gateway_ended
    (workspace TEXT NOT NULL, id TEXT NOT NULL, forget_at_ms REAL NOT NULL, charged INTEGER NOT NULL, windows TEXT,
    PRIMARY KEY (workspace, id)) STRICT`,
  'CREATE INDEX IF NOT EXISTS gateway_ended_forget ON gateway_ended (workspace, forget_at_ms)',
  // The ids of settled holds, numbered per workspace in the order of their settlements.
  `CREATE TABLE IF NOT EXISTS gateway_settled
    (workspace TEXT NOT NULL, id TEXT NOT NULL, number INTEGER NOT NULL, forget_at_ms REAL NOT NULL,
    PRIMARY KEY (workspace, id)) STRICT, WITHOUT ROWID`,
  'CREATE INDEX IF NOT EXISTS gateway_settled_number ON gateway_settled (workspace, number, forget_at_ms)',
];

/** The number of old rows that are removed for each added row, so that their total cannot grow. */
const sweepBatch = 20;
/** The number of the oldest settled ids that are looked at for each new one. */
const settledBatch = 4;
/** The largest amount, some 9 million USD. An amount stays there, because a larger one could not be read exactly. */
const most = Number.MAX_SAFE_INTEGER;

const whereWindow = 'workspace = ? AND account = ? AND interval = ? AND start_ms = ?';
const whereId = 'workspace = ? AND id = ?';

type HoldRow = { id: string; amount: number; windows: string };

/**
 * Every step is one transaction of SQLite. SQLite runs one transaction at a time over all processes. All of these are on
 * one machine, so the clock of the machine decides about leases, whatever clock a gateway was given.
 */
export function sqliteLedger(
  database: SqliteDatabase,
  { onLostHold, namespace, now = Date.now }: LedgerOptions & { namespace?: string },
): Ledger {
  const inStore = inNamespace(namespace);
  database.define(schema);
  const run = (sql: string, ...values: (string | number | null)[]) => database.prepare(sql).run(...values).changes;
  const get = (sql: string, ...values: (string | number | null)[]) => database.prepare(sql).get(...values);

  function stateOf(workspace: string, { account, interval, startMs }: Window): WindowState {
    const row = get(
      `SELECT spent, held FROM gateway_windows WHERE ${whereWindow}`,
      workspace,
      account,
      interval,
      startMs,
    ) as { spent: number; held: number } | undefined;
    return { spentNanoUsd: row?.spent ?? 0, heldNanoUsd: row?.held ?? 0 };
  }

  /** Adds to the spent and the held amount of a window. Either number may be negative. */
  function book(workspace: string, window: Window, spent: number, held: number, nowMs: number): void {
    const { account, interval, startMs, endMs } = window;
    // A parameter is a float, and so is a sum with it. The sum is exact up to `most`, and is cut off there.
    const changed = run(
      `UPDATE gateway_windows SET spent = min(max(spent + ?, 0), ${most}), held = max(held + ?, 0)
        WHERE ${whereWindow}`,
      ...[spent, held, workspace, account, interval, startMs],
    );
    if (Number(changed) > 0) return;
    run(
      `INSERT INTO gateway_windows (workspace, account, interval, start_ms, end_ms, spent, held)
        VALUES (?, ?, ?, ?, ?, max(?, 0), max(?, 0))`,
      ...[workspace, account, interval, startMs, endMs, spent, held],
    );
    run(
      `DELETE FROM gateway_windows WHERE rowid IN
        (SELECT rowid FROM gateway_windows WHERE workspace = ? AND end_ms <= ? AND held = 0 LIMIT ${sweepBatch})`,
      ...[workspace, nowMs - keepWindowsMs],
    );
  }

  function remember(workspace: string, id: string, nowMs: number, charged: number, windows: string | null): void {
    run(
      'INSERT OR REPLACE INTO gateway_ended (workspace, id, forget_at_ms, charged, windows) VALUES (?, ?, ?, ?, ?)',
      ...[workspace, id, nowMs + keepEndedMs, charged, windows],
    );
    run(
      `DELETE FROM gateway_ended WHERE rowid IN
        (SELECT rowid FROM gateway_ended WHERE workspace = ? AND forget_at_ms <= ? LIMIT ${sweepBatch})`,
      ...[workspace, nowMs],
    );
  }

  function rememberSettled(workspace: string, id: string, nowMs: number): void {
    const last = get('SELECT max(number) AS number FROM gateway_settled WHERE workspace = ?', workspace);
    const number = Number(last?.number ?? 0) + 1;
    run(
      'INSERT OR IGNORE INTO gateway_settled (workspace, id, number, forget_at_ms) VALUES (?, ?, ?, ?)',
      ...[workspace, id, number, nowMs + keepEndedMs],
    );
    run(
      `DELETE FROM gateway_settled WHERE workspace = ? AND number IN
        (SELECT number FROM (SELECT number, forget_at_ms FROM gateway_settled WHERE workspace = ?
          ORDER BY number LIMIT ${settledBatch}) WHERE number <= ? OR forget_at_ms <= ?)`,
      ...[workspace, workspace, number - maxSettled, nowMs],
    );
  }

  function wasSettled(workspace: string, id: string): boolean {
    return get(`SELECT 1 FROM gateway_settled WHERE ${whereId}`, workspace, id) !== undefined;
  }

  function ended(workspace: string, id: string, nowMs: number) {
    const row = get(
      `SELECT charged, windows FROM gateway_ended WHERE ${whereId} AND forget_at_ms > ?`,
      ...[workspace, id, nowMs],
    );
    return row as { charged: number; windows: string | null } | undefined;
  }

  /** Removes a hold and books `spent` in its place. */
  function close(workspace: string, { id, amount, windows }: HoldRow, spent: number, nowMs: number): void {
    for (const window of parseWindows(windows)) book(workspace, window, spent, -amount, nowMs);
    run(`DELETE FROM gateway_holds WHERE ${whereId}`, workspace, id);
  }

  function lostHolds(workspace: string, nowMs: number, limit: number): HoldRow[] {
    return database
      .prepare(
        `SELECT id, amount, windows FROM gateway_holds WHERE workspace = ? AND lease_until_ms <= ?
          ORDER BY lease_until_ms LIMIT ?`,
      )
      .all(workspace, nowMs, limit) as HoldRow[];
  }

  function expire(workspace: string, nowMs: number): number {
    const lost = lostHolds(workspace, nowMs, expireBatch);
    for (const hold of lost) {
      const charged = onLostHold === 'charge' ? hold.amount : 0;
      close(workspace, hold, charged, nowMs);
      remember(workspace, hold.id, nowMs, charged, hold.windows);
    }
    return lost.length;
  }

  /** Reads without the lock of writers, unless lost holds have to be ended first. */
  async function afterExpiry<T>(workspace: string, read: (expired: number) => T): Promise<T> {
    const nowMs = now();
    const seen = await database.read(() => (lostHolds(workspace, nowMs, 1).length > 0 ? null : { value: read(0) }));
    return seen ? seen.value : database.transact(() => read(expire(workspace, nowMs)));
  }

  function end(workspace: string, id: string, spent: number, nowMs: number, isRelease: boolean): EndOutcome {
    const hold = get(`SELECT id, amount, windows FROM gateway_holds WHERE ${whereId}`, workspace, id);
    if (hold) {
      close(workspace, hold as HoldRow, spent, nowMs);
      if (isRelease) remember(workspace, id, nowMs, 0, null);
      else rememberSettled(workspace, id, nowMs);
      return 'ended';
    }
    const before = ended(workspace, id, nowMs);
    if (before?.windows) {
      for (const window of parseWindows(before.windows)) book(workspace, window, spent - before.charged, 0, nowMs);
      remember(workspace, id, nowMs, spent, null);
      return 'late';
    }
    if (before || wasSettled(workspace, id)) return 'repeated';
    if (isRelease) remember(workspace, id, nowMs, 0, null);
    return 'unknown';
  }

  return {
    hold: async ({ id, workspaceId, amountNanoUsd, windows, leaseMs }) => {
      checkSum(amountNanoUsd);
      const workspace = inStore(workspaceId);
      return database.transact(() => {
        const nowMs = now();
        expire(workspace, nowMs);
        if (get(`SELECT 1 FROM gateway_holds WHERE ${whereId}`, workspace, id)) return { isHeld: true };
        const states = windows.map((window) => stateOf(workspace, window));
        const fits = states.every(
          // An amount that is too large to be exact exceeds every limit anyway.
          ({ spentNanoUsd, heldNanoUsd }, at) =>
            spentNanoUsd + heldNanoUsd + amountNanoUsd <= (windows[at]?.limitNanoUsd ?? 0),
        );
        if (!fits || ended(workspace, id, nowMs) || wasSettled(workspace, id)) return { isHeld: false, states };
        for (const window of windows) book(workspace, window, 0, amountNanoUsd, nowMs);
        run(
          'INSERT INTO gateway_holds (workspace, id, amount, lease_until_ms, windows) VALUES (?, ?, ?, ?, ?)',
          ...[workspace, id, amountNanoUsd, nowMs + leaseMs, writeWindows(windows)],
        );
        return { isHeld: true };
      });
    },
    settle: async (workspaceId, id, actualNanoUsd) => {
      checkSum(actualNanoUsd);
      return database.transact(() => end(inStore(workspaceId), id, actualNanoUsd, now(), false));
    },
    release: (workspaceId, id) => database.transact(() => end(inStore(workspaceId), id, 0, now(), true)),
    async renew(workspaceId, ids, leaseMs) {
      if (ids.length === 0) return;
      await database.transact(() => {
        const leaseUntilMs = now() + leaseMs;
        for (const id of ids) {
          run(
            `UPDATE gateway_holds SET lease_until_ms = max(lease_until_ms, ?) WHERE ${whereId}`,
            ...[leaseUntilMs, inStore(workspaceId), id],
          );
        }
      });
    },
    expire: (workspaceId) => afterExpiry(inStore(workspaceId), (expired) => expired),
    add: async (workspaceId, id, additions) => {
      for (const { nanoUsd } of additions) checkSum(nanoUsd);
      const workspace = inStore(workspaceId);
      // The prefix keeps this id apart from the ids of holds.
      const idOfAddition = `add:${id}`;
      await database.transact(() => {
        const nowMs = now();
        if (ended(workspace, idOfAddition, nowMs)) return;
        for (const { window, nanoUsd } of additions) book(workspace, window, nanoUsd, 0, nowMs);
        remember(workspace, idOfAddition, nowMs, 0, null);
      });
    },
    read: (workspaceId, windows) => {
      const workspace = inStore(workspaceId);
      return afterExpiry(workspace, () => windows.map((window) => stateOf(workspace, window)));
    },
    forget: (workspaceId) =>
      database.transact(() => {
        for (const table of ['gateway_windows', 'gateway_holds', 'gateway_ended', 'gateway_settled']) {
          run(`DELETE FROM ${table} WHERE workspace = ?`, inStore(workspaceId));
        }
      }),
  };
}

function checkSum(nanoUsd: number): void {
  if (!Number.isSafeInteger(nanoUsd) || nanoUsd < 0) throw new RangeError('A sum must be a whole number of nano-USD');
}

/** Leaves out the limits: they only matter when the hold is made. */
function writeWindows(windows: readonly Window[]): string {
  return JSON.stringify(
    windows.map(({ account, interval, startMs, endMs }) => ({ account, interval, startMs, endMs })),
  );
}

function parseWindows(text: string): Window[] {
  return JSON.parse(text);
}
