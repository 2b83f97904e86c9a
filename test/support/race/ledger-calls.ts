import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkspaceId } from '../../../src/call/workspace.ts';
import type { Ledger, LimitedWindow, WindowState } from '../../../src/stores/ledger/ledger.ts';
import { randomFrom } from './random.ts';

export interface LedgerRacePlan {
  workspaceId: WorkspaceId;
  windows: readonly LimitedWindow[];
  calls: number;
  /** Calls in flight at once. */
  width: number;
  seed: number;
}

/** What one process did. Sums are integer nano-USD. */
export interface RaceOutcome {
  seed: number;
  /** What its calls cost, by their own account. */
  spentNanoUsd: number;
  held: number;
  refused: number;
  extended: number;
  released: number;
  /** Never ended: they expire, and count as spent. */
  lost: number;
  /** Settled after their lease. */
  late: number;
  /** What should not have happened. */
  wrong: string[];
}

const leaseMs = 120_000;
/** Of holds that are not meant to be ended in time. */
const shortLeaseMs = 40;
const dearestNanoUsd = 2_000;

/**
 * Calls with random ceilings and costs, some of which ask for more, are given up, are asked twice, are never ended, or
 * too late.
 */
export async function makeCalls(ledger: Ledger, plan: LedgerRacePlan): Promise<RaceOutcome> {
  const { workspaceId, windows, seed } = plan;
  const random = randomFrom(seed);
  const outcome: RaceOutcome = {
    seed,
    spentNanoUsd: 0,
    held: 0,
    refused: 0,
    extended: 0,
    released: 0,
    lost: 0,
    late: 0,
    wrong: [],
  };
  const isOneOf = (share: number) => random() < share;
  const upTo = (most: number) => Math.floor(random() * (most + 1));

  /** @returns null: refused */
  async function hold(amountNanoUsd: number, isShort: boolean): Promise<{ id: string; amountNanoUsd: number } | null> {
    const id = randomUUID();
    const request = { id, workspaceId, amountNanoUsd, windows, leaseMs: isShort ? shortLeaseMs : leaseMs };
    // Now and then the answer was lost, and the same question comes again, before the first is answered or after.
    const asked = ledger.hold(request);
    const again = !isShort && isOneOf(0.03) ? ledger.hold(request) : null;
    const held = await asked;
    if (held.isHeld) {
      if (again && !(await again).isHeld) outcome.wrong.push('a hold that was made is refused when it is asked again');
      return { id, amountNanoUsd };
    }
    if (!isRefusal(amountNanoUsd, windows, held.states)) {
      outcome.wrong.push(`refused ${amountNanoUsd}, which fits: ${JSON.stringify(held.states)}`);
    }
    // It fitted the second time: that is not undone by what the first was told.
    return again && (await again).isHeld ? { id, amountNanoUsd } : null;
  }

  async function settle(id: string, actualNanoUsd: number, expected: readonly string[]): Promise<void> {
    const ended = await ledger.settle(workspaceId, id, actualNanoUsd);
    if (!expected.includes(ended)) outcome.wrong.push(`settled: ${ended}, expected ${expected.join(' or ')}`);
    if (ended === 'late') outcome.late++;
    outcome.spentNanoUsd += actualNanoUsd;
  }

  async function call(): Promise<void> {
    const isLost = isOneOf(0.05);
    const first = await hold(upTo(dearestNanoUsd), isLost);
    if (!first) {
      outcome.refused++;
      return;
    }
    outcome.held++;
    await sleep(upTo(3));
    const holds = [first];
    if (isOneOf(0.15)) {
      const more = await hold(upTo(dearestNanoUsd / 2), isLost);
      if (more) {
        outcome.extended++;
        holds.push(more);
      }
    }
    const ceilingNanoUsd = holds.reduce((sum, { amountNanoUsd }) => sum + amountNanoUsd, 0);
    if (isLost && isOneOf(0.6)) {
      outcome.lost++;
      outcome.spentNanoUsd += ceilingNanoUsd;
      return;
    }
    if (isLost) await sleep(shortLeaseMs);
    if (isOneOf(0.1)) {
      outcome.released++;
      for (const { id } of holds) {
        const ended = await ledger.release(workspaceId, id);
        if (ended === 'unknown') outcome.wrong.push('a hold was not there to be released');
      }
      return;
    }
    // No hold is charged more than it held: then at no time more is spent and held than the limit.
    let left = upTo(ceilingNanoUsd);
    for (const { id, amountNanoUsd } of holds) {
      const part = Math.min(left, amountNanoUsd);
      left -= part;
      await settle(id, part, isLost ? ['ended', 'late'] : ['ended']);
      if (isOneOf(0.03) && (await ledger.settle(workspaceId, id, part)) !== 'repeated') {
        outcome.wrong.push('a hold was settled twice');
      }
    }
  }

  let left = plan.calls;
  const work = async () => {
    while (left-- > 0) await call();
  };
  await Promise.all(Array.from({ length: plan.width }, work));
  return outcome;
}

/** Whether there is a window in which the amount does not fit. */
function isRefusal(amountNanoUsd: number, windows: readonly LimitedWindow[], states: readonly WindowState[]): boolean {
  return windows.some(({ limitNanoUsd }, at) => {
    const { spentNanoUsd, heldNanoUsd } = states[at] as WindowState;
    return spentNanoUsd + heldNanoUsd + amountNanoUsd > limitNanoUsd;
  });
}
