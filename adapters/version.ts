import { readFileSync } from 'node:fs';

/** The version of this package. */
export function version(): string {
  // The package.json is one folder up, for the sources and for the built files.
  const manifest: { version: string } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return manifest.version;
}
