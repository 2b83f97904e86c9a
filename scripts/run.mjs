// Entry point of every npm script. It runs on the machine's Node (18 or later) before any installation, so it is plain
// JavaScript without dependencies. It installs missing packages, then starts the script on the project's own Node.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { ensureInstalled, pinnedNode } from './install.mjs';
import { root } from './paths.mjs';

/** The script of each task, run on the pinned Node; further arguments of the npm script are appended. */
const tasks = {
  start: ['scripts/start.mjs'],
  test: ['scripts/check.mjs', 'types', 'lint', 'tests'],
  check: ['scripts/check.mjs', 'types', 'lint', 'tests', 'build'],
  'test:long': ['scripts/check.mjs', 'random', 'long'],
  'test:matrix': ['scripts/matrix.mjs'],
  types: ['scripts/check.mjs', 'types'],
  lint: ['scripts/check.mjs', 'lint'],
  build: ['scripts/check.mjs', 'build'],
  format: ['node_modules/@biomejs/biome/bin/biome', 'check', '--write'],
  bench: ['bench/run.ts'],
  soak: ['bench/soak.ts'],
  docs: ['scripts/write-docs.ts'],
  release: ['scripts/release.mjs'],
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
// The pinned binary comes first on the PATH, so that a `node` that the task starts is the same version.
const path = [dirname(node), process.env.PATH].filter(Boolean).join(process.platform === 'win32' ? ';' : ':');
const child = spawn(node, [join(root, script), ...args, ...rest], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, PATH: path },
});

// npm forwards a signal only to its direct child. This child is a shell, which would exit without forwarding the
// signal, unless the script in package.json begins with `exec`, as `start` does.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    // Ctrl+C at a terminal reaches the whole process group: the child has the signal already and must not get two.
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
