import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkspaceId } from '../../../src/call/workspace.ts';
import type { Ledger, LimitedWindow } from '../../../src/stores/ledger/ledger.ts';
import { openJournal } from './journal.ts';
import { randomFrom } from './random.ts';

export interface LedgerSpending {
  workspaceId: WorkspaceId;
  windows: readonly LimitedWindow[];
  width: number;
  seed: number;
  leaseMs: number;
  journal: string;
}

/** Holds, settles and releases until it is over, and notes each step before it is taken and after. */
export async function spendWithJournal(ledger: Ledger, plan: LedgerSpending, isOver: () => boolean): Promise<void> {
  const { workspaceId, windows, seed, leaseMs } = plan;
  const random = randomFrom(seed);
  const upTo = (most: number) => Math.floor(random() * (most + 1));
  const watched = openJournal(plan.journal).watched(ledger);

  const work = async () => {
    while (!isOver()) {
      const id = randomUUID();
      const ceiling = upTo(2_000);
      const request = { id, workspaceId, amountNanoUsd: ceiling, windows, leaseMs };
      const { isHeld } = await watched.hold(request);
      if (!isHeld) continue;
      await sleep(upTo(10));
      if (random() < 0.15) {
        await watched.release(workspaceId, id);
        continue;
      }
      await watched.settle(workspaceId, id, upTo(ceiling));
    }
  };
  await Promise.all(Array.from({ length: plan.width }, work));
}
