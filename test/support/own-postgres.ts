import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { isPostgres } from './ask.ts';
import { freePort } from './start-service.ts';

/** A PostgreSQL of a test's own, to be mistreated. It ends with the process that started it, and its folder goes. */
export interface OwnPostgres {
  url: string;
  folder: string;
  /** As when its machine loses power: the server and its sessions die at once. Its data stay. */
  kill(): Promise<void>;
  /** After `kill`: on the same port and data. Returns when it answers. */
  start(): Promise<void>;
  /** The server and its sessions stop where they are: connections stay open, and nobody answers. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** A tablespace `small` of so many bytes, that can be filled. false: this machine does not allow it. */
  addSmallDisk(bytes: number): Promise<boolean>;
  stop(): Promise<void>;
}

const run = promisify(execFile);

/**
 * @param programs  the folder of `initdb` and `postgres`
 * @param settings  such as `['max_connections=20']`
 */
export async function ownPostgres(programs: string, settings: readonly string[] = []): Promise<OwnPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'model-gateway-postgres-'));
  const keeper = keep(folder);
  const [data, disk] = [join(folder, 'data'), join(folder, 'disk')];
  // It refuses to run as root.
  const ids = process.getuid?.() === 0 ? await idsOf('postgres') : null;
  const as = ids ? { uid: ids[0], gid: ids[1] } : {};
  if (ids) await chown(folder, ...ids);
  await run(join(programs, 'initdb'), ['-D', data, '-A', 'trust', '-U', 'postgres', '-N'], { cwd: folder, ...as });
  const port = await freePort();
  const fixed = ['listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`, 'fsync=off'];
  const options = [...fixed, ...settings].flatMap((setting) => ['-c', setting]);
  let server: ChildProcess | undefined;

  const own: OwnPostgres = {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    folder,
    async start() {
      server = spawn(join(programs, 'postgres'), ['-D', data, '-p', String(port), ...options], {
        cwd: folder,
        stdio: 'ignore',
        ...as,
      });
      for (let targets = 0; targets < 600; targets++) {
        if (server.exitCode !== null) throw new Error('The server ended at once');
        if (await isPostgres(port, 'postgres', 'postgres')) return;
        await sleep(50);
      }
      throw new Error('The server did not answer within half a minute');
    },
    async kill() {
      if (!server || server.exitCode !== null || server.signalCode !== null) return;
      const ended = once(server, 'exit');
      await signal(server, 'SIGKILL');
      await ended;
    },
    pause: async () => server && signal(server, 'SIGSTOP'),
    resume: async () => server && signal(server, 'SIGCONT'),
    async addSmallDisk(bytes) {
      await mkdir(disk);
      const mounted = await run('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', disk]).then(
        () => true,
        () => false,
      );
      if (mounted && ids) await chown(disk, ...ids);
      return mounted;
    },
    async stop() {
      await own.kill();
      keeper.stdin?.end();
      await once(keeper, 'exit');
    },
  };
  try {
    await own.start();
  } catch (error) {
    await own.stop();
    throw error;
  }
  return own;
}

/** The server first: it would make new sessions, or end at the loss of one. */
async function signal({ pid }: ChildProcess, name: NodeJS.Signals): Promise<void> {
  if (pid === undefined) return;
  if (name !== 'SIGCONT') process.kill(pid, name === 'SIGKILL' ? 'SIGSTOP' : name);
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=']);
  const processes = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  for (const [child, parent] of processes) if (parent === pid && child) tell(child, name);
  tell(pid, name);
}

function tell(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended meanwhile.
  }
}

/**
 * Ends the server and removes its folder as soon as its input is closed: by `stop`, or because this process has died.
 */
function keep(folder: string): ChildProcess {
  const script = `
    const { readFileSync, rmSync, existsSync } = require('node:fs');
    const { execFileSync, spawnSync } = require('node:child_process');
    const [folder] = process.argv.slice(1);
    const end = () => {
      try {
        const pid = readFileSync(folder + '/data/postmaster.pid', 'utf8').split('\\n')[0];
        const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).split('\\n');
        const pairs = lines.map((line) => line.trim().split(/\\s+/));
        // Only what is the server of this folder, not who has its number now.
        if (execFileSync('ps', ['-o', 'command=', '-p', pid], { encoding: 'utf8' }).includes(folder)) {
          process.kill(Number(pid), 'SIGKILL');
          for (const [child, parent] of pairs) if (parent === pid) process.kill(Number(child), 'SIGKILL');
        }
      } catch {}
      if (existsSync(folder + '/disk')) spawnSync('umount', ['-l', folder + '/disk']);
      rmSync(folder, { recursive: true, force: true });
      process.exit();
    };
    process.stdin.on('end', end).on('error', end).resume();
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => {});
  `;
  const keeper = spawn(process.execPath, ['-e', script, folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  // The test may be over before the server is: it holds up nothing.
  keeper.unref();
  (keeper.stdin as { unref?: () => void } | null)?.unref?.();
  return keeper;
}

async function idsOf(user: string): Promise<[uid: number, gid: number]> {
  const id = async (flag: string) => Number((await run('id', [flag, user])).stdout);
  return [await id('-u'), await id('-g')];
}
