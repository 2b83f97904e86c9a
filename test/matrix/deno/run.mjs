import { join } from 'node:path';
import { checkVersion, runEssentials } from '../run-essentials.mjs';

const deno = join(import.meta.dirname, 'node_modules/.bin/deno');
checkVersion(deno, 'deno', import.meta.dirname);
// The network is all it may use: no files, no environment, nothing downloaded.
const flags = ['run', '--no-prompt', '--no-remote', '--node-modules-dir=manual', '--allow-net'];
await runEssentials('deno', (program) => [deno, ...flags, program]);
