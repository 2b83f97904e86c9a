import { damagedRecord } from '../damaged.ts';
import type { KeyvEntries } from './keyv-entries.ts';

/** An id and the rank it is listed at. */
export interface Listing {
  id: string;
  rank: number;
}

/**
 * Which ids of a kind are listed, for stores that cannot list. Spread over a few entries by the hash of the id, so that a
 * change rewrites one part of them, whole. To be used by one caller at a time per partition.
 *
 * It may hold more than is true, after a crash or a failure, and never less: what comes is put in before its record is
 * written, what goes is taken out after. Who reads it looks at the records and says what was wrong (`correct`).
 */
export interface KeyvIndex {
  /** In order of rank, then of id. */
  all(partition: string, kind: string): Promise<Listing[]>;
  /** Adds listings beside what is there for their ids. */
  include(partition: string, kind: string, listings: readonly Listing[]): Promise<void>;
  /** What is true of these ids; a rank of null: not listed. */
  correct(partition: string, kind: string, truth: ReadonlyMap<string, number | null>): Promise<void>;
}

/** Listing reads them all; a change writes one of them. Changing the number loses what is listed. */
const parts = 8;

/** In the store, for it is written with every change of the list. */
type Pair = [rank: number, id: string];

/** @param prefixOf  what the keys of a kind begin with; what follows begins with `:`, unlike any id */
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

  /** Rewrites the parts of these ids that `change` makes something else of. */
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

/** By rank, then by id; ids are ASCII, of which this is the order of the bytes. */
export function inOrder(a: Listing, b: Listing): number {
  return a.rank - b.rank || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/** FNV-1a: the same id is always in the same part. */
function partOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at++) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  return (hash >>> 0) % parts;
}

function isPair(value: unknown): value is Pair {
  return Array.isArray(value) && value.length === 2 && Number.isSafeInteger(value[0]) && typeof value[1] === 'string';
}
