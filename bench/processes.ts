import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { Question, Reply } from './control.ts';

/** A child process of the measurement. */
export interface Worker {
  /** The port that the process listens on; 0: none. */
  port: number;
  /** Runs a command that the process gave to `serveParent`. @throws Error when the command fails or the process ends */
  ask<T>(command: string, argument?: unknown): Promise<T>;
  /** Resolves when the process has ended. */
  stop(): Promise<void>;
}

/** The core that a process is pinned to; only the measured server runs on `under-test`. */
export type Side = 'under-test' | 'peer';

/** The numbers of the two cores; null: the system does not allow pinning, and the scheduler places the processes. */
export const cores: Record<Side, number> | null = findCores();

function findCores(): Record<Side, number> | null {
  if (process.platform !== 'linux') return null;
  const [first, second] = allowedCores();
  if (first === undefined || second === undefined) return null;
  const { status } = spawnSync('taskset', ['-c', String(second), process.execPath, '-e', '0'], { stdio: 'ignore' });
  return status === 0 ? { 'under-test': first, peer: second } : null;
}

/** Reads the cores that this process may use, from a list such as `0-3,8`. */
function allowedCores(): number[] {
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '';
  return list.split(',').flatMap((range) => {
    const [from = 0, to = from] = range.split('-').map(Number);
    return Array.from({ length: to - from + 1 }, (_, at) => from + at);
  });
}

/**
 * Starts a script of this folder on the core of its side. The script has to call `serveParent`.
 * @returns after the process has reported its port, which means that it is ready
 */
export async function startWorker(script: string, side: Side, args: readonly string[] = []): Promise<Worker> {
  const command = [process.execPath, '--expose-gc', fileURLToPath(new URL(script, import.meta.url)), ...args];
  const [file = '', ...rest] = cores === null ? command : ['taskset', '-c', String(cores[side]), ...command];
  const child = spawn(file, rest, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  running.add(child);
  child.once('exit', () => running.delete(child));
  const ask = asker(child, script);
  return {
    ask,
    port: await ask<number>('port'),
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        if (child.exitCode !== null || child.signalCode !== null) resolve();
        else child.disconnect();
      }),
  };
}

const running = new Set<ChildProcess>();

/** Kills all child processes; pending questions to them fail. */
export function killWorkers(): void {
  for (const child of running) child.kill('SIGKILL');
}

function asker(child: ChildProcess, script: string): Worker['ask'] {
  const pending = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let lastId = 0;
  let failure: Error | undefined;
  const failAll = (error: Error) => {
    failure ??= error;
    for (const { reject } of pending.values()) reject(error);
    pending.clear();
  };
  child.on('message', (reply: Reply) => {
    const waiting = pending.get(reply.id);
    pending.delete(reply.id);
    if ('error' in reply) waiting?.reject(new Error(`${script}: ${reply.error}`));
    else waiting?.resolve(reply.value);
  });
  child.on('error', failAll);
  child.on('exit', (code, signal) => failAll(new Error(`${script} has ended (${signal ?? code})`)));
  return <T>(command: string, argument?: unknown) =>
    new Promise<T>((resolve, reject) => {
      if (failure) return reject(failure);
      const question: Question = { id: ++lastId, command, argument };
      // The caller states the command's result type; both ends of the channel are in this folder.
      pending.set(question.id, { resolve: resolve as (value: unknown) => void, reject });
      child.send(question);
    });
}
