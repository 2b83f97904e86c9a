import type { Ledger } from '../ledger/ledger.ts';
import type { Rates } from '../rates/rates.ts';

/**
 * The interface between collections and a store. It asks more than Keyv offers: a failed read rejects and never looks
 * like an absence; several records are written together or not at all; the records of a kind are listed without a scan.
 *
 * There is one implementation per kind of server, over the connection of a Keyv adapter, and one over any Keyv. All
 * reject with the errors of their server. `guardStorage` adds the time limit and turns these errors into a 503.
 */
export interface Storage {
  readonly kind: 'memory' | 'keyv' | 'sqlite' | 'redis' | 'postgres';
  /** @returns null: there is no such record */
  get(at: Address): Promise<string | null>;
  /** The values in the order asked. All addresses have the same partition. */
  getMany(at: readonly Address[]): Promise<(string | null)[]>;
  /**
   * Writes all changes or none, in one atomic step. All addresses have the same partition.
   * @returns false: an expectation was not met, and nothing was written
   */
  commit(changes: readonly Change[]): Promise<boolean>;
  /** The listed records of a kind, by rank and then by id. Takes milliseconds, whatever else the store holds. */
  list(partition: string, kind: string, page: Page): Promise<Listed>;
  /**
   * Reads a list by rank, where places in a long list take long to find and to count. Absent: `list` is as fast. Takes
   * milliseconds, however long the list is.
   */
  seek?(partition: string, kind: string, range: RankRange): Promise<Listed>;
  /**
   * Reads parts of several lists at once, of any partitions: the records of each part, by rank and then by id. Absent: the
   * store reads one list at a time.
   */
  seekAll?(asked: readonly RankSpan[]): Promise<RankedRecord[][]>;
  readonly ledger: Ledger;
  /** Counts requests and tokens per minute, and calls in flight. */
  readonly rates: Rates;
  /**
   * true: all processes on this store share the same money. If false, budgets and the promises of `commit` hold per
   * process only.
   */
  readonly isShared: boolean;
  /** Closes the connections that this object opened. Those that the host app opened stay open. */
  close(): Promise<void>;
}

/** Tells whether other instances on the same store see its records. A shared ledger does not mean that. */
export function sharesRecords({ isShared, kind }: Storage): boolean {
  return isShared && kind !== 'memory' && kind !== 'keyv';
}

/**
 * The address of a record.
 * - partition: records of one partition can be written together; in a cluster they are on one node. The id of a
 *   workspace, or a name for something that belongs to no workspace. `[A-Za-z0-9_.-]{1,100}`
 * - kind: the kind of record, such as `credential`. `[a-z-]{1,30}`
 * - id: `[A-Za-z0-9_.-]{1,100}`
 */
export interface Address {
  partition: string;
  kind: string;
  id: string;
}

export interface Change {
  at: Address;
  /** The current value that the change requires: exactly this text; null: no record. Absent: any value. */
  expect?: string | null;
  /** null removes the record, also from the list. */
  value: string | null;
  /**
   * Lists the record under its kind, in ascending order of rank, an integer. Absent: the place in the list does not
   * change.
   */
  rank?: number;
}

export interface Page {
  offset: number;
  limit: number;
}

/** A part of a list by rank. */
export interface RankRange {
  /** The least rank; null: the list from its beginning. */
  from: number | null;
  limit: number;
  /** true: the last records, the last one first. */
  isFromEnd: boolean;
  /** The most that `total` counts of the whole list: a longer list has this total. */
  countUpTo: number;
}

/** A part of a list between two ranks. */
export interface RankSpan {
  partition: string;
  kind: string;
  /** The least rank. */
  from: number;
  /** The rank at which the part ends; records with this rank are not in it. */
  before: number;
  limit: number;
  /** Texts that a value must have somewhere: the value of another record is left out. */
  having?: readonly string[];
}

export interface RankedRecord extends ListedRecord {
  /** Empty: the record does not have the texts that it must. */
  value: string;
  rank: number;
}

export interface ListedRecord {
  id: string;
  value: string;
}

export interface Listed {
  records: ListedRecord[];
  /** The total number of listed records. */
  total: number;
}
