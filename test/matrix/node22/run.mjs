import { join } from 'node:path';
import { checkVersion, runEssentials } from '../run-essentials.mjs';

const node = join(import.meta.dirname, 'node_modules/node/bin/node');
checkVersion(node, 'node', import.meta.dirname);
await runEssentials('node22', (program) => [node, program], { hasFiles: true });
