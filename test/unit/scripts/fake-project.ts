import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

/** What `npm ci` and `npm install` do: says so, fails where it is told to, and "installs" what the lock file names. */
const fakeNpm = `
const fs = require('node:fs');
fs.appendFileSync('npm.log', process.argv[2] + '\\n');
if (fs.existsSync('fail-' + process.argv[2])) process.exit(1);
fs.mkdirSync('node_modules/node/bin', { recursive: true });
fs.rmSync('node_modules/node/bin/node', { force: true });
fs.copyFileSync('package-lock.json', 'node_modules/.package-lock.json');
if (!fs.existsSync('ignore-scripts')) fs.symlinkSync(process.execPath, 'node_modules/node/bin/node');
`;

export interface Outcome {
  code: number | null;
  output: string;
}

/** The project's scripts in a folder of their own, where npm and the tools are stand-ins. Removed after the test. */
export function fakeProject() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'model-gateway-scripts-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(join(import.meta.dirname, '../../../scripts'), join(folder, 'scripts'), { recursive: true });

  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  const lock = (version: string) =>
    write('package-lock.json', JSON.stringify({ packages: { '': {}, 'node_modules/a': { version } } }));
  write('package.json', JSON.stringify({ devDependencies: { node: process.versions.node } }));
  lock('1.0.0');
  write('npm-cli.js', fakeNpm);

  const start = (...args: string[]) =>
    spawn(process.execPath, [join(folder, 'scripts/run.mjs'), ...args], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, npm_execpath: join(folder, 'npm-cli.js'), npm_node_execpath: process.execPath },
    });
  const run = (...args: string[]): Promise<Outcome> =>
    new Promise((resolve, reject) => {
      const child = start(...args);
      let output = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (part: string) => {
          output += part;
        });
      }
      child.on('error', reject);
      child.on('close', (code) => resolve({ code, output }));
    });
  return {
    write,
    lock,
    start,
    run,
    remove: (path: string) => rmSync(join(folder, path), { recursive: true, force: true }),
    read: (path: string) => readFileSync(join(folder, path), 'utf8'),
    /** What npm was asked for, in order. */
    npmCalls: () => readFileSync(join(folder, 'npm.log'), 'utf8').trim().split('\n'),
  };
}
