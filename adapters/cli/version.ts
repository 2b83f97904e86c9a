import { readFileSync } from 'node:fs';

/** The folder of this package: two above the sources, one above the built files. */
export const packageFolder = new URL(import.meta.url.endsWith('.ts') ? '../../' : '../', import.meta.url);

/** The version of this package. */
export function version(): string {
  const manifest: { version: string } = JSON.parse(readFileSync(new URL('package.json', packageFolder), 'utf8'));
  return manifest.version;
}
