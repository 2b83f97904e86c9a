import { resolve } from 'node:path';
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
    // The processes of a race start in half the time where the sources are compiled once.
    env: { TEST_RUNS: 'complete', NODE_COMPILE_CACHE: resolve('.cache', 'compiled') },
  },
});
