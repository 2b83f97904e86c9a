import { gathered } from '../batch.ts';
import { inNamespace, type SqliteDatabase } from '../sqlite-database.ts';
import { NotSentError } from '../storage/circuit.ts';
import type { Ledger, LedgerOptions } from './ledger.ts';
import { openBooks, type SqliteBooks } from './sqlite-books.ts';
import { sqliteLedgerTables } from './sqlite-tables.ts';

interface Waiting {
  step(books: SqliteBooks): unknown;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** The most steps in one transaction: they take some milliseconds, in which nothing else runs in this process. */
const maxSteps = 128;

/**
 * A ledger in SQLite. The steps that come in a few turns of the event loop, or while another process has the lock,
 * share a transaction. SQLite runs one transaction at a time over all processes. All processes are on one machine, so
 * leases follow the clock of the machine, not the clock of the gateway.
 */
export function sqliteLedger(
  database: SqliteDatabase,
  { onLostHold, namespace, now = Date.now }: LedgerOptions & { namespace?: string | undefined },
): Ledger {
  const inStore = inNamespace(namespace);
  database.define(sqliteLedgerTables);
  let line: Waiting[] = [];
  let isServing = false;

  function transact(steps: readonly Waiting[]): Promise<unknown[]> {
    return database.transact(() => {
      const books = openBooks(database, { onLostHold }, now());
      const results = steps.map(({ step }) => step(books));
      books.close();
      return results;
    });
  }

  async function serve(): Promise<void> {
    while (line.length > 0) {
      await gathered(line, maxSteps);
      const together = line.slice(0, maxSteps);
      line = line.slice(maxSteps);
      try {
        const results = await transact(together);
        for (const [at, { resolve }] of together.entries()) resolve(results[at]);
      } catch (error) {
        // The transaction has changed nothing. If one step caused the error, for example with a damaged record, the
        // others succeed without it.
        if (together.length === 1 || isOfDatabase(error)) for (const { reject } of together) reject(undone(error));
        else for (const one of together) await transact([one]).then(([result]) => one.resolve(result), one.reject);
      }
    }
    // There is no `await` between the last look at the line and this statement: a step that comes later always starts
    // the next transaction.
    isServing = false;
  }

  function ask<T>(step: (books: SqliteBooks) => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      line.push({ step, resolve: resolve as Waiting['resolve'], reject });
      if (isServing) return;
      isServing = true;
      void serve();
    });
  }

  /** Reads without the lock of writers, unless lost holds have to end first. */
  async function afterExpiry<T>(workspace: string, read: (books: SqliteBooks, expired: number) => T): Promise<T> {
    const isLost = () =>
      database
        .prepare('SELECT 1 FROM gateway_holds WHERE workspace = ? AND lease_until_ms <= ? LIMIT 1')
        .get(workspace, now()) !== undefined;
    const seen = await database.read(() =>
      isLost() ? null : { value: read(openBooks(database, { onLostHold }, now()), 0) },
    );
    return seen ? seen.value : ask((books) => read(books, books.expire(workspace)));
  }

  return {
    hold: async ({ workspaceId, ...request }) => {
      checkSum(request.amountNanoUsd);
      return ask((books) => books.hold(inStore(workspaceId), request));
    },
    settle: async (workspaceId, id, actualNanoUsd) => {
      checkSum(actualNanoUsd);
      return ask((books) => books.end(inStore(workspaceId), id, actualNanoUsd, false));
    },
    release: (workspaceId, id) => ask((books) => books.end(inStore(workspaceId), id, 0, true)),
    draw: async (workspaceId, drawn) => {
      for (const sum of [drawn.fromNanoUsd, drawn.toNanoUsd, drawn.spentNanoUsd]) checkSum(sum);
      return ask((books) => books.draw(inStore(workspaceId), drawn));
    },
    async renew(workspaceId, ids, leaseMs) {
      if (ids.length > 0) await ask((books) => books.renew(inStore(workspaceId), ids, leaseMs));
    },
    expire: (workspaceId) => afterExpiry(inStore(workspaceId), (_, expired) => expired),
    lost: (workspaceId, sinceMs) => {
      const workspace = inStore(workspaceId);
      return afterExpiry(workspace, (books) => books.lost(workspace, sinceMs));
    },
    add: async (workspaceId, id, additions) => {
      for (const { nanoUsd } of additions) checkSum(Math.abs(nanoUsd));
      return ask((books) => books.add(inStore(workspaceId), id, additions));
    },
    read: (workspaceId, windows) => {
      const workspace = inStore(workspaceId);
      return afterExpiry(workspace, (books) => books.read(workspace, windows));
    },
    forget: (workspaceId) => ask((books) => books.forget(inStore(workspaceId))),
  };
}

function checkSum(nanoUsd: number): void {
  if (!Number.isSafeInteger(nanoUsd) || nanoUsd < 0) throw new RangeError('A sum must be a whole number of nano-USD');
}

/** Tells whether the file is locked, full, read-only or damaged: then all steps would fail. */
function isOfDatabase(error: unknown): boolean {
  return String((error as { code?: unknown } | null)?.code).startsWith('SQLITE_');
}

/**
 * Marks an error as NotSentError if nothing was begun, because the lock was busy. After other failures it is not known
 * whether the transaction was committed.
 */
function undone(error: unknown): unknown {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: string };
  return code === 'SQLITE_BUSY' ? new NotSentError(message, error) : error;
}
