import type { ViteUserConfig } from 'vitest/config';

/** Processes that race for a budget, servers that are killed and paused, thousands of random cases: minutes, and every core. */
export const longTests = [
  'test/race/**/*.test.ts',
  'test/contract/stores/race-*.test.ts',
  'test/contract/stores/*-faults.test.ts',
  'test/contract/stores/*-processes.test.ts',
  'test/contract/stores/redis-cluster.test.ts',
  'test/flow/explain-property.test.ts',
];

/** What both runs have in common. */
export const shared = {
  // `#transport` is then the source file that Node uses, not the built one. Our own name: in a project whose packages
  // share a condition called `source`, the published package would look for a source that it does not hold.
  resolve: { conditions: ['model-gateway-source'] },
  ssr: { resolve: { conditions: ['model-gateway-source'] } },
  // Long enough for a busy machine: what hangs fails all the same.
  test: { environment: 'node', testTimeout: 30_000, hookTimeout: 60_000 },
} satisfies ViteUserConfig;
