import process from 'node:process';

/**
 * true in `npm run test:long`, false in `npm test`. `vitest.shared.ts` finds the tests of the long run by their import
 * of this module, so import it where a test is written, not in a module that most tests use.
 */
export const isLongRun = process.env.TEST_RUNS === 'complete';

/**
 * How much a test tries: a small number in `npm test`, the complete number in `npm run test:long`. The small number
 * must be large enough to find the kind of bug that the test is for.
 */
export function runs<T>(quick: T, complete: T): T {
  return isLongRun ? complete : quick;
}
