import { defineConfig } from 'vitest/config';
import { longTests, shared } from './vitest.shared.ts';

/** The second half of `npm run test:long`: what needs the machine for itself. */
export default defineConfig({
  ...shared,
  test: {
    ...shared.test,
    include: longTests,
    // Each takes all the cores it finds.
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 120_000,
    env: { TEST_RUNS: 'complete' },
  },
});
