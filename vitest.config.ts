import { defineConfig } from 'vitest/config';
import { longTests, shared } from './vitest.shared.ts';

export default defineConfig({
  ...shared,
  test: {
    ...shared.test,
    include: ['test/**/*.test.ts'],
    // The matrix runs on the built package, in its own installations; the long ones after these, one by one.
    exclude: ['test/matrix/**', '**/node_modules/**', ...longTests],
    // By default one core is left free, which on two cores is half of them.
    maxWorkers: '100%',
  },
});
