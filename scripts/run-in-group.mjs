// Runs a program in a process group of its own, so that its child processes are stopped with it.
import { spawn } from 'node:child_process';
import process from 'node:process';

let running = null;
process.on('exit', stopRunning);

/**
 * Runs a program of Node; one at a time.
 * @param options.timeoutMs  after this time, the program and its child processes are killed
 * @param options.isShown    true: what the program prints is printed here, too
 * @returns code    its exit code; null where it was killed
 * @returns output  what it printed. Where it is shown, without its errors
 */
export function runInGroup(file, { cwd, env, timeoutMs, isShown = false }) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [file], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    running = child;
    let output = '';
    const take = (text) => {
      output += text;
      if (isShown) process.stdout.write(text);
    };
    child.stdout.setEncoding('utf8').on('data', take);
    if (isShown) child.stderr.pipe(process.stderr, { end: false });
    else child.stderr.setEncoding('utf8').on('data', take);
    const timer = setTimeout(() => {
      take(`stopped after ${timeoutMs / 1000} s\n`);
      stopRunning();
    }, timeoutMs);
    child.on('exit', () => {
      clearTimeout(timer);
      // Child processes that still run would keep our pipes open.
      stopRunning();
      running = null;
    });
    child.on('close', (code) => resolve({ code, output }));
  });
}

function stopRunning() {
  if (running?.pid === undefined) return;
  try {
    process.kill(-running.pid, 'SIGKILL');
  } catch {
    // The group has already ended.
  }
}
