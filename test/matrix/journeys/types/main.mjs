// A TypeScript project: strict, with the types of the package checked too.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';

const { status, stdout } = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc'], { encoding: 'utf8' });
assert.equal(stdout, '');
assert.equal(status, 0);
