import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ViteUserConfig } from 'vitest/config';

/**
 * Tests of the long run alone, `npm run test:long`: several processes, servers that are killed and paused, peaks of
 * memory. They take minutes and every core, or need a machine that does nothing else.
 */
export const longTests = [
  'test/race/**/*.test.ts',
  'test/contract/stores/*-faults.test.ts',
  'test/contract/stores/*-failover.test.ts',
  'test/contract/stores/*-processes.test.ts',
  'test/contract/stores/redis-cluster.test.ts',
  'test/flow/hostile-bombs.test.ts',
  'test/flow/hostile-memory.test.ts',
];

/** All modules of the tests. */
const modules = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.startsWith('matrix'))
  .map((name) => ({ path: join('test', name).replaceAll('\\', '/'), text: readFileSync(join('test', name), 'utf8') }));

/**
 * Tests that need no worker of their own: importing the sources takes most of the time of many small files. A file that
 * replaces a module or a global, measures the memory of its process, or looks at a first import, has a worker to itself.
 */
export const sharedWorkerTests = modules
  .filter(({ path }) => /^test\/(?:unit|flow|real-world)\/.*\.test\.ts$/.test(path))
  .filter(({ text }) => !/\bvi\.(?:mock|doMock|stubGlobal|stubEnv|resetModules)\b/.test(text))
  .filter(({ text }) => !/\bmemoryUsage\b/.test(text))
  .map(({ path }) => path)
  .filter((path) => path !== 'test/unit/import.test.ts');

/** Tests of both runs: what imports `test/support/runs.ts`, itself or by way of a suite, does more in the long run. */
export const testsOfBothRuns = importersOf('test/support/runs.ts').filter((path) => path.endsWith('.test.ts'));

function importersOf(module: string): string[] {
  const imports = modules.map(({ path, text }) => {
    const found = [...text.matchAll(/ from '(\.[^']+)'/g)].map(([, specifier]) => specifier as string);
    return { path, imported: found.map((specifier) => join(path, '..', specifier).replaceAll('\\', '/')) };
  });
  const importers = new Set([module]);
  for (let size = 0; size < importers.size; ) {
    size = importers.size;
    for (const { path, imported } of imports) if (imported.some((one) => importers.has(one))) importers.add(path);
  }
  return [...importers];
}

/** What both runs have in common. */
export const shared = {
  // `#transport` and `#inflate` are then the source files that Node uses, not the built ones. Our own name: in a project
  // whose packages share a condition called `source`, the published package would look for a source that it does not
  // hold.
  resolve: { conditions: ['model-gateway-source'] },
  ssr: { resolve: { conditions: ['model-gateway-source'] } },
  // Long enough for a busy machine: what hangs fails all the same.
  test: { environment: 'node', testTimeout: 30_000, hookTimeout: 60_000 },
} satisfies ViteUserConfig;
