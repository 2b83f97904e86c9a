#!/usr/bin/env node
import { existsSync } from 'node:fs';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { runCommand } from './command.ts';

// Variables that are set already keep their values.
if (existsSync('.env')) process.loadEnvFile('.env');

let lines: AsyncIterator<string> | null = null;

const code = await runCommand({
  args: process.argv.slice(2),
  folder: process.cwd(),
  env: process.env,
  print: (text) => void process.stdout.write(text),
  printError: (text) => void process.stderr.write(text),
  async ask(question) {
    process.stdout.write(question);
    // One for all questions: it may have read further lines.
    lines ??= createInterface({ input: process.stdin })[Symbol.asyncIterator]();
    const { value } = await lines.next();
    return value ?? '';
  },
  onStop(callback) {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, callback);
  },
  nowMs: () => performance.now(),
});
process.exit(code);
