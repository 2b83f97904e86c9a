import process from 'node:process';
import { runEssentials } from '../run-essentials.mjs';

// The project's own Node runs this file.
await runEssentials('node26', (program) => [process.execPath, program], { hasFiles: true });
