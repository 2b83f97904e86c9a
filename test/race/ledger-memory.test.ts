import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { WorkspaceId } from '../../src/call/workspace.ts';
import { memoryLedger } from '../../src/stores/ledger/memory.ts';
import { makeCalls } from '../support/race/ledger-calls.ts';
import { allRaceWindows, expectRight, racePlan, raceProcesses } from '../support/race/ledger-story.ts';
import { observe } from '../support/race/observe.ts';

describe('in memory', () => {
  it('four lines of 2,000 holds each never spend more than a limit, spend what there is, and lose nothing', {
    timeout: 60_000,
  }, async () => {
    let aheadMs = 0;
    const ledger = memoryLedger({ onLostHold: 'charge', now: () => Date.now() + aheadMs });
    const workspaceId = randomUUID() as WorkspaceId;
    const watching = observe(ledger, workspaceId, allRaceWindows(), { mayExpire: true });
    const outcomes = await Promise.all(
      raceProcesses.map((process) => makeCalls(ledger, racePlan(workspaceId, process))),
    );
    const { wrong, reads, highestHeldNanoUsd } = await watching.stop();
    expect(wrong).toEqual([]);
    expect([reads > 100, highestHeldNanoUsd > 0]).toEqual([true, true]);
    aheadMs = 10 * 60_000;
    await expectRight(ledger, workspaceId, outcomes);
  });
});
