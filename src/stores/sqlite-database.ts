type Value = string | number | null;

export interface SqliteStatement {
  run(...values: Value[]): { changes: number | bigint };
  get(...values: Value[]): Record<string, unknown> | undefined;
  all(...values: Value[]): Record<string, unknown>[];
}

/** The interface to a SQLite connection, such as the property `database` of `sqliteStore`. */
export interface SqliteDatabase {
  /** Compiles a statement once for each text. For use within `read` and `transact`. */
  prepare(sql: string): SqliteStatement;
  exec(sql: string): void;
  /** Adds tables and indexes to create at the first use: complete `CREATE … IF NOT EXISTS` statements. */
  define(schema: readonly string[]): void;
  /** Runs synchronous code that reads one state of the database. */
  read<T>(work: () => T): Promise<T>;
  /**
   * Runs synchronous code as one transaction, in the order of the calls. If the code throws, the transaction is rolled
   * back. The code may run again from the start. Waits, without blocking, while another process writes.
   */
  transact<T>(work: () => T): Promise<T>;
  /** true: other processes use the same database. */
  readonly isShared: boolean;
}

/** Makes names for one store in a file that several stores may share. `:` does not occur in the ids that follow it. */
export function inNamespace(namespace: string | undefined): (name: string) => string {
  return namespace ? (name) => `${namespace}:${name}` : (name) => name;
}
