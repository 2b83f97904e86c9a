// The compliance suite of the published specification of Responses, unmodified, against the packed gateway. The suite is
// in no package: it is fetched at one commit, or taken from the folder that OPENRESPONSES_SUITE names.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import process from 'node:process';
import { createGateway, serve } from '../installed.mjs';

const repository = 'https://github.com/openresponses/openresponses';
const commit = '92c12d96d7b61d6d15e2214daa5e9c6000ab6e1c';
const modules = join(import.meta.dirname, 'node_modules');
const bun = join(modules, '.bin', 'bun');
/** Below the packages, so that the suite finds them. */
const suite = join(modules, '.suite');
const apiKey = 'sk-suite-0123456789';
const model = 'sandbox/assistant';

const missing = takeSuite();
if (missing !== null) {
  process.stdout.write(`\n!!! SKIPPED: the compliance suite of ${repository}: ${missing} !!!\n\n`);
  process.stdout.write('# openresponses: 0 passed, 0 failed, 1 skipped\n');
  process.exit(0);
}

const gateway = createGateway({ providers: { sandbox: {} }, apiKeys: [{ key: apiKey }] });
const server = await serve(gateway, { port: 0, hostname: '127.0.0.1' });
const hasWebSocket = await servesWebSocket();
const results = await runSuite();
await server.close(0);
await gateway.close();
const counts = { passed: 0, failed: 0, skipped: 0 };
for (const result of results) count(result);
process.stdout.write(`# openresponses: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
process.exit(counts.failed > 0 || counts.passed === 0 ? 1 : 0);

/** @returns why the suite is not there; null: it is */
function takeSuite() {
  rmSync(suite, { recursive: true, force: true });
  mkdirSync(suite, { recursive: true });
  const given = process.env.OPENRESPONSES_SUITE;
  if (given !== undefined) {
    for (const part of ['bin', 'src', 'package.json', 'tsconfig.json'])
      if (existsSync(join(given, part))) cpSync(join(given, part), join(suite, part), { recursive: true });
  } else {
    for (const args of [
      ['init', '--quiet'],
      ['fetch', '--quiet', '--depth', '1', repository, commit],
      ['checkout', '--quiet', 'FETCH_HEAD'],
    ]) {
      const env = { ...process.env, GIT_TERMINAL_PROMPT: '0' };
      const { status, error } = spawnSync('git', args, { cwd: suite, env, stdio: 'ignore', timeout: 60_000 });
      if (error || status !== 0) return 'it cannot be fetched; OPENRESPONSES_SUITE may name a folder that has it';
    }
  }
  return existsSync(join(suite, 'bin', 'compliance-test.ts')) ? null : 'bin/compliance-test.ts is not there';
}

/** A gateway that takes no WebSocket says so by a 426; clients then use POST. */
function servesWebSocket() {
  const headers = { authorization: `Bearer ${apiKey}`, connection: 'Upgrade', upgrade: 'websocket' };
  return new Promise((resolve, reject) => {
    get(`${server.url}/responses`, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode !== 426);
    })
      .on('upgrade', (_, socket) => {
        socket.destroy();
        resolve(true);
      })
      .on('error', reject);
  });
}

/** What the suite says of each of its tests. */
function runSuite() {
  const args = ['run', 'bin/compliance-test.ts', '--base-url', server.url, '--model', model, '--json'];
  return new Promise((resolve, reject) => {
    const env = { ...process.env, OPENRESPONSES_API_KEY: apiKey };
    const child = spawn(bun, args, { cwd: suite, env, stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
    child.on('error', reject);
    child.on('close', () => resolve(JSON.parse(output).results));
  });
}

function count({ id, name, status, errors = [] }) {
  const outcome = id.startsWith('websocket-') && !hasWebSocket ? 'skipped' : status;
  counts[outcome]++;
  const label = { passed: 'ok  ', failed: 'FAIL', skipped: 'skip' }[outcome];
  process.stdout.write(`${label} ${name}${outcome === 'passed' ? '' : `\n     ${errors.join('\n     ')}`}\n`);
}
