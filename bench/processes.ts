import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { Answer, Question } from './control.ts';

/** A process of the measurement. */
export interface Worker {
  /** The port it listens on; 0 when it does not. */
  port: number;
  /** Asks for one of the commands it gave to `answerParent`. @throws Error when it fails or the process ends */
  ask<T>(command: string, argument?: unknown): Promise<T>;
  /** Resolves when the process has ended. */
  stop(): Promise<void>;
}

/** Which core a process is kept on: `under-test` is the server's alone. */
export type Side = 'under-test' | 'peer';

/** The two cores, where the system lets us choose: else null, and the scheduler places the processes. */
export const cores: Record<Side, number> | null = findCores();

function findCores(): Record<Side, number> | null {
  if (process.platform !== 'linux') return null;
  const [first, second] = allowedCores();
  if (first === undefined || second === undefined) return null;
  const { status } = spawnSync('taskset', ['-c', String(second), process.execPath, '-e', '0'], { stdio: 'ignore' });
  return status === 0 ? { 'under-test': first, peer: second } : null;
}

/** The cores this process may use, from a list such as `0-3,8`. */
function allowedCores(): number[] {
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '';
  return list.split(',').flatMap((range) => {
    const [from = 0, to = from] = range.split('-').map(Number);
    return Array.from({ length: to - from + 1 }, (_, at) => from + at);
  });
}

/**
 * Starts a script of this folder that calls `answerParent`, on the core of its side.
 * @returns when it is ready: it has then said on which port it listens
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

/** Ends all of them at once: whoever waits for one is told. */
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
  child.on('message', (answer: Answer) => {
    const asked = pending.get(answer.id);
    pending.delete(answer.id);
    if ('error' in answer) asked?.reject(new Error(`${script}: ${answer.error}`));
    else asked?.resolve(answer.value);
  });
  child.on('error', failAll);
  child.on('exit', (code, signal) => failAll(new Error(`${script} has ended (${signal ?? code})`)));
  return <T>(command: string, argument?: unknown) =>
    new Promise<T>((resolve, reject) => {
      if (failure) return reject(failure);
      const question: Question = { id: ++lastId, command, argument };
      // Both ends are in this folder: the caller names the type that the command gives.
      pending.set(question.id, { resolve: resolve as (value: unknown) => void, reject });
      child.send(question);
    });
}
