import process from 'node:process';

/**
 * true in `npm run test:long`, false in `npm test`. `vitest.shared.ts` finds the tests of the long run by their import
 * of this module, so import it where a test is written, not in a module that most tests use.
 */
export const isLongRun = process.env.TEST_RUNS === 'complete';

/** The part of the complete number that a run on a server tries, where somebody waits for the whole of it. */
const partInCi = process.env.CI === 'true' ? 1 / 3 : 1;

/**
 * How much a test tries: a small number in `npm test`, the complete number in `npm run test:long`, and a third of it
 * where `CI` is `true`. The small number must be large enough to find the kind of bug that the test is for.
 */
export function runs<T>(quick: T, complete: T): T {
  if (!isLongRun) return quick;
  if (typeof quick !== 'number' || typeof complete !== 'number' || complete <= quick) return complete;
  return Math.ceil(quick + (complete - quick) * partInCi) as T;
}
