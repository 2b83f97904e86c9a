// The example apps as a reader gets them: copied, installed with the packed package, built, started, asked, stopped.
// `node test/matrix/examples/run.mjs [name …]` runs some of them, and packs the package where nobody else has.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { npm } from '../../../scripts/install.mjs';
import { root } from '../../../scripts/paths.mjs';
import { checkConsole } from '../essentials-console.mjs';
import { checkApp } from './checks.mjs';
import { checkInstances } from './instances.mjs';
import { checkTelemetry } from './telemetry.mjs';
import { startUpstream } from './upstream.mjs';

const examples = join(root, 'examples');
// The one that the checks of the console sign in with.
const key = 'sk-console-0123456789';
const session = 'session-of-a-test';
const bearer = { authorization: `Bearer ${key}` };

/** Where each example mounts the gateway, and what its callers send; `isAlone`: there is no app around it. */
const mounts = {
  node: [{ path: '/v1', headers: bearer }],
  express: [
    { path: '/v1', headers: bearer },
    { path: '/parsed/v1', headers: bearer },
  ],
  koa: [
    { path: '/v1', headers: bearer },
    { path: '/parsed/v1', headers: bearer },
  ],
  bun: [{ path: '/v1', headers: bearer }],
  next: [{ path: '/api/v1', headers: bearer }],
  'custom-server': [{ path: '/platform/models', headers: { cookie: `session=${session}` } }],
  container: [{ path: '/v1', headers: bearer, isAlone: true }],
  // Runs to its end and says what it found.
  'multi-instance': [],
  telemetry: [],
};

const quiet = ['--loglevel=error', '--no-audit', '--no-fund', '--no-package-lock', '--prefer-offline'];
const work = mkdtempSync(join(tmpdir(), 'model-gateway-examples-'));
const counts = { passed: 0, failed: 0 };
let app = null;
process.on('exit', () => {
  stop('SIGKILL');
  rmSync(work, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));

report('every example is run', readdirSync(examples).sort().join() === Object.keys(mounts).sort().join());
const tarball = process.env.MODEL_GATEWAY_TARBALL ?? pack();
const upstream = await startUpstream();
const asked = process.argv.slice(2);
for (const name of asked.length > 0 ? asked : Object.keys(mounts)) {
  try {
    await runExample(name);
  } catch (error) {
    report(name, false, error.message);
  }
  stop('SIGKILL');
}
await upstream.close();
process.stdout.write(`# examples: ${counts.passed} passed, ${counts.failed} failed\n`);
process.exitCode = counts.failed > 0 ? 1 : 0;

async function runExample(name) {
  const folder = join(work, name);
  const isOurs = (file) => !/[\\/](node_modules|\.next|dist)$/.test(file);
  cpSync(join(examples, name), folder, { recursive: true, filter: isOurs });
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  manifest.dependencies['model-gateway'] = `file:${tarball}`;
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  if (!npm(folder, ['install', ...quiet])) throw new Error('npm install failed');
  if (name === 'multi-instance') return checkInstances({ folder, report });
  if (name === 'telemetry') return checkTelemetry({ folder, ports: [await freePort(), await freePort()], key, report });
  const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1' };
  if (manifest.scripts.build) {
    const built = npm(folder, ['run', 'build', '--loglevel=error'], { env, timeout: 300_000 });
    report(`${name}: builds`, built);
    if (!built) return;
  }
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const exit = start(folder, {
    ...env,
    PORT: String(port),
    GATEWAY_API_KEY: key,
    SESSION: session,
    LOCAL_BASE_URL: upstream.url,
  });
  await answers(url, exit);
  for (const { path, headers, isAlone } of mounts[name]) {
    const check = async (what, run) => {
      try {
        await run();
        report(`${name}${path}: ${what}`, true);
      } catch (error) {
        report(`${name}${path}: ${what}`, false, error.message);
      }
    };
    await checkApp({ url, baseUrl: url + path, headers, isAlone, upstream, check });
  }
  if (name === 'next') await checkConsoleOf(url);
  if (name === 'bun') await runInBun(folder);
  stop('SIGTERM');
  const ended = await Promise.race([exit.then(() => true), delay(15_000)]);
  report(`${name}: ends at SIGTERM`, ended === true);
}

/** The console of an app, which signs in with the key of the matrix. */
async function checkConsoleOf(url) {
  try {
    await checkConsole(`${url}/console`, fetch);
    report('next/console: shows the console to who signs in', true);
  } catch (error) {
    report('next/console: shows the console to who signs in', false, error.message);
  }
}

/** What the checks of an app cannot show of Bun. */
async function runInBun(folder) {
  const adapter = join(folder, 'node_modules', 'model-gateway', 'dist', 'bun.js');
  const program = join(import.meta.dirname, 'bun-serve.mjs');
  const child = spawn(join(folder, 'node_modules', '.bin', 'bun'), [program, adapter], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), 90_000);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  const [code] = await once(child, 'close');
  clearTimeout(timer);
  const lines = output.split('\n').filter((line) => /^(ok|FAIL) /.test(line));
  for (const line of lines) report(`bun serve: ${line.slice(5)}`, line.startsWith('ok'));
  report('bun serve: ran to its end', code === 0 && lines.length > 0, output);
}

/** Runs the example's own start script. In a group of its own: npm starts a shell, and that the server. */
function start(folder, env) {
  // Above npm's own: the example may bring its runtime.
  const PATH = `${join(folder, 'node_modules', '.bin')}:${env.PATH}`;
  const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const child = spawn('sh', ['-c', `exec ${scripts.start}`], {
    cwd: folder,
    env: { ...env, PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  app = child;
  child.output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      child.output += text;
    });
  }
  return once(child, 'exit').then(([code]) => `ended with ${code}:\n${child.output}`);
}

function stop(signal) {
  if (app?.pid === undefined) return;
  try {
    process.kill(-app.pid, signal);
  } catch {
    // The group has already ended.
  }
}

async function answers(url, exit) {
  const started = performance.now();
  for (;;) {
    const isUp = await fetch(url).then(
      (response) => response.text().then(() => true),
      () => false,
    );
    if (isUp) return;
    const ended = await Promise.race([exit, delay(50)]);
    if (ended) throw new Error(`The app ${ended}`);
    if (performance.now() - started > 60_000) throw new Error(`No answer within 60 s:\n${app.output}`);
  }
}

function pack() {
  const folder = join(work, 'package');
  mkdirSync(folder);
  if (!npm(root, ['pack', '--loglevel=error', '--pack-destination', folder])) throw new Error('npm pack failed');
  return join(folder, readdirSync(folder)[0]);
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  await once(probe, 'close');
  return port;
}

function delay(ms) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms, false);
  });
}

function report(name, holds, detail = '') {
  counts[holds ? 'passed' : 'failed']++;
  process.stdout.write(holds ? `ok   ${name}\n` : `FAIL ${name} ${detail}\n`);
}
