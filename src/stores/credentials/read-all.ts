import type { Page } from '../storage/storage.ts';

export const pageSize = 100;
const maxRestarts = 5;

/**
 * Reads a whole list in pages. Each page begins with the last record of the page before. If that record is not there,
 * another was removed meanwhile, and the next one may have slipped into the earlier page. Then the list is read again
 * from the start.
 */
export async function readAll<T>(
  list: (page: Page) => Promise<{ records: T[]; total: number }>,
  idOf: (record: T) => string,
): Promise<T[]> {
  for (let restart = 0; ; restart++) {
    const all: T[] = [];
    for (;;) {
      const last = all.at(-1);
      const offset = Math.max(all.length - 1, 0);
      const { records, total } = await list({ offset, limit: pageSize });
      const [first, ...more] = records;
      if (last === undefined) all.push(...records);
      // A list that keeps changing is returned as it was seen.
      else if (restart < maxRestarts && (first === undefined || idOf(first) !== idOf(last))) break;
      else all.push(...more);
      if (all.length >= total || records.length < pageSize) return all;
    }
  }
}
