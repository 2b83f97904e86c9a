import type { RankedRecord, RankSpan, Storage } from '../../stores/storage/storage.ts';

/** A list of a store, with the newest entry first. */
export interface NewestFirst {
  partition: string;
  kind: string;
  /** The time of an entry, epoch ms. */
  timeOf(entry: { id: string; value: string }): number;
}

/** The place of the first entry that is older than an instant. It is found by halving, with a read for each half. */
export function placeBefore(storage: Storage, list: NewestFirst, beforeMs: number): Promise<number> {
  return placeWhere(storage, list, (entry) => list.timeOf(entry) < beforeMs);
}

/** The place of the first entry that is behind another place. All entries after it are behind as well. */
export async function placeWhere(
  storage: Storage,
  { partition, kind }: Pick<NewestFirst, 'partition' | 'kind'>,
  isBehind: (entry: { id: string; value: string }) => boolean,
): Promise<number> {
  const first = await storage.list(partition, kind, { offset: 0, limit: 1 });
  const [newest] = first.records;
  if (newest === undefined || isBehind(newest)) return 0;
  let low = 1;
  let high = first.total;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [entry] = (await storage.list(partition, kind, { offset: middle, limit: 1 })).records;
    if (entry === undefined || isBehind(entry)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** An entry of a list. */
export interface ListEntry {
  id: string;
  value: string;
}

/**
 * Makes a function that reads on in a list by rank. It returns fewer entries at the end alone. Entries of one rank are
 * asked for again, and left out.
 * @param from  the least rank
 */
export function readerByRank(
  seekAll: NonNullable<Storage['seekAll']>,
  list: Pick<RankSpan, 'partition' | 'kind' | 'having'>,
  from: number,
): (size: number) => Promise<RankedRecord[]> {
  let least = from;
  let known = new Set<string>();
  return async (size) => {
    const span = { ...list, from: least, before: Number.MAX_SAFE_INTEGER, limit: size + known.size };
    const [records = []] = await seekAll([span]);
    const fresh = records.filter(({ id }) => !known.has(id)).slice(0, size);
    const last = fresh.at(-1);
    if (last === undefined) return fresh;
    if (last.rank !== least) known = new Set();
    least = last.rank;
    for (const { id, rank } of fresh) if (rank === least) known.add(id);
    return fresh;
  };
}
