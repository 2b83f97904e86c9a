import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bundled, bundledInPage } from '../../tsup.config.ts';

const root = join(import.meta.dirname, '..', '..');
const licences = readFileSync(join(root, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
const manifest: { files: string[] } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

describe('the licences of what is part of the build', () => {
  it.each([...bundled, ...bundledInPage])('hold that of %s', (name) => {
    const folder = join(root, 'node_modules', name);
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry)) as string;
    expect(licences).toContain(`${name}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`);
  });
  it('are published with it', () => {
    expect(manifest.files).toContain('THIRD-PARTY-LICENSES.txt');
  });
});
