// `npm start`: the command-line server of the package itself, built first where the sources are newer.
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
// In this process rather than in a further one: signals arrive where they are handled, and the start is quicker.
const cli = join(root, 'dist', 'cli.js');
process.argv = [process.argv[0], cli, 'serve', ...process.argv.slice(2)];
await import(pathToFileURL(cli).href);
