import type { LedgerOptions } from '../ledger/ledger.ts';
import { sqliteLedger } from '../ledger/sqlite.ts';
import { sqliteRates } from '../rates/sqlite.ts';
import { inNamespace, type SqliteDatabase } from '../sqlite-database.ts';
import type { Address, Change, RankedRecord, Storage } from './storage.ts';

/** The part of the Keyv adapter of `sqliteStore` that we use. */
export interface SqliteAdapter {
  /** Separates stores that share a file. The storage reads it once. */
  namespace?: string | undefined;
  readonly database: SqliteDatabase;
}

// SQLite compares texts by their bytes. A rank of null: not listed.
const schema = [
  `CREATE TABLE IF NOT EXISTS gateway_records
    (partition TEXT NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, value TEXT NOT NULL, rank INTEGER,
    PRIMARY KEY (partition, kind, id)) STRICT`,
  `CREATE INDEX IF NOT EXISTS gateway_records_listed
    ON gateway_records (partition, kind, rank, id) WHERE rank IS NOT NULL`,
];

const where = 'partition = ? AND kind = ? AND id = ?';
const whereListed = 'partition = ? AND kind = ? AND rank IS NOT NULL';

/** A storage in tables of its own, beside Keyv's table. */
export function sqliteStorage({ namespace, database }: SqliteAdapter, options: LedgerOptions): Storage {
  const inStore = inNamespace(namespace);
  database.define(schema);

  function read({ partition, kind, id }: Address): string | null {
    const row = database.prepare(`SELECT value FROM gateway_records WHERE ${where}`).get(inStore(partition), kind, id);
    return (row as { value: string } | undefined)?.value ?? null;
  }

  function write({ at: { partition, kind, id }, value, rank }: Change): void {
    if (value === null) {
      database.prepare(`DELETE FROM gateway_records WHERE ${where}`).run(inStore(partition), kind, id);
      return;
    }
    // SQLite would replace half a surrogate pair by another character.
    if (!value.isWellFormed()) throw new TypeError('A record must be well-formed text');
    database
      .prepare(
        `INSERT INTO gateway_records (partition, kind, id, value, rank) VALUES (?, ?, ?, ?, ?)
          ON CONFLICT DO UPDATE SET value = excluded.value, rank = coalesce(excluded.rank, rank)`,
      )
      .run(inStore(partition), kind, id, value, rank ?? null);
  }

  return {
    kind: 'sqlite',
    get: (at) => database.read(() => read(at)),
    getMany: (at) => database.read(() => at.map(read)),
    commit: (changes) =>
      database.transact(() => {
        const holds = changes.every(({ at, expect }) => expect === undefined || read(at) === expect);
        if (holds) changes.forEach(write);
        return holds;
      }),
    list: (partition, kind, { offset, limit }) =>
      database.read(() => {
        const records = database
          .prepare(`SELECT id, value FROM gateway_records WHERE ${whereListed} ORDER BY rank, id LIMIT ? OFFSET ?`)
          .all(inStore(partition), kind, limit, offset) as { id: string; value: string }[];
        const counted = database
          .prepare(`SELECT count(*) AS total FROM gateway_records WHERE ${whereListed}`)
          .get(inStore(partition), kind) as { total: number };
        return { records: records.map(({ id, value }) => ({ id, value })), total: counted.total };
      }),
    seek: (partition, kind, { from, limit, isFromEnd, countUpTo }) =>
      database.read(() => {
        const order = isFromEnd ? 'rank DESC, id DESC' : 'rank, id';
        const records = database
          .prepare(`SELECT id, value FROM gateway_records WHERE ${whereListed} AND rank >= ? ORDER BY ${order} LIMIT ?`)
          .all(inStore(partition), kind, from ?? Number.MIN_SAFE_INTEGER, limit) as { id: string; value: string }[];
        const counted = database
          .prepare(`SELECT count(*) AS total FROM (SELECT 1 FROM gateway_records WHERE ${whereListed} LIMIT ?)`)
          .get(inStore(partition), kind, countUpTo) as { total: number };
        return { records: records.map(({ id, value }) => ({ id, value })), total: counted.total };
      }),
    seekAll: (asked) =>
      database.read(() =>
        asked.map(({ partition, kind, from, before, limit, having = [] }) => {
          const has = having.map(() => 'instr(value, ?) > 0').join(' AND ');
          const value = has === '' ? 'value' : `CASE WHEN ${has} THEN value ELSE '' END AS value`;
          return database
            .prepare(
              `SELECT id, ${value}, rank FROM gateway_records
                WHERE partition = ? AND kind = ? AND rank >= ? AND rank < ? ORDER BY rank, id LIMIT ?`,
            )
            .all(...having, inStore(partition), kind, from, before, limit) as unknown as RankedRecord[];
        }),
      ),
    ledger: sqliteLedger(database, { ...options, namespace }),
    rates: sqliteRates(database, { namespace }),
    isShared: database.isShared,
    // The connection belongs to the host app.
    close: async () => {},
  };
}
