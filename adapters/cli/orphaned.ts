import process from 'node:process';
import type { Env } from './config.ts';

const everyMs = 250;

/**
 * Calls back once where npx, npm or another of its kind has started this process and has ended. They start a shell between
 * them and this process, and SIGTERM ends the shell alone: the server would run on, and keep its port.
 */
export function onOrphaned({ npm_execpath: runner }: Env, callback: () => void): void {
  if (!runner || process.platform === 'win32') return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    callback();
  }, everyMs);
  timer.unref();
}
