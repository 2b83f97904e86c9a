import { closeSync, openSync } from 'node:fs';
import process from 'node:process';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';

/** A value of a column. */
export type SqliteValue = string | number | bigint | null | Uint8Array;

/** A prepared statement. */
export interface SqliteStatement {
  /** Runs a statement that changes rows, and returns their number. */
  run(...values: SqliteValue[]): { changes: number | bigint };
  /** The first row; undefined without one. */
  get(...values: SqliteValue[]): Record<string, unknown> | undefined;
  /** Every row. */
  all(...values: SqliteValue[]): Record<string, unknown>[];
}

/**
 * One connection. Its work is synchronous and runs one after the other. Work that waits for the file's lock of another
 * process does not block this process.
 */
export interface SqliteDatabase {
  /** Compiled once per text. For use within `read` and `transact`. */
  prepare(sql: string): SqliteStatement;
  /** Runs statements without parameters. */
  exec(sql: string): void;
  /** Tables and indexes to create at the first use: complete `CREATE … IF NOT EXISTS` statements. */
  define(schema: readonly string[]): void;
  /** Runs code that reads one state of the database. */
  read<T>(work: () => T): Promise<T>;
  /**
   * Runs code as one transaction, in the order of the calls. If the code throws, the transaction is rolled back. The
   * code may run again from the start when another process got the lock first.
   * @throws SQLite's own error, or an Error when the lock was not free in time
   */
  transact<T>(work: () => T): Promise<T>;
  /** true: other processes use the same database. */
  readonly isShared: boolean;
}

export interface OpenDatabase extends SqliteDatabase {
  /** Closes the file. Waiting work is rejected. */
  close(): void;
}

interface Waiting {
  work: () => unknown;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  untilMs: number;
}

type Outcome<T> = { isBusy: false; value: T } | { isBusy: true; error: unknown };

/**
 * The time for which the lock is requested without a pause. Other processes hold the lock for some 50 µs at a time, and
 * there is no queue. A process that only asked every few milliseconds would rarely find the lock free while another one
 * is busy.
 */
const spinMs = 0.5;
/** Work that has waited runs in turns of this length, so that the process can do other work between them. */
const turnMs = 5;

/** @throws Error if there is no `node:sqlite`, or the file cannot be opened, or is no database */
export function openDatabase(path: string, busyTimeoutMs: number): OpenDatabase {
  const { isShared, database } = openFile(path);
  const statements = new Map<string, StatementSync>();
  const line: Waiting[] = [];
  const schemas: (readonly string[])[] = [];
  let isMoving = false;
  let isConfigured = false;
  let isClosed = false;

  function prepare(sql: string): StatementSync {
    let statement = statements.get(sql);
    if (!statement) {
      statement = database.prepare(sql);
      statements.set(sql, statement);
    }
    return statement;
  }

  /** Runs at the first use, not when the file is opened: each step may find the file locked, and is then repeated. */
  function setUp(): void {
    if (!isConfigured) {
      database.exec('PRAGMA journal_mode = WAL');
      database.exec('PRAGMA synchronous = NORMAL');
      isConfigured = true;
    }
    for (let schema = schemas[0]; schema; schema = schemas[0]) {
      for (const sql of schema) database.exec(sql);
      schemas.shift();
    }
  }

  function attempt<T>(begin: string, work: () => T): Outcome<T> {
    if (isClosed) throw new Error('sqliteStore: the database is closed');
    let hasBegun = false;
    try {
      setUp();
      prepare(begin).run();
      hasBegun = true;
      const value = work();
      prepare('COMMIT').run();
      return { isBusy: false, value };
    } catch (error) {
      // Some failures, such as a full disk, may already have ended the transaction.
      if (hasBegun && database.isTransaction) prepare('ROLLBACK').run();
      if (isBusyError(error)) return { isBusy: true, error };
      throw named(error);
    }
  }

  function attemptForAWhile<T>(begin: string, work: () => T): Outcome<T> {
    const untilMs = performance.now() + spinMs;
    let outcome = attempt(begin, work);
    while (outcome.isBusy && performance.now() < untilMs) outcome = attempt(begin, work);
    return outcome;
  }

  async function move(): Promise<void> {
    let turnEndsMs = performance.now() + turnMs;
    for (let first = line[0]; first; first = line[0]) {
      let outcome: Outcome<unknown>;
      try {
        outcome = attemptForAWhile('BEGIN IMMEDIATE', first.work);
      } catch (error) {
        line.shift();
        first.reject(error);
        continue;
      }
      if (!outcome.isBusy) {
        line.shift();
        first.resolve(outcome.value);
      } else if (performance.now() >= first.untilMs) {
        line.shift();
        first.reject(lockError(busyTimeoutMs, outcome.error));
        continue;
      }
      if (outcome.isBusy || performance.now() >= turnEndsMs) {
        await delay(outcome.isBusy ? pauseMs() : 0);
        turnEndsMs = performance.now() + turnMs;
      }
    }
    // No `await` between the last look at the queue and this line, so that new work always starts the queue again.
    isMoving = false;
  }

  return {
    isShared,
    prepare,
    exec: (sql) => database.exec(sql),
    define: (schema) => void schemas.push(schema),
    async read(work) {
      const untilMs = performance.now() + busyTimeoutMs;
      for (;;) {
        const outcome = attempt('BEGIN', work);
        if (!outcome.isBusy) return outcome.value;
        if (performance.now() >= untilMs) throw lockError(busyTimeoutMs, outcome.error);
        await delay(pauseMs());
      }
    },
    async transact<T>(work: () => T): Promise<T> {
      if (line.length === 0) {
        const outcome = attempt('BEGIN IMMEDIATE', work);
        if (!outcome.isBusy) return outcome.value;
      }
      return new Promise<T>((resolve, reject) => {
        const untilMs = performance.now() + busyTimeoutMs;
        line.push({ work, resolve: resolve as Waiting['resolve'], reject, untilMs });
        if (isMoving) return;
        isMoving = true;
        void move();
      });
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      database.close();
    },
  };
}

function openFile(path: string): { isShared: boolean; database: DatabaseSync } {
  // Not imported: on Node 22 the import would print a warning, and other runtimes would fail with a less clear error.
  const sqlite = process.getBuiltinModule?.('node:sqlite');
  if (!sqlite) {
    throw new Error('sqliteStore needs node:sqlite, which this runtime does not have; Node 22.19 or newer has it');
  }
  const isShared = path !== ':memory:';
  let database: DatabaseSync | null = null;
  try {
    if (isShared) createFile(path);
    database = new sqlite.DatabaseSync(path);
    // Reads the header. A lock is no error here: its owner will release it.
    database.prepare('PRAGMA schema_version').get();
  } catch (error) {
    if (database && isBusyError(error)) return { isShared, database };
    database?.close();
    throw new Error(`sqliteStore: ${describeFailure(path, error)}`, { cause: error });
  }
  return { isShared, database };
}

/**
 * Creates the file for its owner only. SQLite gives the files beside it the same mode. An existing file is not changed.
 */
function createFile(path: string): void {
  try {
    closeSync(openSync(path, 'ax', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function describeFailure(path: string, error: unknown): string {
  const primary = primaryCode(error);
  if (primary === 26) return `the file ${path} is not an SQLite database`;
  if (primary === 11) return `the database ${path} is damaged`;
  return `the file ${path} cannot be opened: ${error instanceof Error ? error.message : error}`;
}

/** SQLite's primary result code, without the extended part; null for another error. */
function primaryCode(error: unknown): number | null {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === 'number' ? code & 0xff : null;
}

/** All SQLite errors have the same Node code. A log that shows only codes would not show, for example, a full disk. */
function named(error: unknown): unknown {
  const name = names.get(primaryCode(error) ?? 0);
  return name === undefined ? error : Object.assign(error as Error, { code: name });
}

const names = new Map([
  [3, 'SQLITE_PERM'],
  [7, 'SQLITE_NOMEM'],
  [8, 'SQLITE_READONLY'],
  [10, 'SQLITE_IOERR'],
  [11, 'SQLITE_CORRUPT'],
  [13, 'SQLITE_FULL'],
  [14, 'SQLITE_CANTOPEN'],
  [26, 'SQLITE_NOTADB'],
]);

/** SQLITE_BUSY, SQLITE_LOCKED, and SQLITE_PROTOCOL, which is a race for the lock of the log. */
function isBusyError(error: unknown): boolean {
  const primary = primaryCode(error);
  return primary === 5 || primary === 6 || primary === 15;
}

function lockError(busyTimeoutMs: number, cause: unknown): Error {
  const error = new Error(`sqliteStore: another process has locked the database for ${busyTimeoutMs} ms`, { cause });
  return Object.assign(error, { code: 'SQLITE_BUSY' });
}

/** A random pause: with equal pauses, waiting processes would collide again and again. */
function pauseMs(): number {
  return 1 + Math.random() * 2;
}
