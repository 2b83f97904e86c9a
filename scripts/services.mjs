// Provides the servers that tests need, for a run that must not skip tests (REQUIRE_SERVICES=1). Plain JavaScript for
// Node 18 or later, because it runs before any installation.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The servers that can be provided.
 * - variable: the environment variable with the URL of a running server
 * - port: the port to look at when the variable is not set
 * - find: returns the path of the program, or of the folder of the programs; null: not installed
 * - start: prepares the server; returns its URL, the command that runs it, and a function that tells whether it is up
 */
export const services = [
  {
    name: 'Redis',
    variable: 'REDIS_URL',
    port: 6379,
    debianPackage: 'redis-server',
    find: () => findProgram(['redis-server', 'valkey-server'], process.env.PATH ?? ''),
    async start(program, folder, port) {
      const place = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder];
      const command = [program, ...place, '--save', '', '--appendonly', 'no'];
      return { url: `redis://127.0.0.1:${port}`, command, isUp: () => isListening(port) };
    },
  },
  {
    name: 'PostgreSQL',
    variable: 'DATABASE_URL',
    port: 5432,
    debianPackage: 'postgresql',
    find: () => findPostgres(process.env.PATH ?? ''),
    async start(programs, folder, port) {
      // PostgreSQL refuses to run as root.
      const as = process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--'] : [];
      if (as.length > 0) chownSync(folder, idOf('-u', 'postgres'), idOf('-g', 'postgres'));
      const data = join(folder, 'data');
      const [init, ...args] = [...as, join(programs, 'initdb'), '-D', data, '-A', 'trust', '-U', 'postgres', '-N'];
      execFileSync(init, args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
      // The data is deleted after the run, so it does not have to survive a crash of the machine (`fsync=off`).
      const settings = ['listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`, 'fsync=off'];
      const options = settings.flatMap((setting) => ['-c', setting]);
      const ask = ['-h', '127.0.0.1', '-p', String(port), '-q'];
      return {
        url: `postgres://postgres@127.0.0.1:${port}/postgres`,
        command: [...as, join(programs, 'postgres'), '-D', data, '-p', String(port), ...options],
        isUp: async () => spawnSync(join(programs, 'pg_isready'), ask).status === 0,
      };
    },
  },
];

/** Programs that tests start themselves. Their tests are skipped, with a line, where one cannot be installed. */
const tools = [
  { program: 'nginx', debianPackage: 'nginx-light' },
  { program: 'caddy', debianPackage: 'caddy' },
];

/** Installs the missing tools, each by itself: not every system has a package of each. */
export function provideTools() {
  for (const { program, debianPackage } of tools) {
    const isThere = () => findProgram([program], `${process.env.PATH ?? ''}${delimiter}/usr/sbin`) !== null;
    if (isThere()) continue;
    if (canInstall()) install([debianPackage]);
    if (!isThere()) process.stdout.write(`There is no ${program}: its tests will be SKIPPED\n`);
  }
}

/**
 * Decides what to do so that no test is skipped. A running server is enough for most tests. Tests of faults start and
 * break their own servers, so the programs have to be installed in any case.
 * @param {readonly { name: string, debianPackage: string, isThere: boolean, isInstalled: boolean }[]} seen
 * @param {boolean} canInstall
 * @returns {{ install: string[], start: string[], missing: string[] }} packages to install; names of services to start;
 *   messages about services that cannot be provided
 */
export function planServices(seen, canInstall) {
  const absent = seen.filter(({ isInstalled }) => !isInstalled);
  return {
    install: canInstall ? absent.map(({ debianPackage }) => debianPackage) : [],
    start: seen.filter(({ isThere, isInstalled }) => !isThere && (isInstalled || canInstall)).map(({ name }) => name),
    missing: canInstall ? [] : absent.map(missingMessage),
  };
}

/** @param {{ name: string, debianPackage: string, isThere: boolean }} service */
function missingMessage({ name, debianPackage, isThere }) {
  const lost = isThere ? `A ${name} is running, but tests of its faults need its programs` : `There is no ${name}`;
  return `${lost}: install it (on Debian \`apt-get install ${debianPackage}\`), or set REQUIRE_SERVICES=0 to leave its tests out.`;
}

/**
 * Installs and starts the missing servers. When that fails, it prints a message, and the tests will fail.
 * @returns {Promise<{ env: Record<string, string>, stop: () => void }>} `env` has the URLs of the started servers
 */
export async function provideServices(wanted = services) {
  const seen = await Promise.all(
    wanted.map(async (service) => ({
      ...service,
      isThere: Boolean(process.env[service.variable]) || (await isListening(service.port)),
      isInstalled: service.find() !== null,
    })),
  );
  const plan = planServices(seen, canInstall());
  for (const line of plan.missing) process.stdout.write(`${line}\n`);
  if (plan.install.length > 0) install(plan.install);
  const children = [];
  const stop = () => {
    // The end of its input makes the guard stop its server and exit.
    for (const child of children.splice(0)) child.stdin.end();
  };
  const env = {};
  for (const { name, variable, find, start } of seen.filter((one) => plan.start.includes(one.name))) {
    const program = find();
    if (program === null) continue;
    try {
      const { child, url } = await run(program, start);
      children.push(child);
      env[variable] = url;
      process.stdout.write(`Started ${name} for this run: ${variable}=${url}\n`);
    } catch (error) {
      process.stdout.write(`${name} could not be started: ${error.stderr || error.message}\n`);
    }
  }
  return { env, stop };
}

async function run(program, start) {
  const folder = mkdtempSync(join(tmpdir(), 'model-gateway-services-'));
  let child = null;
  try {
    const { url, command, isUp } = await start(program, folder, await freePort());
    child = guard(command, folder);
    await untilUp(child, isUp);
    return { child, url };
  } catch (error) {
    if (child) child.stdin.end();
    else rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Whether packages can be installed without a question to the user. */
function canInstall() {
  return process.getuid?.() === 0 && findProgram(['apt-get'], process.env.PATH ?? '') !== null;
}

/** @param {readonly string[]} packages */
function install(packages) {
  process.stdout.write(`Installing ${packages.join(', ')} …\n`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  for (const args of [
    ['update', '-qq'],
    ['install', '-y', '-qq', '--no-install-recommends', ...packages],
  ]) {
    const { status, error, stderr } = spawnSync('apt-get', args, { env, encoding: 'utf8' });
    // No error here: a package list that could not be fetched may not be needed.
    if (status !== 0) process.stdout.write(`apt-get ${args[0]} failed: ${error?.message ?? stderr}\n`);
  }
}

/**
 * Starts a guard process, which runs a server as long as the guard's input is open. When this process ends, even by a
 * crash, the system closes that input; the guard then stops the server and removes its folder.
 */
function guard([program, ...args], folder) {
  const script = `
    const { spawn } = require('node:child_process');
    const [folder, program, ...args] = process.argv.slice(1);
    const server = spawn(program, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'], detached: true });
    const signal = (name) => { try { process.kill(-server.pid, name); } catch {} };
    const leave = () => { require('node:fs').rmSync(folder, { recursive: true, force: true }); process.exit(); };
    server.on('error', (error) => { console.error(String(error)); leave(); });
    server.on('exit', leave);
    const stop = () => { signal('SIGINT'); setTimeout(() => signal('SIGKILL'), 5000).unref(); };
    process.stdin.on('end', stop).on('error', stop).resume();
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, stop);
  `;
  const child = spawn(process.execPath, ['-e', script, folder, program, ...args], {
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: true,
  });
  child.errors = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    child.errors = (child.errors + text).slice(-2000);
  });
  // The guard must not keep this process alive.
  for (const held of [child, child.stdin, child.stderr]) held.unref();
  return child;
}

/** Waits at most half a minute. */
async function untilUp(child, isUp) {
  for (let polls = 0; polls < 300; polls++) {
    if (child.exitCode !== null) throw new Error(`it ended at once: ${child.errors}`);
    if (await isUp()) return;
    await sleep(100);
  }
  throw new Error(`it did not respond within half a minute: ${child.errors}`);
}

/** @returns the path of the first of these programs on the PATH; null: none was found */
export function findProgram(names, path) {
  for (const folder of path.split(delimiter)) {
    for (const name of names) if (folder !== '' && existsSync(join(folder, name))) return join(folder, name);
  }
  return null;
}

/** Returns the folder of PostgreSQL's programs; Debian does not put this folder on the PATH. */
function findPostgres(path) {
  const versions = '/usr/lib/postgresql';
  const folders = existsSync(versions) ? readdirSync(versions).sort().reverse() : [];
  const candidates = [...path.split(delimiter), ...folders.map((version) => join(versions, version, 'bin'))];
  const isComplete = (folder) => ['initdb', 'postgres', 'pg_isready'].every((name) => existsSync(join(folder, name)));
  return candidates.find((folder) => folder !== '' && isComplete(folder)) ?? null;
}

function idOf(flag, user) {
  return Number(execFileSync('id', [flag, user], { encoding: 'utf8' }));
}

function isListening(port) {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', timeout: 1000 });
    const end = (isOpen) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once('connect', () => end(true));
    for (const event of ['error', 'timeout']) socket.once(event, () => end(false));
  });
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
