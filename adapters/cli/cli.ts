#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { setFlagsFromString } from 'node:v8';
import { runCommand } from './command.ts';
import { onOrphaned } from './orphaned.ts';
import { forkWorker, supervised } from './worker-process.ts';

// Variables that are set already keep their values.
if (existsSync('.env')) process.loadEnvFile('.env');

// docs/performance.md, "A process of its own". It has to be set before V8 compiles what is often used.
setFlagsFromString('--no-allocation-site-pretenuring');

// Whoever reads the output may have seen enough, as `| head` has.
process.stdout.on('error', ({ code: reason }: NodeJS.ErrnoException) => {
  if (reason !== 'EPIPE') throw new Error('The output cannot be written');
  process.exit(0);
});

const worker = supervised();
let lines: AsyncIterator<string> | null = null;

const code = await runCommand({
  args: process.argv.slice(2),
  folder: process.cwd(),
  env: process.env,
  print: (text) => void process.stdout.write(text),
  printError: (text) => void process.stderr.write(text),
  isWatched: process.stderr.isTTY === true,
  async ask(question) {
    process.stdout.write(question);
    // One for all questions: it may have read further lines.
    lines ??= createInterface({ input: process.stdin })[Symbol.asyncIterator]();
    const { value } = await lines.next();
    return value ?? '';
  },
  onStop(callback) {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, callback);
    // A worker belongs to its supervisor, which tells it.
    if (worker === null) onOrphaned(process.env, callback);
  },
  onReload: (callback) => void process.on('SIGHUP', callback),
  now: Date.now,
  nowMs: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
  cores: availableParallelism(),
  fork: forkWorker,
  supervised: worker,
});
process.exit(code);
