import { randomUUID } from 'node:crypto';
import { openSync, readFileSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkspaceId } from '../../../src/call/workspace.ts';
import type { Ledger, LimitedWindow } from '../../../src/stores/ledger/ledger.ts';
import { randomFrom } from './ledger-calls.ts';

/** What a process that may be killed at any moment has written down of a hold. */
export interface Noted {
  id: string;
  ceilingNanoUsd: number;
  /** `asked`, `settling` and `releasing`: no answer was seen, so that it may have come to pass or not. */
  status: 'asked' | 'refused' | 'held' | 'settling' | 'settled' | 'releasing' | 'released';
  actualNanoUsd: number;
}

export interface JournalPlan {
  workspaceId: WorkspaceId;
  windows: readonly LimitedWindow[];
  width: number;
  seed: number;
  leaseMs: number;
  journal: string;
}

/** Holds and ends without end, noting each step before it is taken and after. */
export async function spendWithJournal(ledger: Ledger, plan: JournalPlan, isOver: () => boolean): Promise<void> {
  const { workspaceId, windows, seed, leaseMs } = plan;
  const random = randomFrom(seed);
  const upTo = (most: number) => Math.floor(random() * (most + 1));
  const file = openSync(plan.journal, 'a');
  // Written is written: what the system has taken survives the process.
  const note = (...words: (string | number)[]) => void writeSync(file, `${words.join(' ')}\n`);

  const work = async () => {
    while (!isOver()) {
      const id = randomUUID();
      const ceiling = upTo(2_000);
      const nowMs = Date.now();
      note('asked', id, ceiling);
      const request = { id, workspaceId, amountNanoUsd: ceiling, windows, nowMs, leaseUntilMs: nowMs + leaseMs };
      const { isHeld } = await ledger.hold(request);
      note(isHeld ? 'held' : 'refused', id, 0);
      if (!isHeld) continue;
      await sleep(upTo(10));
      if (random() < 0.15) {
        note('releasing', id, 0);
        await ledger.release(workspaceId, id, Date.now());
        note('released', id, 0);
        continue;
      }
      const actual = upTo(ceiling);
      note('settling', id, actual);
      await ledger.settle(workspaceId, id, actual, Date.now());
      note('settled', id, actual);
    }
  };
  await Promise.all(Array.from({ length: plan.width }, work));
}

export function readJournal(path: string): Noted[] {
  const noted = new Map<string, Noted>();
  // A line that was cut is of a step that was not taken.
  for (const line of readFileSync(path, 'utf8').split('\n').slice(0, -1)) {
    const [status, id, amount] = line.split(' ') as [Noted['status'], string, string];
    const before = noted.get(id) ?? { id, ceilingNanoUsd: Number(amount), actualNanoUsd: 0, status };
    noted.set(id, { ...before, status, actualNanoUsd: status === 'asked' ? 0 : Number(amount) });
  }
  return [...noted.values()];
}
