// The servers that tests need, for a run that must not leave their tests out (REQUIRE_SERVICES=1). Plain JavaScript for
// Node 18 or later: it runs before anything is installed.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * By name: the variable of the environment that names one that is there, the port where one is looked for else, its
 * package, and
 * - find: the path of its program, or of the folder of its programs; null: it is not installed
 * - start: what to do before it runs; gives its url, the command that runs it, and whether it is up
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
      // It refuses to run as root.
      const as = process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--'] : [];
      if (as.length > 0) chownSync(folder, idOf('-u', 'postgres'), idOf('-g', 'postgres'));
      const data = join(folder, 'data');
      const [init, ...args] = [...as, join(programs, 'initdb'), '-D', data, '-A', 'trust', '-U', 'postgres', '-N'];
      execFileSync(init, args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
      // Its data is thrown away: a crash of the machine may take them.
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

/**
 * What is to be done so that no test is left out. A server that is there will do for most; those of faults start and
 * break servers of their own, so that the programs have to be installed in any case.
 * @param {readonly { name: string, debianPackage: string, isThere: boolean, isInstalled: boolean }[]} seen
 * @param {boolean} canInstall
 * @returns {{ install: string[], start: string[], missing: string[] }} packages; names of services; what to say of those
 *   for which nothing can be done
 */
export function planServices(seen, canInstall) {
  const absent = seen.filter(({ isInstalled }) => !isInstalled);
  return {
    install: canInstall ? absent.map(({ debianPackage }) => debianPackage) : [],
    start: seen.filter(({ isThere, isInstalled }) => !isThere && (isInstalled || canInstall)).map(({ name }) => name),
    missing: canInstall ? [] : absent.map(sayMissing),
  };
}

/** @param {{ name: string, debianPackage: string, isThere: boolean }} service */
function sayMissing({ name, debianPackage, isThere }) {
  const lost = isThere ? `A ${name} is running, but tests of its faults need its programs` : `There is no ${name}`;
  return `${lost}: install it (on Debian \`apt-get install ${debianPackage}\`), or set REQUIRE_SERVICES=0 to leave its tests out.`;
}

/**
 * Installs and starts what is missing. What cannot be done is said, and left to the tests to fail for.
 * @returns {Promise<{ env: Record<string, string>, stop: () => void }>} where the servers are that were started here
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
    // The guard ends its server, and then goes.
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

/** Whether packages can be installed without asking anybody. */
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
    // A list that could not be fetched may be one that is not needed.
    if (status !== 0) process.stdout.write(`apt-get ${args[0]} failed: ${error?.message ?? stderr}\n`);
  }
}

/**
 * Runs a server for as long as its input is open: when this process ends, by whatever end, the system closes that, and
 * the guard ends the server and removes its folder.
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
  // It holds up nothing.
  for (const held of [child, child.stdin, child.stderr]) held.unref();
  return child;
}

/** Half a minute at most. */
async function untilUp(child, isUp) {
  for (let tries = 0; tries < 300; tries++) {
    if (child.exitCode !== null) throw new Error(`it ended at once: ${child.errors}`);
    if (await isUp()) return;
    await sleep(100);
  }
  throw new Error(`it did not answer within half a minute: ${child.errors}`);
}

/** @returns the first of these programs on the path; null: there is none */
export function findProgram(names, path) {
  for (const folder of path.split(delimiter)) {
    for (const name of names) if (folder !== '' && existsSync(join(folder, name))) return join(folder, name);
  }
  return null;
}

/** The folder of PostgreSQL's programs, which Debian keeps away from the path. */
function findPostgres(path) {
  const versions = '/usr/lib/postgresql';
  const folders = existsSync(versions) ? readdirSync(versions).sort().reverse() : [];
  const candidates = [...path.split(delimiter), ...folders.map((version) => join(versions, version, 'bin'))];
  const isWhole = (folder) => ['initdb', 'postgres', 'pg_isready'].every((name) => existsSync(join(folder, name)));
  return candidates.find((folder) => folder !== '' && isWhole(folder)) ?? null;
}

function idOf(flag, user) {
  return Number(execFileSync('id', [flag, user], { encoding: 'utf8' }));
}

function isListening(port) {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', timeout: 1000 });
    const end = (answer) => {
      socket.destroy();
      resolve(answer);
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
