import type { Ledger } from '../ledger/ledger.ts';

/**
 * What the collections need of a store: more than Keyv has to offer. A read that fails rejects and is never mistaken for
 * an absence; several records are written at once or not at all; records of a kind are listed without a scan.
 *
 * One implementation per kind of server, over the connection of a Keyv adapter, and one over any Keyv. All reject with
 * whatever their server threw; `guardStorage` adds the time limit and turns that into a 503.
 */
export interface Storage {
  readonly kind: 'memory' | 'keyv' | 'sqlite' | 'redis' | 'postgres';
  /** null: there is no such record. */
  get(at: Address): Promise<string | null>;
  /** In the order asked. All addresses have the same partition. */
  getMany(at: readonly Address[]): Promise<(string | null)[]>;
  /**
   * Writes all or nothing, in one step that nobody sees halfway. All addresses have the same partition.
   * @returns false: an expectation did not hold, and nothing was written
   */
  commit(changes: readonly Change[]): Promise<boolean>;
  /** The listed records of a kind, by rank and then by id, in milliseconds whatever else the store holds. */
  list(partition: string, kind: string, page: Page): Promise<Listed>;
  readonly ledger: Ledger;
  /**
   * Whether two processes on this store see the same money: where they do not, budgets hold per process only. What
   * `commit` promises then holds per process, too.
   */
  readonly isShared: boolean;
  /** Lets go of what this object opened itself; what the host app opened stays open. */
  close(): Promise<void>;
}

/**
 * Where a record is.
 * - partition: records of one partition can be written together; in a cluster they lie on one node. A workspace's id,
 *   or the name of something that belongs to no workspace. `[A-Za-z0-9_.-]{1,100}`
 * - kind: what it is, such as `credential`. `[a-z-]{1,30}`
 * - id: `[A-Za-z0-9_.-]{1,100}`
 */
export interface Address {
  partition: string;
  kind: string;
  id: string;
}

export interface Change {
  at: Address;
  /** What must be there now for anything to be written: exactly this text; null: nothing. Absent: whatever. */
  expect?: string | null;
  /** null removes the record, also from the list. */
  value: string | null;
  /** Lists the record under its kind, in ascending order of rank, an integer. Absent: as it is listed, or not. */
  rank?: number;
}

export interface Page {
  offset: number;
  limit: number;
}

export interface Listed {
  records: { id: string; value: string }[];
  /** How many are listed in all. */
  total: number;
}
