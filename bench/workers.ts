import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { type Contest, compare, type Field, gatewaySigns, type Rounds, type Server } from './throughput.ts';

/** `model-gateway serve` with one worker and with two. */
export type WorkerRounds = Record<'one' | 'two', Rounds>;

/** Measures the command with one worker and with two. The processes are not pinned, and share the cores with the peer. */
export async function compareWorkers({ peer }: Pick<Field, 'peer'>, contest: Contest): Promise<WorkerRounds> {
  const folder = mkdtempSync(join(tmpdir(), 'model-gateway-bench-'));
  const servers: Partial<Record<'one' | 'two', Server>> = {};
  try {
    servers.one = await startCommand(peer.port, 1, join(folder, 'one.db'));
    servers.two = await startCommand(peer.port, 2, join(folder, 'two.db'));
    return await compare({ peer, servers: servers as Record<'one' | 'two', Server> }, contest);
  } finally {
    for (const server of Object.values(servers)) await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

async function startCommand(upstreamPort: number, workers: number, database: string): Promise<Server> {
  const flags = ['--port', '0', '--workers', String(workers), '--config', pathOf('workers-config.ts')];
  const child = spawn(process.execPath, [pathOf('../dist/cli.js'), 'serve', ...flags], {
    env: { ...process.env, BENCH_UPSTREAM: `http://127.0.0.1:${upstreamPort}/v1`, BENCH_DATABASE: database },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const port = await new Promise<number>((resolve, reject) => {
    let printed = '';
    child.stdout.on('data', (text) => {
      printed += text;
      const found = /serves \S+:(\d+)\//.exec(printed)?.[1];
      if (found !== undefined) resolve(Number(found));
    });
    void ended.then(() => reject(new Error('The command ended before it served')));
  });
  return {
    port,
    signs: gatewaySigns,
    // The only question that is asked of a measured server.
    ask: async <T>() => cpuUs(child.pid as number) as T,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** CPU of a process and its children, in microseconds; 0 where the system has no /proc. */
function cpuUs(pid: number): number {
  if (process.platform !== 'linux') return 0;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  return [pid, ...children].reduce((sum, one) => sum + ticksOf(one), 0) * usPerTick;
}

/** Linux counts in hundredths of a second. */
const usPerTick = 10_000;

/** The fields 14 and 15 of the file; the second, in parentheses, may contain spaces. */
function ticksOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}
