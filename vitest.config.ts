import { defineConfig } from 'vitest/config';
import { longTests, shared, sharedWorkerTests } from './vitest.shared.ts';

// The matrix runs on the built package, in its own installations; the long run after these.
const exclude = ['test/matrix/**', '**/node_modules/**', ...longTests];

export default defineConfig({
  test: {
    // By default one core is left free, which on two cores is half of them.
    maxWorkers: '100%',
    projects: [
      {
        ...shared,
        test: {
          ...shared.test,
          name: 'one worker each',
          include: ['test/**/*.test.ts'],
          exclude: [...exclude, ...sharedWorkerTests],
        },
      },
      {
        ...shared,
        test: { ...shared.test, name: 'shared workers', include: sharedWorkerTests, exclude, isolate: false },
      },
    ],
  },
});
