import type { Clock } from '../base/clock.ts';

/** The number of ranks in one millisecond. A process that needs more takes those of the next millisecond. */
const perMs = 1000;

/**
 * Makes the ranks of new records in a list, in order of creation, also within a millisecond. Each rank is larger than
 * every epoch ms, which earlier versions used as ranks, and exact as a double until the year 2255.
 */
export function createRanks(clock: Clock): () => number {
  let last = 0;
  return () => {
    // The clock may stand still, or be set back.
    last = Math.max(last + 1, clock.now() * perMs);
    return last;
  };
}
