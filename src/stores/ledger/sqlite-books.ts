import type { SqliteDatabase } from '../sqlite-database.ts';
import {
  type Draw,
  type DrawOutcome,
  type EndOutcome,
  expireBatch,
  type HoldOutcome,
  type HoldRequest,
  keepEndedMs,
  keepWindowsMs,
  type LedgerOptions,
  type LimitedWindow,
  type LostHold,
  maxSettled,
  type SpendingAddition,
  type SpendingWindow,
  type WindowState,
} from './ledger.ts';
import { sqliteLedgerTableNames } from './sqlite-tables.ts';

/** The number of old rows that are removed for each added row, so that the table does not grow for ever. */
const sweepBatch = 20;
/** The number of the oldest settled ids that are looked at for each new one. */
const settledBatch = 2;
/**
 * The largest amount, some 9 million USD. A sum that reaches it stays there: a larger one could not be read exactly.
 */
const most = Number.MAX_SAFE_INTEGER;

const whereWindow = 'workspace = ? AND account = ? AND interval = ? AND start_ms = ?';
const whereId = 'workspace = ? AND id = ?';

type HoldRow = { id: string; amount: number; windows: string };

/** A window in this transaction. The row is written once, however many steps book in the window. */
interface Sum extends WindowState {
  workspace: string;
  window: SpendingWindow;
  isNew: boolean;
  isChanged: boolean;
}

/** The steps of a ledger. They run one after the other within one transaction; `close` writes what they left. */
export interface SqliteBooks {
  hold(workspace: string, request: Omit<HoldRequest, 'workspaceId'>): HoldOutcome;
  end(workspace: string, id: string, spent: number, isRelease: boolean): EndOutcome;
  draw(workspace: string, draw: Draw): DrawOutcome;
  renew(workspace: string, ids: readonly string[], leaseMs: number): void;
  expire(workspace: string): number;
  lost(workspace: string, sinceMs: number): LostHold[];
  add(workspace: string, id: string, additions: readonly SpendingAddition[]): void;
  read(workspace: string, windows: readonly SpendingWindow[]): WindowState[];
  forget(workspace: string): void;
  close(): void;
}

export function openBooks(database: SqliteDatabase, { onLostHold }: LedgerOptions, nowMs: number): SqliteBooks {
  const sums = new Map<string, Sum>();
  /** The workspaces whose lost holds have all ended. */
  const expired = new Set<string>();
  /** By workspace: the number of the latest settled id, and how many ids this transaction has added. */
  const settled = new Map<string, { number: number; added: number }>();
  const run = (sql: string, ...values: (string | number | null)[]) =>
    Number(database.prepare(sql).run(...values).changes);
  const get = (sql: string, ...values: (string | number | null)[]) => database.prepare(sql).get(...values);

  function sumOf(workspace: string, window: SpendingWindow): Sum {
    const { account, interval, startMs } = window;
    const key = `${workspace} ${interval} ${startMs} ${account}`;
    const known = sums.get(key);
    if (known) return known;
    const row = get(
      `SELECT spent, held FROM gateway_windows WHERE ${whereWindow}`,
      ...[workspace, account, interval, startMs],
    ) as { spent: number; held: number } | undefined;
    const { spent = 0, held = 0 } = row ?? {};
    const sum = { workspace, window, spentNanoUsd: spent, heldNanoUsd: held, isNew: !row, isChanged: false };
    sums.set(key, sum);
    return sum;
  }

  /** Adds to the spent and the held amount of a window. Either number may be negative. */
  function book(workspace: string, window: SpendingWindow, spent: number, held: number): void {
    const sum = sumOf(workspace, window);
    sum.spentNanoUsd = Math.min(Math.max(sum.spentNanoUsd + spent, 0), most);
    sum.heldNanoUsd = Math.max(sum.heldNanoUsd + held, 0);
    sum.isChanged = true;
  }

  function remember(workspace: string, id: string, charged: number, windows: string | null): void {
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

  function rememberSettled(workspace: string, id: string): void {
    let last = settled.get(workspace);
    if (!last) {
      const row = get('SELECT max(number) AS number FROM gateway_settled WHERE workspace = ?', workspace);
      last = { number: Number(row?.number ?? 0), added: 0 };
      settled.set(workspace, last);
    }
    last.added++;
    run(
      'INSERT OR IGNORE INTO gateway_settled (workspace, id, number, forget_at_ms) VALUES (?, ?, ?, ?)',
      ...[workspace, id, ++last.number, nowMs + keepEndedMs],
    );
  }

  function ended(workspace: string, id: string) {
    const row = get(
      `SELECT charged, windows FROM gateway_ended WHERE ${whereId} AND forget_at_ms > ?`,
      ...[workspace, id, nowMs],
    );
    return row as { charged: number; windows: string | null } | undefined;
  }

  function wasEnded(workspace: string, id: string): boolean {
    const row = get(
      `SELECT 1 FROM gateway_settled WHERE ${whereId}
        UNION ALL SELECT 1 FROM gateway_ended WHERE ${whereId} AND forget_at_ms > ?`,
      ...[workspace, id, workspace, id, nowMs],
    );
    return row !== undefined;
  }

  function expire(workspace: string): number {
    const lost = database
      .prepare(
        `SELECT id, amount, windows FROM gateway_holds WHERE workspace = ? AND lease_until_ms <= ?
          ORDER BY lease_until_ms LIMIT ${expireBatch}`,
      )
      .all(workspace, nowMs) as HoldRow[];
    for (const { id, amount, windows } of lost) {
      const charged = onLostHold === 'charge' ? amount : 0;
      for (const window of parseWindows(windows)) book(workspace, window, charged, -amount);
      run(`DELETE FROM gateway_holds WHERE ${whereId}`, workspace, id);
      remember(workspace, id, charged, windows);
    }
    if (lost.length < expireBatch) expired.add(workspace);
    return lost.length;
  }

  function write({ workspace, window, spentNanoUsd, heldNanoUsd, isNew }: Sum): void {
    const { account, interval, startMs, endMs } = window;
    if (!isNew) {
      run(
        `UPDATE gateway_windows SET spent = ?, held = ? WHERE ${whereWindow}`,
        ...[spentNanoUsd, heldNanoUsd, workspace, account, interval, startMs],
      );
      return;
    }
    run(
      `INSERT INTO gateway_windows (workspace, account, interval, start_ms, end_ms, spent, held)
        VALUES (?, ?, ?, ?, ?, ?, ?)`,
      ...[workspace, account, interval, startMs, endMs, spentNanoUsd, heldNanoUsd],
    );
    run(
      `DELETE FROM gateway_windows WHERE rowid IN
        (SELECT rowid FROM gateway_windows WHERE workspace = ? AND end_ms <= ? AND held = 0 LIMIT ${sweepBatch})`,
      ...[workspace, nowMs - keepWindowsMs],
    );
  }

  function flush(): void {
    for (const sum of sums.values()) if (sum.isChanged) write(sum);
    sums.clear();
    for (const [workspace, { number, added }] of settled) {
      run(
        `DELETE FROM gateway_settled WHERE workspace = ? AND number IN
          (SELECT number FROM (SELECT number, forget_at_ms FROM gateway_settled WHERE workspace = ?
            ORDER BY number LIMIT ?) WHERE number <= ? OR forget_at_ms <= ?)`,
        ...[workspace, workspace, settledBatch + 2 * added, number - maxSettled, nowMs],
      );
    }
    settled.clear();
  }

  return {
    hold(workspace, { id, amountNanoUsd, windows, leaseMs }) {
      if (!expired.has(workspace)) expire(workspace);
      const all = windows.map((window) => sumOf(workspace, window));
      const fits = all.every(
        // A sum that is too large to be exact exceeds every limit anyway.
        ({ spentNanoUsd, heldNanoUsd }, at) =>
          spentNanoUsd + heldNanoUsd + amountNanoUsd <= (windows[at]?.limitNanoUsd ?? 0),
      );
      if (!fits || wasEnded(workspace, id)) {
        if (get(`SELECT 1 FROM gateway_holds WHERE ${whereId}`, workspace, id)) return { isHeld: true };
        return { isHeld: false, states: all.map(stateOf) };
      }
      const isAdded = run(
        'INSERT OR IGNORE INTO gateway_holds (workspace, id, amount, lease_until_ms, windows) VALUES (?, ?, ?, ?, ?)',
        ...[workspace, id, amountNanoUsd, nowMs + leaseMs, writeWindows(windows)],
      );
      if (isAdded > 0) for (const window of windows) book(workspace, window, 0, amountNanoUsd);
      return { isHeld: true };
    },
    end(workspace, id, spent, isRelease) {
      const hold = get(`DELETE FROM gateway_holds WHERE ${whereId} RETURNING amount, windows`, workspace, id);
      if (hold) {
        const { amount, windows } = hold as HoldRow;
        for (const window of parseWindows(windows)) book(workspace, window, spent, -amount);
        if (isRelease) remember(workspace, id, 0, null);
        else rememberSettled(workspace, id);
        return 'ended';
      }
      const before = ended(workspace, id);
      if (before?.windows) {
        for (const window of parseWindows(before.windows)) book(workspace, window, spent - before.charged, 0);
        remember(workspace, id, spent, null);
        return 'late';
      }
      if (wasEnded(workspace, id)) return 'repeated';
      if (isRelease) remember(workspace, id, 0, null);
      return 'unknown';
    },
    draw(workspace, { id, fromNanoUsd, toNanoUsd, spentNanoUsd, isLate = false }) {
      const hold = get(`SELECT amount, windows FROM gateway_holds WHERE ${whereId}`, workspace, id);
      if (hold) {
        const { amount, windows } = hold as HoldRow;
        if (amount < fromNanoUsd) return 'repeated';
        run(`UPDATE gateway_holds SET amount = ? WHERE ${whereId}`, toNanoUsd, workspace, id);
        const spent = spentNanoUsd + amount - fromNanoUsd;
        for (const window of parseWindows(windows)) book(workspace, window, spent, toNanoUsd - amount);
        return 'drawn';
      }
      const before = ended(workspace, id);
      if (!before?.windows) return wasEnded(workspace, id) ? 'repeated' : 'unknown';
      if (before.charged < fromNanoUsd) return 'repeated';
      if (!isLate) return 'late';
      run(`UPDATE gateway_ended SET charged = ? WHERE ${whereId}`, toNanoUsd, workspace, id);
      const spent = spentNanoUsd + toNanoUsd - fromNanoUsd;
      for (const window of parseWindows(before.windows)) book(workspace, window, spent, 0);
      return 'late';
    },
    renew(workspace, ids, leaseMs) {
      for (const id of ids) {
        run(
          `UPDATE gateway_holds SET lease_until_ms = max(lease_until_ms, ?) WHERE ${whereId}`,
          ...[nowMs + leaseMs, workspace, id],
        );
      }
    },
    expire,
    lost(workspace, sinceMs) {
      const rows = database
        .prepare(
          `SELECT id, charged, forget_at_ms FROM gateway_ended
            WHERE workspace = ? AND forget_at_ms > ? AND forget_at_ms >= ? AND windows IS NOT NULL`,
        )
        .all(workspace, nowMs, sinceMs + keepEndedMs) as { id: string; charged: number; forget_at_ms: number }[];
      return rows.map(({ id, charged, forget_at_ms: forgetAtMs }) => ({
        id,
        chargedNanoUsd: charged,
        expiredAtMs: forgetAtMs - keepEndedMs,
      }));
    },
    add(workspace, id, additions) {
      // The prefix keeps this id apart from the ids of holds.
      const idOfAddition = `add:${id}`;
      if (ended(workspace, idOfAddition)) return;
      for (const { window, nanoUsd } of additions) book(workspace, window, nanoUsd, 0);
      remember(workspace, idOfAddition, 0, null);
    },
    read: (workspace, windows) => windows.map((window) => stateOf(sumOf(workspace, window))),
    forget(workspace) {
      flush();
      for (const table of sqliteLedgerTableNames) run(`DELETE FROM ${table} WHERE workspace = ?`, workspace);
    },
    close: flush,
  };
}

function stateOf({ spentNanoUsd, heldNanoUsd }: WindowState): WindowState {
  return { spentNanoUsd, heldNanoUsd };
}

/** All requests with the same limits share their list of windows, so the text of each is made once. */
const texts = new WeakMap<readonly LimitedWindow[], string>();

/** Writes windows without their limits, which only matter when the hold is made. */
function writeWindows(windows: readonly LimitedWindow[]): string {
  let text = texts.get(windows);
  if (text === undefined) {
    text = JSON.stringify(
      windows.map(({ account, interval, startMs, endMs }) => ({ account, interval, startMs, endMs })),
    );
    texts.set(windows, text);
  }
  return text;
}

/** The latest windows that were parsed: most holds are in the same windows as the hold before. */
let parsed: { text: string; windows: SpendingWindow[] } = { text: '[]', windows: [] };

function parseWindows(text: string): SpendingWindow[] {
  if (text !== parsed.text) parsed = { text, windows: JSON.parse(text) };
  return parsed.windows;
}
