import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectRoot } from '../../scripts/source-program.ts';
import { defaultsModule, defaultsPath } from '../../scripts/write-defaults.ts';

it('keeps the defaults of the options as their schemas have them', () => {
  expect(readFileSync(join(projectRoot, defaultsPath), 'utf8')).toBe(defaultsModule());
});
