import { EventEmitter } from 'node:events';
import { type KeyvStorageAdapter, type KeyvStorageEntry, keyvStorageCapability } from 'keyv';
import { openDatabase, type SqliteDatabase, type SqliteValue } from './database.ts';

export type { SqliteDatabase, SqliteStatement, SqliteValue } from './database.ts';

/** Options of `sqliteStore`. */
export interface SqliteStoreOptions {
  /** The file. Its folder must exist. A new file is readable by its owner only. `:memory:` for no file. */
  path: string;
  /** The table for Keyv's own entries. Default `keyv`. */
  table?: string;
  /**
   * The time in ms for which work waits while another process holds the file's lock. Nothing else in this process
   * waits. Default 200: less than a gateway waits for its store, so that the gateway gets the reason.
   */
  busyTimeoutMs?: number;
}

/** A storage adapter of Keyv 6. Its methods reject when SQLite fails: no failure looks like an absence. */
export interface SqliteStore extends KeyvStorageAdapter {
  /** Kept before each key, where Keyv sets it. */
  namespace: string | undefined;
  /** The connection, for tables of your own beside Keyv's. A gateway keeps its records and its ledger in it. */
  readonly database: SqliteDatabase;
  /** Closes the file. */
  disconnect(): Promise<void>;
  /** Every entry of a namespace. */
  iterator<Value>(): AsyncGenerator<Array<string | Awaited<Value> | undefined>, void>;
}

type Row = {
  key: string;
  value: string | Uint8Array;
  /** Epoch ms; null: never. */
  expires: number | null;
};

/** The most expired rows that one write removes. */
const sweepBatch = 20;
/** The number of rows that an iterator reads at a time. */
const pageSize = 100;

/**
 * A store in one SQLite file, with `node:sqlite`: there is nothing to install. Any number of processes on one machine
 * may use the file at the same time, on a local disk of that machine.
 * @throws TypeError for wrong options; Error when the file cannot be opened, or is no database, or the runtime has no
 *         `node:sqlite`
 */
export function sqliteStore(options: string | SqliteStoreOptions): SqliteStore {
  const { path, table, busyTimeoutMs } = checkOptions(typeof options === 'string' ? { path: options } : options);
  const database = openDatabase(path, busyTimeoutMs);
  const name = `"${table}"`;
  database.define([
    `CREATE TABLE IF NOT EXISTS ${name}
      (namespace TEXT NOT NULL, key TEXT NOT NULL, value ANY NOT NULL, expires INTEGER, PRIMARY KEY (namespace, key)) STRICT`,
    `CREATE INDEX IF NOT EXISTS "${table}_expires" ON ${name} (expires) WHERE expires IS NOT NULL`,
  ]);

  function readRow(namespace: string, key: string): Row | null {
    const row = database
      .prepare(`SELECT key, value, expires FROM ${name} WHERE namespace = ? AND key = ?`)
      .get(namespace, checkText(key, 'key')) as Row | undefined;
    return row && isAlive(row) ? row : null;
  }

  function writeRow(namespace: string, { key, value, expires }: KeyvStorageEntry<unknown>): void {
    database
      .prepare(
        `INSERT INTO ${name} (namespace, key, value, expires) VALUES (?, ?, ?, ?)
          ON CONFLICT DO UPDATE SET value = excluded.value, expires = excluded.expires`,
      )
      .run(
        namespace,
        checkText(key, 'key'),
        checkValue(value),
        Number.isFinite(expires) ? Math.ceil(expires ?? 0) : null,
      );
  }

  function deleteRow(namespace: string, key: string): boolean {
    const row = database
      .prepare(`DELETE FROM ${name} WHERE namespace = ? AND key = ? RETURNING expires`)
      .get(namespace, checkText(key, 'key')) as Pick<Row, 'expires'> | undefined;
    return row !== undefined && isAlive(row);
  }

  function sweep(): void {
    database
      .prepare(
        `DELETE FROM ${name} WHERE rowid IN (SELECT rowid FROM ${name} WHERE expires IS NOT NULL AND expires <= ? LIMIT ?)`,
      )
      .run(Date.now(), sweepBatch);
  }

  function readPage(namespace: string, after: string | null): Row[] {
    return database
      .prepare(
        `SELECT key, value, expires FROM ${name} WHERE namespace = ? AND (? IS NULL OR key > ?) ORDER BY key LIMIT ?`,
      )
      .all(namespace, after, after, pageSize) as Row[];
  }

  // Read at the time of the call, since the work may wait: another Keyv on this adapter would change the namespace.
  const inNamespace = () => checkText(store.namespace ?? '', 'namespace');
  const methods = {
    namespace: undefined as string | undefined,
    database: database as SqliteDatabase,
    async get(key: string) {
      const namespace = inNamespace();
      return (await database.read(() => readRow(namespace, key)))?.value as never;
    },
    async getMany(keys: string[]) {
      const namespace = inNamespace();
      return database.read(() => keys.map((key) => readRow(namespace, key)?.value as never));
    },
    async has(key: string) {
      const namespace = inNamespace();
      return database.read(() => readRow(namespace, key) !== null);
    },
    async hasMany(keys: string[]) {
      const namespace = inNamespace();
      return database.read(() => keys.map((key) => readRow(namespace, key) !== null));
    },
    async set(key: string, value: unknown, expires?: number) {
      await methods.setMany([{ key, value, expires }]);
      return true;
    },
    async setMany(entries: KeyvStorageEntry<unknown>[]) {
      const namespace = inNamespace();
      return database.transact(() => {
        for (const entry of entries) writeRow(namespace, entry);
        sweep();
        return entries.map(() => true);
      });
    },
    async delete(key: string) {
      const namespace = inNamespace();
      return database.transact(() => deleteRow(namespace, key));
    },
    async deleteMany(keys: string[]) {
      const namespace = inNamespace();
      return database.transact(() => keys.map((key) => deleteRow(namespace, key)));
    },
    async clear() {
      const namespace = inNamespace();
      await database.transact(() => database.prepare(`DELETE FROM ${name} WHERE namespace = ?`).run(namespace));
    },
    /** Reads page by page. Entries that are written meanwhile may or may not appear. */
    async *iterator() {
      const namespace = inNamespace();
      let after: string | null = null;
      for (;;) {
        const from: string | null = after;
        const rows: Row[] = await database.read(() => readPage(namespace, from));
        for (const row of rows) if (isAlive(row)) yield [row.key, row.value as never];
        const last: Row | undefined = rows.at(-1);
        if (!last || rows.length < pageSize) return;
        after = last.key;
      }
    },
    async disconnect() {
      database.close();
    },
  };
  const store: SqliteStore = Object.assign(new EventEmitter(), methods, {
    capabilities: keyvStorageCapability(methods),
  });
  return store;
}

function isAlive({ expires }: Pick<Row, 'expires'>): boolean {
  return expires === null || expires > Date.now();
}

function checkOptions({ path, table = 'keyv', busyTimeoutMs = 200 }: SqliteStoreOptions): Required<SqliteStoreOptions> {
  if (typeof path !== 'string' || path === '' || path.includes('\0')) {
    throw new TypeError('sqliteStore: expected the path of a file');
  }
  // SQLite reserves names with the first prefix, and a gateway those with the second.
  if (typeof table !== 'string' || !/^(?!sqlite_|gateway_)[a-z_]\w{0,62}$/i.test(table)) {
    throw new TypeError('sqliteStore: expected a table of up to 63 letters, digits and _, not a reserved one');
  }
  if (typeof busyTimeoutMs !== 'number' || !(busyTimeoutMs >= 0 && busyTimeoutMs <= 600_000)) {
    throw new TypeError('sqliteStore: expected busyTimeoutMs from 0 to 600000');
  }
  return { path, table, busyTimeoutMs };
}

/** Half of a surrogate pair has no UTF-8 form, and would be stored as another character. */
function checkText(text: string, what: string): string {
  if (typeof text === 'string' && text.isWellFormed()) return text;
  throw new TypeError(`sqliteStore: expected a ${what} that is well-formed text`);
}

function checkValue(value: unknown): SqliteValue {
  if (value instanceof Uint8Array) return value;
  if (typeof value === 'string') return checkText(value, 'value');
  throw new TypeError('sqliteStore: expected a text or bytes as value; leave the serialization of Keyv on');
}
