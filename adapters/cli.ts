#!/usr/bin/env node
import process from 'node:process';
import { runCommand } from './serve-command.ts';

const code = await runCommand({
  args: process.argv.slice(2),
  env: process.env,
  print: (text) => void process.stdout.write(text),
  printError: (text) => void process.stderr.write(text),
  onStop(callback) {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, callback);
  },
  nowMs: () => performance.now(),
});
process.exit(code);
