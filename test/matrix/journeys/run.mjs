// Ten tasks of a new user, each a small project of its own: copied, installed with the packed package, run.
// `node test/matrix/journeys/run.mjs [name …]` runs some of them, and packs the package where nobody else has.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { npm } from '../../../scripts/install.mjs';
import { root } from '../../../scripts/paths.mjs';
import { runInGroup } from '../../../scripts/run-in-group.mjs';

const here = import.meta.dirname;
const quiet = ['--loglevel=error', '--no-audit', '--no-fund', '--no-package-lock', '--prefer-offline'];
const timeoutMs = 60_000;
const work = mkdtempSync(join(tmpdir(), 'model-gateway-journeys-'));
const counts = { passed: 0, failed: 0, skipped: 0 };
process.on('exit', () => rmSync(work, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));

/** Journeys that need a server; others run anywhere. */
const needs = { 'saas-postgres': { variable: 'DATABASE_URL', port: 5432 } };

const tarball = process.env.MODEL_GATEWAY_TARBALL ?? pack();
const known = readdirSync(here).filter((name) => existsSync(join(here, name, 'package.json')));
const asked = process.argv.slice(2);
for (const name of asked.length > 0 ? asked : known) {
  const started = performance.now();
  const say = (word, detail = '') => {
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    process.stdout.write(`${word} ${name} (${seconds} s)${detail === '' ? '' : `\n${detail}`}\n`);
  };
  if (!(await isThere(needs[name]))) {
    if (process.env.REQUIRE_SERVICES) {
      counts.failed += 1;
      say('FAIL', `It needs a server: set ${needs[name].variable}.`);
      continue;
    }
    counts.skipped += 1;
    say('skip');
    continue;
  }
  const failure = await travel(name);
  counts[failure === null ? 'passed' : 'failed'] += 1;
  say(failure === null ? 'ok  ' : 'FAIL', failure ?? '');
}
process.stdout.write(`# journeys: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
process.exitCode = counts.failed > 0 ? 1 : 0;

/** @returns what went wrong; null where nothing did */
async function travel(name) {
  const folder = join(work, name);
  cpSync(join(here, name), folder, { recursive: true, filter: (file) => !/[\\/]node_modules$/.test(file) });
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  manifest.dependencies['model-gateway'] = `file:${tarball}`;
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  if (!npm(folder, ['install', ...quiet])) return 'npm install failed';
  // No settings of this machine; what Node warns of is shown.
  const { OPENAI_API_KEY: _, NODE_TEST_CONTEXT: __, ...env } = process.env;
  const { code, output } = await runInGroup('main.mjs', { cwd: folder, env, timeoutMs });
  return code === 0 ? null : output || `it ended with ${code}`;
}

function isThere(need) {
  if (need === undefined || process.env[need.variable]) return true;
  return new Promise((resolve) => {
    const socket = connect(need.port, '127.0.0.1');
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

function pack() {
  const folder = join(work, 'package');
  mkdirSync(folder);
  if (!npm(root, ['pack', '--loglevel=error', '--pack-destination', folder])) throw new Error('npm pack failed');
  return join(folder, readdirSync(folder)[0]);
}
