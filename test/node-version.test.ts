import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('runs on the Node that devDependencies pin, not on the one of the machine', () => {
  const manifest: { devDependencies: { node: string } } = JSON.parse(
    readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'),
  );
  expect(process.versions.node).toBe(manifest.devDependencies.node);
});
