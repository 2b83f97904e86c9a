import type { Storage } from '../../stores/storage/storage.ts';

/** A list of a store that has the newest first. */
export interface NewestFirst {
  partition: string;
  kind: string;
  /** The time of an entry, epoch ms. */
  timeOf(entry: { id: string; value: string }): number;
}

/** The place of the first entry that is older than an instant, found by halving: a read for each half. */
export async function placeBefore(storage: Storage, list: NewestFirst, beforeMs: number): Promise<number> {
  const { partition, kind, timeOf } = list;
  const first = await storage.list(partition, kind, { offset: 0, limit: 1 });
  const [newest] = first.records;
  if (newest === undefined || timeOf(newest) < beforeMs) return 0;
  let low = 1;
  let high = first.total;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [entry] = (await storage.list(partition, kind, { offset: middle, limit: 1 })).records;
    if (entry === undefined || timeOf(entry) < beforeMs) high = middle;
    else low = middle + 1;
  }
  return low;
}
