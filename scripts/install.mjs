// Plain JavaScript for Node 18 or later, because it runs before any installation.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import process from 'node:process';
import { root } from './paths.mjs';

/** Returns the path of the project's own Node: the `node` package in devDependencies, a binary per platform. */
export function pinnedNode() {
  return join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
}

/**
 * Installs the dependencies unless node_modules already agrees with package-lock.json.
 * @throws Error when npm fails or the pinned Node cannot run; the message says what to do
 */
export function ensureInstalled() {
  const { devDependencies } = readJson(join(root, 'package.json'));
  if (isInstalled(root)) {
    if (existsSync(pinnedNode())) return;
    throw new Error(missingNode(devDependencies.node));
  }
  const started = Date.now();
  process.stdout.write('Installing dependencies (once, about half a minute) …\n');
  install(root);
  if (!existsSync(pinnedNode())) throw new Error(missingNode(devDependencies.node));
  const { stdout, error } = spawnSync(pinnedNode(), ['-p', 'process.versions.node'], { encoding: 'utf8' });
  if (stdout?.trim() !== devDependencies.node) {
    throw new Error(
      `${pinnedNode()} should be Node ${devDependencies.node} but ${error?.message ?? `says "${stdout.trim()}"`}.\n` +
        'Delete node_modules and run the command again.',
    );
  }
  process.stdout.write(`Installed in ${((Date.now() - started) / 1000).toFixed(0)} s.\n`);
}

/**
 * Compares the lock file with npm's own record of installed packages, so that a plain `npm install` counts too. npm
 * writes the record last: an interrupted installation has none.
 */
export function isInstalled(folder) {
  const record = join(folder, 'node_modules', '.package-lock.json');
  const lock = join(folder, 'package-lock.json');
  if (!existsSync(record) || !existsSync(lock)) return false;
  const installed = readJson(record).packages;
  return Object.entries(readJson(lock).packages).every(
    // Most optional packages are for other platforms.
    ([path, wanted]) => path === '' || wanted.optional || installed[path]?.version === wanted.version,
  );
}

/**
 * Runs `npm ci` in a folder with a lock file.
 * @throws Error when npm fails; npm has printed the reason on stderr
 */
export function install(folder) {
  // On an older Node, npm would print an engine warning for every package, which means nothing here.
  const quiet = ['--loglevel=error', '--no-audit', '--no-fund', '--no-update-notifier'];
  // With NODE_ENV=production, npm would not install the tools for building and testing.
  const args = ['--include=dev', ...quiet];
  if (npm(folder, ['ci', ...args])) return;
  // If a registry mirror lacks the packages of other platforms, `npm ci` reports the lock file as out of date.
  process.stderr.write('npm ci failed; trying npm install, which is more lenient …\n');
  if (npm(folder, ['install', '--no-save', ...args])) return;
  throw new Error(
    `npm could not install the dependencies in ${folder}. Is the registry within reach? npm's reason is above.`,
  );
}

/** Runs npm with inherited output. @returns whether npm succeeded */
export function npm(folder, args, options = {}) {
  // Uses the npm that runs this script, if any. The first npm on the PATH may be another one; on Windows it is no
  // executable.
  const { npm_execpath: own, npm_node_execpath: node } = process.env;
  const [command, ...first] =
    own !== undefined && basename(own) === 'npm-cli.js'
      ? [node !== undefined && existsSync(node) ? node : process.execPath, own]
      : [process.platform === 'win32' ? 'npm.cmd' : 'npm'];
  const { status, error } = spawnSync(command, [...first, ...args], {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: command === 'npm.cmd',
    ...options,
  });
  if (error) process.stderr.write(`Cannot run ${command}: ${error.message}\n`);
  return status === 0;
}

function missingNode(version) {
  return (
    `The project's own Node ${version} is not in node_modules: its install script did not run.\n` +
    'Run `npm rebuild node --foreground-scripts`, or delete node_modules and run the command again,\n' +
    'without --ignore-scripts (see `npm config get ignore-scripts`).'
  );
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}
