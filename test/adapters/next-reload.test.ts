import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { Gateway } from '../../src/index.ts';
import { writeExample } from '../docs/example-files.ts';

const kept = globalThis as { modelGateway?: Gateway };
afterEach(async () => {
  await kept.modelGateway?.close();
  delete kept.modelGateway;
});

it('the example of Next keeps one gateway, however often next dev runs its file', async () => {
  const code = readFileSync(join(import.meta.dirname, '../../examples/next/lib/gateway.ts'), 'utf8');
  const run = async (name: string): Promise<Gateway> =>
    (await import(/* @vite-ignore */ writeExample(name, code))).gateway;
  const first = await run('next-first');
  expect(await run('next-second')).toBe(first);
  const headers = { authorization: 'Bearer only-for-trying-out' };
  expect((await first.fetch('http://in-process/v1/models', { headers })).status).toBe(200);
});
