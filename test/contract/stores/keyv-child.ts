import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import process from 'node:process';
import { Keyv } from 'keyv';
import { systemClock } from '../../../src/base/clock.ts';
import type { WorkspaceId } from '../../../src/call/workspace.ts';
import { keyvLedger } from '../../../src/stores/ledger/keyv.ts';
import type { LimitedWindow } from '../../../src/stores/ledger/ledger.ts';
import { fileAdapter } from '../../support/file-adapter.ts';

// A process on a folder of files that holds and settles until it is killed, and says what was answered.

export const workspaceId = 'killed' as WorkspaceId;
export const life: LimitedWindow = {
  account: 'workspace',
  interval: 'lifetime',
  startMs: 0,
  endMs: null,
  limitNanoUsd: 1_000_000_000,
};
/** Held for each call, and spent by it. */
export const [heldNanoUsd, spentNanoUsd] = [1_000, 300];
/** Calls at the same time. */
export const width = 8;
export type Word = 'held' | 'settled';
/** The file with a line for each answer: a message to the parent may be lost with the process that sent it. */
export const logOf = (folder: string) => `${folder}.log`;

export const openFiles = (folder: string, clock = systemClock) => {
  const kv = new Keyv({ store: fileAdapter(folder) });
  return keyvLedger(() => kv, { onLostHold: 'charge', clock });
};

const [, script, folder] = process.argv;
if (script?.endsWith('keyv-child.ts') && folder !== undefined) {
  const ledger = openFiles(folder);
  const say = (word: Word) => {
    appendFileSync(logOf(folder), `${word}\n`);
    process.send?.(word);
  };
  const call = async () => {
    for (;;) {
      const id = randomUUID();
      const amount = { amountNanoUsd: heldNanoUsd, windows: [life], leaseMs: 60_000 };
      const { isHeld } = await ledger.hold({ id, workspaceId, ...amount });
      if (!isHeld) throw new Error('not held');
      say('held');
      await ledger.settle(workspaceId, id, spentNanoUsd);
      say('settled');
    }
  };
  for (let count = 0; count < width; count++) void call();
}
