import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { childFlags } from '../child-flags.ts';

export interface RaceProcess<Result = unknown> {
  child: ChildProcess;
  /** When it waits to be started. */
  ready: Promise<void>;
  /** What it says in the end. Rejects when it ends otherwise. */
  result: Promise<Result>;
}

/**
 * Starts a process that ends with its test, however the test ends.
 * @param script  a file of this folder
 * @param plan    the script reads it as JSON from `process.argv[2]`
 */
export function startProcess<Result>(script: string, plan: object): RaceProcess<Result> {
  const child = fork(join(import.meta.dirname, script), [JSON.stringify(plan)], {
    execArgv: [...childFlags],
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  });
  let errors = '';
  child.stderr?.on('data', (data) => {
    errors = (errors + data).slice(-4_000);
  });
  const ready = Promise.withResolvers<void>();
  const result = Promise.withResolvers<Result>();
  child.on('message', (message: 'ready' | { result: Result }) => {
    if (message === 'ready') ready.resolve();
    else result.resolve(message.result);
  });
  child.on('exit', (code, signal) => {
    const error = new Error(`a process ended (${signal ?? code}): ${errors}`);
    ready.reject(error);
    result.reject(error);
  });
  // Who waits for the one need not wait for the other.
  ready.promise.catch(() => {});
  result.promise.catch(() => {});
  return { child, ready: ready.promise, result: result.promise };
}

/**
 * Lets all go at the same instant, when all are ready.
 * @param nowMs  what their clocks say then
 * @returns when that is, by the clock of the system
 */
export async function startTogether(processes: readonly RaceProcess[], nowMs: number): Promise<number> {
  await Promise.all(processes.map(({ ready }) => ready));
  const startAtMs = Date.now() + 100;
  for (const { child } of processes) child.send({ startAtMs, nowMs });
  return startAtMs;
}
