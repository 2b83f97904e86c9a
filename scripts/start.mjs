// `npm start` runs the package's command-line server, and builds the package first when the sources have changed.
import { join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { ensureBuilt } from './build.mjs';
import { root } from './paths.mjs';

try {
  ensureBuilt({ types: false });
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
// The server runs in this process: signals then arrive where they are handled, and the start is faster.
const cli = join(root, 'dist', 'cli.js');
process.argv = [process.argv[0], cli, 'serve', ...process.argv.slice(2)];
await import(pathToFileURL(cli).href);
