import { damagedRecord } from '../damaged.ts';
import type { KeyvEntries } from './keyv-entries.ts';

/** An id and its rank in the list. */
export interface Listing {
  id: string;
  rank: number;
}

/**
 * The listed ids of a kind, for stores that cannot list. The ids are spread over a few entries by their hash; a change
 * rewrites one complete entry. Only one caller per partition may use the index at a time.
 *
 * After a crash or a failure, the index may list too many ids, but never too few: an id is added before its record is
 * written, and removed after its record. Readers check the records and report wrong listings (`correct`).
 */
export interface KeyvIndex {
  /** All listings, in order of rank, then of id. */
  all(partition: string, kind: string): Promise<Listing[]>;
  /** Adds listings. Keeps other listings of the same ids. */
  include(partition: string, kind: string, listings: readonly Listing[]): Promise<void>;
  /** Sets the true ranks of these ids; a rank of null: not listed. */
  correct(partition: string, kind: string, truth: ReadonlyMap<string, number | null>): Promise<void>;
}

/**
 * The number of entries. Listing reads all of them; a change writes one. Another number would lose the present lists.
 */
const parts = 8;

/** The stored format: a tuple, because every change of the list writes it. */
type Pair = [rank: number, id: string];

/** @param prefixOf  the beginning of a kind's keys; the index continues with `:`, which no id contains */
export function keyvIndex(entries: KeyvEntries, prefixOf: (partition: string, kind: string) => string): KeyvIndex {
  const keyOf = (partition: string, kind: string, part: number) => `${prefixOf(partition, kind)}:${part}`;

  async function read(partition: string, kind: string, wanted: readonly number[]): Promise<Pair[][]> {
    const values = await entries.read(wanted.map((part) => keyOf(partition, kind, part)));
    return values.map((value) => {
      if (value === undefined) return [];
      if (!Array.isArray(value) || !value.every(isPair)) throw damagedRecord('list');
      return value;
    });
  }

  /** Rewrites the entries of these ids, if `change` changes them. */
  async function rewrite(
    partition: string,
    kind: string,
    ids: Iterable<string>,
    change: (pairs: Pair[], part: number) => Pair[],
  ): Promise<void> {
    const wanted = [...new Set([...ids].map(partOf))];
    const before = await read(partition, kind, wanted);
    for (const [index, part] of wanted.entries()) {
      const pairs = before[index] as Pair[];
      const after = change(pairs, part);
      if (after === pairs) continue;
      const key = keyOf(partition, kind, part);
      if (after.length > 0) await entries.write(key, after);
      else await entries.remove(key);
    }
  }

  return {
    async all(partition, kind) {
      const everyPart = Array.from({ length: parts }, (_, part) => part);
      const pairs = (await read(partition, kind, everyPart)).flat();
      return pairs.map(([rank, id]) => ({ id, rank })).sort(inOrder);
    },
    include: (partition, kind, listings) =>
      rewrite(
        partition,
        kind,
        listings.map(({ id }) => id),
        (pairs, part) => {
          const missing = listings.filter(
            ({ id, rank }) => partOf(id) === part && !pairs.some((pair) => pair[0] === rank && pair[1] === id),
          );
          return missing.length === 0 ? pairs : [...pairs, ...missing.map(({ id, rank }): Pair => [rank, id])];
        },
      ),
    correct: (partition, kind, truth) =>
      rewrite(partition, kind, truth.keys(), (pairs, part) => {
        const isRight = ([rank, id]: Pair) => !truth.has(id) || truth.get(id) === rank;
        const right = pairs.filter(isRight);
        const listed = new Set(right.map(([, id]) => id));
        for (const [id, rank] of truth)
          if (rank !== null && partOf(id) === part && !listed.has(id)) right.push([rank, id]);
        return right.length === pairs.length && pairs.every(isRight) ? pairs : right;
      }),
  };
}

/** Sorts by rank, then by id. Ids are ASCII, so this is their order by bytes. */
export function inOrder(a: Listing, b: Listing): number {
  return a.rank - b.rank || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/** Hashes with FNV-1a, so that an id is always in the same entry. */
function partOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at++) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  return (hash >>> 0) % parts;
}

function isPair(value: unknown): value is Pair {
  return Array.isArray(value) && value.length === 2 && Number.isSafeInteger(value[0]) && typeof value[1] === 'string';
}
