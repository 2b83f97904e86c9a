import { defineConfig } from 'vitest/config';
import { shared, sharedWorkerTests, testsOfBothRuns } from './vitest.shared.ts';

const test = { ...shared.test, testTimeout: 180_000, hookTimeout: 120_000, env: { TEST_RUNS: 'complete' } };
const alone = testsOfBothRuns.filter((path) => !sharedWorkerTests.includes(path));
const together = testsOfBothRuns.filter((path) => sharedWorkerTests.includes(path));

/** The first half of `npm run test:long`: every random case, on all cores. */
export default defineConfig({
  test: {
    maxWorkers: '100%',
    projects: [
      { ...shared, test: { ...test, name: 'one worker each', include: alone } },
      { ...shared, test: { ...test, name: 'shared workers', include: together, isolate: false } },
    ],
  },
});
