import { defineConfig } from 'vitest/config';
import { longTests, shared } from './vitest.shared.ts';

/** `npm run test:races`. */
export default defineConfig({
  ...shared,
  test: {
    ...shared.test,
    include: longTests,
    // Each takes all the cores it finds.
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 120_000,
  },
});
