import { randomInt, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { windowOf } from '../../../src/base/windows.ts';
import type { WorkspaceId } from '../../../src/call/workspace.ts';
import type { Ledger, LimitedWindow } from '../../../src/stores/ledger/ledger.ts';
import { readJournal } from './journal.ts';
import type { RaceOutcome } from './ledger-calls.ts';
import type { LedgerChildPlan } from './ledger-child.ts';
import { type OpenedLedger, openLedger } from './ledgers.ts';
import { observe } from './observe.ts';
import { type RaceProcess, startProcess, startTogether } from './processes.ts';
import type { StoreAt } from './stores.ts';

const processCount = 4;
const callsEach = 2_000;
/** Some 60 % of what all calls together would cost. */
const limitNanoUsd = 2_400_000;
/** Of each key: the first meets its own limit long before that of the workspace, the others never meet theirs. */
const keyLimitsNanoUsd = [400_000, 1_200_000, 1_200_000, 1_200_000];

/** The windows of a process: two that all share, and one of its own. */
export function raceWindows(process: number): LimitedWindow[] {
  const nowMs = Date.now();
  const keyLimitNanoUsd = keyLimitsNanoUsd[process] as number;
  return [
    { account: 'workspace', interval: 'lifetime', ...windowOf('lifetime', nowMs), limitNanoUsd },
    // So far ahead that no test sees it end.
    { account: 'workspace', interval: 'monthly', startMs: 0, endMs: 2 ** 45, limitNanoUsd },
    { account: `key:${process}`, interval: 'lifetime', ...windowOf('lifetime', nowMs), limitNanoUsd: keyLimitNanoUsd },
  ];
}

export function racePlan(workspaceId: WorkspaceId, process: number) {
  return { workspaceId, windows: raceWindows(process), calls: callsEach, width: 16, seed: randomInt(2 ** 31) };
}

export const raceProcesses: readonly number[] = Array.from({ length: processCount }, (_, process) => process);

/** All windows of the race. */
export const allRaceWindows = (): LimitedWindow[] => [
  ...raceWindows(0).slice(0, 2),
  ...raceProcesses.map((process) => raceWindows(process)[2] as LimitedWindow),
];

/** What must be so when all calls are over, and every lease as well: what was never ended has expired. */
export async function expectRight(ledger: Ledger, workspaceId: WorkspaceId, outcomes: readonly RaceOutcome[]) {
  const windows = allRaceWindows();
  while ((await ledger.expire(workspaceId)) > 0);
  const states = await ledger.read(workspaceId, windows);
  const summary = JSON.stringify(outcomes.map(({ wrong, ...counts }) => counts));
  expect(outcomes.flatMap(({ wrong }) => wrong)).toEqual([]);
  const spentNanoUsd = outcomes.reduce((sum, outcome) => sum + outcome.spentNanoUsd, 0);
  expect(states, summary).toEqual([
    { spentNanoUsd, heldNanoUsd: 0 },
    { spentNanoUsd, heldNanoUsd: 0 },
    ...outcomes.map((outcome) => ({ spentNanoUsd: outcome.spentNanoUsd, heldNanoUsd: 0 })),
  ]);
  expect(spentNanoUsd).toBeLessThanOrEqual(limitNanoUsd);
  expect(spentNanoUsd, summary).toBeGreaterThanOrEqual(0.98 * limitNanoUsd);
  // Nothing stands in the way of what is left, and there is not one nano more.
  const shared = raceWindows(0).slice(0, 2);
  const hold = (amountNanoUsd: number) =>
    ledger.hold({ id: randomUUID(), workspaceId, amountNanoUsd, windows: shared, leaseMs: 1_000 });
  const left = limitNanoUsd - spentNanoUsd;
  expect((await hold(left + 1)).isHeld).toBe(false);
  expect((await hold(left)).isHeld).toBe(true);
  // All that was to be tried out has happened, oftener than once.
  for (const sort of ['held', 'refused', 'extended', 'released', 'lost', 'late'] as const) {
    expect([sort, outcomes.reduce((sum, outcome) => sum + outcome[sort], 0) > 10], summary).toEqual([sort, true]);
  }
}

/** The race of real processes on one ledger. @param place  a ledger that nobody else uses */
export function testLedgerRace(place: () => Promise<StoreAt>): void {
  let at: StoreAt;
  let opened: OpenedLedger;
  /** How far the clock of the store is ahead for this process alone. */
  let aheadMs = 0;
  const processes = new Set<RaceProcess>();
  const folder = mkdtempSync(join(tmpdir(), 'model-gateway-race-'));
  beforeAll(async () => {
    at = await place();
    opened = openLedger(at, () => Date.now() + aheadMs);
  });
  afterEach(() => {
    aheadMs = 0;
    for (const { child } of processes) child.kill('SIGKILL');
    processes.clear();
  });
  afterAll(async () => {
    await opened?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const start = (plan: LedgerChildPlan) => {
    const started = startProcess('ledger-child.ts', plan);
    processes.add(started);
    return started;
  };

  describe('four processes, 2,000 holds each,', () => {
    it('never spend more than a limit, spend what there is, and lose nothing', { timeout: 180_000 }, async () => {
      const { ledger } = opened;
      const workspaceId = randomUUID() as WorkspaceId;
      const started = raceProcesses.map((process) => start({ at, race: racePlan(workspaceId, process) }));
      await startTogether(started, Date.now());
      const watching = observe(ledger, workspaceId, allRaceWindows(), { mayExpire: true });
      const outcomes = await Promise.all(started.map(({ result }) => result as Promise<RaceOutcome>)).finally(
        watching.stop,
      );
      const observed = await watching.stop();
      expect(observed.wrong).toEqual([]);
      expect([observed.reads > 50, observed.highestHeldNanoUsd > 0], JSON.stringify(observed)).toEqual([true, true]);
      aheadMs = 10 * 60_000;
      await expectRight(ledger, workspaceId, outcomes);
      await ledger.forget(workspaceId);
    });
  });

  describe('a process that is killed in the middle of its work, ten times,', () => {
    it('leaves nothing held after its lease, its holds charged, and nothing lost', { timeout: 180_000 }, async () => {
      const { ledger } = opened;
      const workspaceId = randomUUID() as WorkspaceId;
      const windows = raceWindows(0).map((window) => ({ ...window, limitNanoUsd: 1e12 }));
      const leaseMs = 1_000;
      const journals: string[] = [];
      const spender = (width: number) => {
        const journal = join(folder, `${journals.length}.journal`);
        journals.push(journal);
        const plan = { workspaceId, windows, width, seed: randomInt(2 ** 31), leaseMs, journal };
        return { ...start({ at, spending: plan }), journal };
      };
      const survivors = [spender(3), spender(3), spender(3)];
      // All are ready before the first begins: on a busy machine a process takes its time to start.
      const victims = Array.from({ length: 10 }, () => spender(8));
      await Promise.all(victims.map(({ ready }) => ready));
      await startTogether(survivors, Date.now());
      for (const victim of victims) {
        await startTogether([victim], Date.now());
        await untilSteps(victim.journal, 40 + randomInt(20));
        victim.child.kill('SIGKILL');
        await expect(victim.result).rejects.toThrow('SIGKILL');
      }
      for (const { child } of survivors) child.send('stop');
      for (const { result } of survivors) expect(await result).toBe('stopped');
      // As if the lease had passed.
      aheadMs = leaseMs;
      for (const { heldNanoUsd } of await ledger.read(workspaceId, windows)) expect(heldNanoUsd).toBe(0);

      const noted = journals.flatMap((journal) => readJournal(journal).holds);
      let [spentNanoUsd, charged, inDoubt] = [0, 0, 0];
      for (const { id, status, amountNanoUsd, actualNanoUsd } of noted) {
        if (status === 'settled') spentNanoUsd += actualNanoUsd;
        if (status === 'settled' || status === 'released' || status === 'refused') continue;
        inDoubt++;
        // Changes nothing where the ceiling was charged, and nothing where the hold has been ended.
        const ended = await ledger.settle(workspaceId, id, amountNanoUsd);
        if (status === 'held') expect(ended).toBe('late');
        if (ended === 'late') {
          charged++;
          spentNanoUsd += amountNanoUsd;
        } else {
          expect(ended).toBe(['settling', 'releasing'].includes(status) ? 'repeated' : 'unknown');
          spentNanoUsd += status === 'settling' ? actualNanoUsd : 0;
        }
      }
      const summary = `${noted.length} holds, ${inDoubt} in doubt, ${charged} charged`;
      expect(await ledger.read(workspaceId, windows), summary).toEqual(
        windows.map(() => ({ spentNanoUsd, heldNanoUsd: 0 })),
      );
      // There was something in the middle of which they were killed.
      expect([inDoubt > 10, charged > 10], summary).toEqual([true, true]);
      await ledger.forget(workspaceId);
    });
  });
}

/** Until a process has noted so many steps. */
async function untilSteps(journal: string, count: number): Promise<void> {
  for (let looks = 0; looks < 3_000; looks++) {
    try {
      if (readJournal(journal).holds.length >= count) return;
    } catch {
      // It has not begun.
    }
    await sleep(5);
  }
  throw new Error('a process does not get on');
}
