// Entry of every npm script. It runs on whatever Node the machine has (18 or later) before anything is installed, so it
// is plain JavaScript without dependencies: it installs what is missing, then hands over to the project's own Node.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { ensureInstalled, pinnedNode } from './install.mjs';
import { root } from './paths.mjs';

/** The script each task runs on the pinned Node; further arguments of the npm script are appended. */
const tasks = {
  start: ['scripts/start.mjs'],
  test: ['scripts/check.mjs', 'types', 'lint', 'tests'],
  check: ['scripts/check.mjs', 'types', 'lint', 'tests', 'build'],
  'test:long': ['scripts/check.mjs', 'long'],
  'test:matrix': ['scripts/matrix.mjs'],
  types: ['scripts/check.mjs', 'types'],
  lint: ['scripts/check.mjs', 'lint'],
  build: ['scripts/check.mjs', 'build'],
  format: ['node_modules/@biomejs/biome/bin/biome', 'check', '--write'],
  bench: ['bench/run.ts'],
};

const [name, ...rest] = process.argv.slice(2);
const task = tasks[name];
if (task === undefined) fail(`Unknown task "${name ?? ''}". There are: ${Object.keys(tasks).join(', ')}.`);

try {
  ensureInstalled();
} catch (error) {
  fail(error.message);
}

const [script, ...args] = task;
const node = pinnedNode();
// With the pinned binary first on the PATH, whatever the task starts as `node` is the same version.
const path = [dirname(node), process.env.PATH].filter(Boolean).join(process.platform === 'win32' ? ';' : ':');
const child = spawn(node, [join(root, script), ...args, ...rest], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, PATH: path },
});

// npm passes a signal on to its child only, which is a shell unless the script of package.json begins with `exec`, as
// `start` does: the shell would end and leave us behind.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    // Ctrl+C at a terminal reaches the whole process group: the child has it already, and would count two.
    if (signal === 'SIGINT' && process.stdin.isTTY) return;
    child.kill(signal);
  });
}
child.on('error', (error) => fail(`Cannot run ${node}: ${error.message}`));
child.on('exit', (code, signal) => {
  process.exit(code ?? 128 + (constants.signals[signal] ?? 0));
});

function fail(message) {
  process.stderr.write(`\n${message}\n`);
  process.exit(1);
}
