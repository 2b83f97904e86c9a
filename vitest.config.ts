import { defineConfig } from 'vitest/config';

export default defineConfig({
  // `#transport` is then the source file that Node uses, not the built one. Our own name: in a project whose packages
  // share a condition called `source`, the published package would look for a source that it does not hold.
  resolve: { conditions: ['model-gateway-source'] },
  ssr: { resolve: { conditions: ['model-gateway-source'] } },
  test: {
    environment: 'node',
    include: ['test/**/*.test.ts'],
    // The matrix runs on the built package, in its own installations.
    exclude: ['test/matrix/**', '**/node_modules/**'],
    // By default one core is left free, which on two cores is half of them.
    maxWorkers: '100%',
    testTimeout: 10_000,
    hookTimeout: 20_000,
  },
});
