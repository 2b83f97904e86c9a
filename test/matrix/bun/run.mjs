import { join } from 'node:path';
import { checkVersion, runEssentials } from '../run-essentials.mjs';

const bun = join(import.meta.dirname, 'node_modules/.bin/bun');
checkVersion(bun, 'bun', import.meta.dirname);
await runEssentials('bun', (program) => [bun, 'run', program], { hasFiles: true });
