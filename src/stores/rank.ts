import type { Clock } from '../base/clock.ts';

/** Ranks of one millisecond. A process that needs more takes those of the next one. */
const perMs = 1000;

/**
 * The places of new records in a list: in order of creation, also within a millisecond. Each is larger than every plain
 * epoch ms, which earlier versions took for a rank, and exact as a double until the year 2255.
 */
export function createRanks(clock: Clock): () => number {
  let last = 0;
  return () => {
    // The clock may stand still, or be set back.
    last = Math.max(last + 1, clock.now() * perMs);
    return last;
  };
}
