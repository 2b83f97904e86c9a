import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { childFlags } from '../../support/child-flags.ts';
import { heldNanoUsd, life, logOf, openFiles, spentNanoUsd, type Word, width, workspaceId } from './keyv-child.ts';

const folder = mkdtempSync(join(tmpdir(), 'gateway-keyv-'));
afterAll(() => {
  for (const path of [folder, logOf(folder)]) rmSync(path, { recursive: true, force: true });
});

/** Holds and settles in a process of its own, which is killed when so much was answered. */
async function killedAfter(answers: number): Promise<Record<Word, number>> {
  rmSync(logOf(folder), { force: true });
  let heard = 0;
  const child = fork(join(import.meta.dirname, 'keyv-child.ts'), [folder], {
    execArgv: [...childFlags],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  child.on('message', () => {
    heard++;
    if (heard === answers) child.kill('SIGKILL');
  });
  await once(child, 'close');
  const lines = readFileSync(logOf(folder), 'utf8').split('\n');
  const count = (word: Word) => lines.filter((line) => line === word).length;
  return { held: count('held'), settled: count('settled') };
}

it('what was answered before a process was killed is booked after the restart, and no more than was in flight beside it', async () => {
  let [least, most] = [0, 0];
  for (const answers of [1, 40, 173, 501]) {
    const { held, settled } = await killedAfter(answers);
    expect(held + settled).toBeGreaterThanOrEqual(answers);
    // A later process: the leases of the killed one have ended.
    const ledger = openFiles(folder, { ...systemClock, now: () => Date.now() + 120_000 });
    const [state] = await ledger.read(workspaceId, [life]);
    // A hold that was not settled is charged. A settlement may have been written without an answer, and so may a hold.
    least += settled * spentNanoUsd + (held - settled) * spentNanoUsd;
    most += settled * spentNanoUsd + (held - settled) * heldNanoUsd + width * heldNanoUsd;
    expect(state?.heldNanoUsd).toBe(0);
    expect(state?.spentNanoUsd).toBeGreaterThanOrEqual(least);
    expect(state?.spentNanoUsd).toBeLessThanOrEqual(most);
    [least, most] = [state?.spentNanoUsd as number, state?.spentNanoUsd as number];
  }
  expect(least).toBeGreaterThan(200 * spentNanoUsd);
});
