// Unit tests of an app on scripted answers, by node:test and by vitest.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';

function run(...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
  return stdout;
}
assert.match(run('--test', '--test-reporter=tap', 'node.test.mjs'), /# pass 4/);
assert.match(run('node_modules/vitest/vitest.mjs', 'run', '--no-color', 'app.spec.mjs'), /4 passed/);
