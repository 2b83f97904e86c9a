// A newcomer's first minutes: a fresh copy of the project, the machine's own Node, `npm start`, and a request.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';

const root = join(import.meta.dirname, '..', '..', '..');
// Real path: where it starts, a process knows its folder by no other.
const copy = realpathSync(mkdtempSync(join(tmpdir(), 'model-gateway-clone-')));
const key = 'key-of-a-newcomer';
const counts = { passed: 0, failed: 0 };
let server = null;
process.on('exit', () => {
  server?.kill('SIGKILL');
  rmSync(copy, { recursive: true, force: true });
});

copyTracked();
const port = await freePort();
const firstMs = await start();
report('npm start answers within a minute of a fresh clone', firstMs < 60_000, `${seconds(firstMs)} s`);
await checkAnswers();
await checkStop();
const laterMs = await start();
// Two seconds are the promise; a busy machine gets one more.
report('a later npm start answers within two seconds', laterMs < 3_000, `${seconds(laterMs)} s`);
await checkStop();
process.stdout.write(`# start: ${counts.passed} passed, ${counts.failed} failed\n`);
// What a failed stop has left behind would keep this process alive.
process.exit(counts.failed > 0 ? 1 : 0);

/** What a clone would have, changes that are not yet committed included. */
function copyTracked() {
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  for (const file of list.split('\0').filter(Boolean)) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file), { force: true });
  }
}

/** Starts the server; resolves with the time until it answered. */
async function start() {
  const started = performance.now();
  server = spawn('npm', ['start'], {
    cwd: copy,
    env: { ...machineEnv(), PORT: String(port), GATEWAY_API_KEY: key },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  server.output = '';
  server.stdout.setEncoding('utf8').on('data', (part) => {
    server.output += part;
  });
  const ended = once(server, 'exit').then(() => true);
  for (;;) {
    if (
      await ask('/v1/chat/completions', {}).then(
        () => true,
        () => false,
      )
    )
      return performance.now() - started;
    if (await Promise.race([ended, delay(20)])) throw new Error(`npm start ended:\n${server.output}`);
    if (performance.now() - started > 240_000) throw new Error(`no answer within 240 s:\n${server.output}`);
  }
}

async function checkAnswers() {
  report('it prints its base URL', server.output.includes(`http://127.0.0.1:${port}/v1`), server.output);
  report('it prints a curl line', /^\s*curl .*chat\/completions/m.test(server.output), server.output);
  const data = join(copy, '.model-gateway');
  report('it names its data folder', server.output.includes(` ${data}\n`), server.output);
  const secretMode = statSync(join(data, 'secret')).mode & 0o777;
  report(
    'the secret in it is for its owner alone',
    process.platform === 'win32' || secretMode === 0o600,
    `${secretMode}`,
  );
  const body = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Good morning' }], stream: true };
  const response = await ask('/v1/chat/completions', body, { authorization: `Bearer ${key}` });
  const text = await response.text();
  report(
    'it streams an answer of the sandbox',
    response.status === 200 && text.trimEnd().endsWith('data: [DONE]'),
    text,
  );
  const refused = await ask('/v1/chat/completions', body);
  report('it asks for the key', refused.status === 401, `status ${refused.status}`);
}

async function checkStop() {
  const ended = once(server, 'exit');
  server.kill('SIGTERM');
  const stopped = await Promise.race([ended.then(() => true), delay(10_000)]);
  // The server itself is a grandchild: npm's end alone would not show that it has gone.
  const gone =
    stopped &&
    (await ask('/', {}).then(
      () => false,
      () => true,
    ));
  report('SIGTERM to npm stops the server', gone, server.output);
  if (!gone) throw new Error('The port is still taken.');
}

function ask(path, body, headers = {}) {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
  return fetch(`http://127.0.0.1:${port}${path}`, init);
}

/** Without the pinned Node on the PATH and without what npm told us: as a shell has it. */
function machineEnv() {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
  const folders = (env.PATH ?? '').split(delimiter);
  return {
    ...env,
    PATH: folders
      .filter((folder) => !folder.includes('node_modules') && !folder.includes('node-gyp-bin'))
      .join(delimiter),
  };
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port: free } = probe.address();
  probe.close();
  await once(probe, 'close');
  return free;
}

function delay(ms) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms, false);
  });
}

function seconds(ms) {
  return (ms / 1000).toFixed(1);
}

function report(name, holds, detail) {
  counts[holds ? 'passed' : 'failed']++;
  process.stdout.write(
    holds ? `ok   ${name}${detail.length < 20 ? ` (${detail})` : ''}\n` : `FAIL ${name}: ${detail}\n`,
  );
}
