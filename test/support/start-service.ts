import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chown, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { isPostgres, isRedis } from './ask.ts';

/** A server of a test's own, on a free port, in a folder of its own. It ends with the process that started it. */
export interface StartedService {
  url: string;
  port: number;
  folder: string;
  /** Of the server itself, for signals. */
  pid: number;
  /** Ends it, and removes its folder. */
  stop(): Promise<void>;
}

const run = promisify(execFile);

/**
 * @param program  path of `redis-server`
 * @param settings  further options, such as `['--maxmemory', '5mb']`
 * @param config  the text of a config file, which the server may write to: a sentinel needs one
 */
export async function startRedis(
  program: string,
  { settings = [], port = 0, config }: { settings?: readonly string[]; port?: number; config?: string } = {},
): Promise<StartedService> {
  const folder = await mkdtemp(join(tmpdir(), 'model-gateway-redis-'));
  const on = port || (await freePort());
  const file = join(folder, 'redis.conf');
  if (config !== undefined) await writeFile(file, config);
  const fixed = ['--port', String(on), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no'];
  const child = guard([program, ...(config === undefined ? [] : [file]), ...fixed, ...settings], folder);
  const pid = await ready(child, () => isRedis(on));
  return { url: `redis://127.0.0.1:${on}`, port: on, folder, pid, stop: () => end(child) };
}

/**
 * @param programs  the folder of `initdb` and `postgres`
 * @param settings  such as `['max_connections=20']`
 * @param standbyOf  the server whose data it has, and follows
 */
export async function startPostgres(
  programs: string,
  {
    settings = [],
    port = 0,
    standbyOf,
  }: { settings?: readonly string[]; port?: number; standbyOf?: StartedService } = {},
): Promise<StartedService> {
  const folder = await mkdtemp(join(tmpdir(), 'model-gateway-postgres-'));
  // It refuses to run as root.
  const isRoot = process.getuid?.() === 0;
  const as = isRoot ? ['runuser', '-u', 'postgres', '--'] : [];
  try {
    if (isRoot) await chown(folder, ...(await idsOf('postgres')));
    const from = ['-h', '127.0.0.1', '-p', String(standbyOf?.port), '-U', 'postgres'];
    // `programs` may hold links to some of them.
    const basebackup = join(dirname(await realpath(join(programs, 'initdb'))), 'pg_basebackup');
    const make = standbyOf
      ? [...as, basebackup, ...from, '-D', join(folder, 'data'), '-R', '-X', 'stream', '-c', 'fast']
      : [...as, join(programs, 'initdb'), '-D', join(folder, 'data'), '-A', 'trust', '-U', 'postgres', '-N'];
    await run(make[0]!, make.slice(1), { cwd: folder });
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  const on = port || (await freePort());
  // Its data is thrown away: a crash of the machine may take them.
  const fixed = ['listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`, 'fsync=off', 'max_connections=100'];
  const options = [...fixed, ...settings].flatMap((setting) => ['-c', setting]);
  const data = join(folder, 'data');
  const child = guard([...as, join(programs, 'postgres'), '-D', data, '-p', String(on), ...options], folder);
  await ready(child, () => isPostgres(on, 'postgres', 'postgres'));
  const pid = Number((await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n')[0]);
  return { url: `postgres://postgres@127.0.0.1:${on}/postgres`, port: on, folder, pid, stop: () => end(child) };
}

/**
 * Runs a server for as long as its input is open: when this process ends, by whatever end, the system closes that, and
 * the guard ends the server and removes its folder.
 */
function guard(command: readonly string[], folder: string): ChildProcess {
  const script = `
    const { spawn } = require('node:child_process');
    const [folder, program, ...args] = process.argv.slice(1);
    const server = spawn(program, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'], detached: true });
    const signal = (name) => { try { process.kill(-server.pid, name); } catch {} };
    const clear = () => require('node:fs').rmSync(folder, { recursive: true, force: true });
    console.log(server.pid);
    server.on('error', (error) => { console.error(String(error)); clear(); process.exit(1); });
    server.on('exit', (code) => { clear(); process.exit(code ?? 1); });
    const stop = () => {
      // What was stopped for a test takes no other signal.
      signal('SIGCONT');
      signal('SIGINT');
      setTimeout(() => signal('SIGKILL'), 5000).unref();
    };
    process.stdin.on('end', stop).on('error', stop).resume();
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, stop);
  `;
  return spawn(process.execPath, ['-e', script, folder, ...command], {
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.ref();
  child.stdin?.end();
  await ended;
}

/** Waits until the server answers, half a minute at most. @returns the id of what was started */
async function ready(child: ChildProcess, isUp: () => Promise<boolean | null>): Promise<number> {
  let [pid, errors] = [0, ''];
  child.stdout?.on('data', (data) => {
    pid = Number(data);
  });
  child.stderr?.on('data', (data) => {
    errors = (errors + data).slice(-2_000);
  });
  // The test may be over before the server is: it holds up nothing.
  for (const held of [child, child.stdin, child.stdout, child.stderr]) (held as { unref?: () => void }).unref?.();
  for (let targets = 0; targets < 600; targets++) {
    if (child.exitCode !== null) throw new Error(`The server ended at once: ${errors}`);
    if (pid > 0 && (await isUp())) return pid;
    await sleep(50);
  }
  await end(child);
  throw new Error(`The server did not answer within half a minute: ${errors}`);
}

/**
 * A port nobody listens on, below those that systems give to outgoing connections (from 32,768 on). One of these may be
 * taken while its server is down for a moment, even by a client that tries to reach the server.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 12_000 + Math.floor(Math.random() * 20_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

async function idsOf(user: string): Promise<[uid: number, gid: number]> {
  const id = async (flag: string) => Number((await run('id', [flag, user])).stdout);
  return [await id('-u'), await id('-g')];
}
