// Writes the page of the console as a module, which the build takes in.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { consolePage } from './console-page.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const path = join(root, '.cache', 'console-page.js');
mkdirSync(dirname(path), { recursive: true });
writeFileSync(path, `export const consolePage = ${JSON.stringify(consolePage)};\n`);
