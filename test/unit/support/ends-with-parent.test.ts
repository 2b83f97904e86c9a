import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { expect, it } from 'vitest';
import { childFlags } from '../../support/child-flags.ts';

it('a process that a test has started ends when the test is killed', async () => {
  // The child would run for a minute. It has its parent's stdout, which closes when both have ended.
  const child = `process.on('message', () => {}); setTimeout(() => {}, 60_000); process.send('ready');`;
  const parent = `
    const { spawn } = require('node:child_process');
    const flags = ${JSON.stringify([...childFlags, '--eval', child])};
    spawn(process.execPath, flags, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
      .once('message', () => process.stdout.write('ready'));
  `;
  const started = spawn(process.execPath, ['--eval', parent], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(started.stdout, 'data');
  started.kill('SIGKILL');
  expect(await once(started, 'close')).toEqual([null, 'SIGKILL']);
});
