type Value = string | number | null;

export interface SqliteStatement {
  run(...values: Value[]): { changes: number | bigint };
  get(...values: Value[]): Record<string, unknown> | undefined;
  all(...values: Value[]): Record<string, unknown>[];
}

/** What a store on SQLite needs of a connection, such as the property `database` of `sqliteStore`. */
export interface SqliteDatabase {
  /** Compiled once per text. For use within `read` and `transact`. */
  prepare(sql: string): SqliteStatement;
  exec(sql: string): void;
  /** Tables and indexes that are made at the first use, unless they are there: `CREATE … IF NOT EXISTS`, whole. */
  define(schema: readonly string[]): void;
  /** Runs synchronous reading work on one state of the database. */
  read<T>(work: () => T): Promise<T>;
  /**
   * Runs synchronous work as one transaction, in the order of the calls: when it throws, nothing of it remains. It may
   * run again from the start. Waits, without blocking, while another process writes.
   */
  transact<T>(work: () => T): Promise<T>;
  /** Whether other processes see it. */
  readonly isShared: boolean;
}

/** Names of one store in a file that several may share: `:` stands in no id that follows it. */
export function inNamespace(namespace: string | undefined): (name: string) => string {
  return namespace ? (name) => `${namespace}:${name}` : (name) => name;
}
