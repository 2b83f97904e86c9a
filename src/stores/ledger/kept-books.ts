import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import type { Books, Changes, LiveHold, Sum } from './memory.ts';

const amount = lazily(() => z.int().min(0));

/** Key of a window, what is spent in it, and its end. */
const keptSum = lazily(() => z.tuple([z.string(), amount(), z.int().nullable()]));
/** Id, amount, end of the lease, and the keys of its windows; only the id: the hold has ended. */
const keptHold = lazily(() =>
  z.union([z.tuple([z.string(), amount(), z.int(), z.array(z.string())]), z.tuple([z.string()])]),
);

/**
 * Sums and holds in their stored form: all of them, or only those that have changed. The held amount follows from the
 * holds.
 */
export const keptBooksSchema = lazily(() => z.strictObject({ sums: z.array(keptSum()), holds: z.array(keptHold()) }));
export interface KeptBooks extends z.infer<ReturnType<typeof keptBooksSchema>> {}

/** Writes all of the books. */
export function keepAll({ sums, holds }: Books): KeptBooks {
  return {
    sums: Array.from(sums.values(), keepSum),
    holds: Array.from(holds, ([id, hold]) => keepHold(id, hold)),
  };
}

/** Writes the changed sums and holds with their present values. */
export function keepChanged({ holds }: Books, changes: Changes): KeptBooks {
  return {
    sums: Array.from(changes.sums, keepSum),
    holds: Array.from(changes.holds, (id) => keepHold(id, holds.get(id))),
  };
}

function keepSum({ key, spentNanoUsd, endMs }: Sum): KeptBooks['sums'][number] {
  return [key, spentNanoUsd, endMs];
}

function keepHold(id: string, hold: LiveHold | undefined): KeptBooks['holds'][number] {
  if (hold === undefined) return [id];
  return [id, hold.amountNanoUsd, hold.leaseUntilMs, hold.sums.map(({ key }) => key)];
}

/**
 * Fills empty books with what was written, in the order in which it was written.
 * @throws Error for a hold in a window that was not written: nothing is guessed about money
 */
export function restore(books: Books, written: readonly KeptBooks[]): void {
  const holds = new Map<string, KeptBooks['holds'][number]>();
  for (const kept of written) {
    for (const [key, spentNanoUsd, endMs] of kept.sums)
      books.sums.set(key, { key, spentNanoUsd, heldNanoUsd: 0, endMs });
    for (const hold of kept.holds) {
      if (hold.length === 1) holds.delete(hold[0]);
      else holds.set(hold[0], hold);
    }
  }
  for (const [id, hold] of holds) {
    const [, amountNanoUsd, leaseUntilMs, keys] = hold as [string, number, number, string[]];
    const sums = keys.map((key) => {
      const sum = books.sums.get(key);
      if (sum === undefined) throw new Error('a hold names a window that is not in the books');
      sum.heldNanoUsd += amountNanoUsd;
      return sum;
    });
    books.holds.set(id, { amountNanoUsd, sums, leaseUntilMs });
    books.nextExpiryMs = Math.min(books.nextExpiryMs, leaseUntilMs);
  }
}

/**
 * Raises sums to the stored ones where those are higher, so that writing the sums takes nothing away.
 * @param written  in the order in which it was written
 */
export function raise(books: Books, written: readonly KeptBooks[]): void {
  for (const { sums } of written) {
    for (const [key, spentNanoUsd, endMs] of sums) {
      const sum = books.sums.get(key);
      if (sum === undefined) books.sums.set(key, { key, spentNanoUsd, heldNanoUsd: 0, endMs });
      else sum.spentNanoUsd = Math.max(sum.spentNanoUsd, spentNanoUsd);
    }
  }
}
