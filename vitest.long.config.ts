import { defineConfig } from 'vitest/config';
import { longTests, shared, testsOfBothRuns } from './vitest.shared.ts';

/** `npm run test:long`. */
export default defineConfig({
  ...shared,
  test: {
    ...shared.test,
    include: [...longTests, ...testsOfBothRuns],
    // Each takes all the cores it finds.
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 120_000,
    env: { TEST_RUNS: 'complete' },
  },
});
