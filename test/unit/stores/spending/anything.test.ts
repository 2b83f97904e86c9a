import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { WorkspaceId } from '../../../../src/call/workspace.ts';
import { isRefusal } from '../../../../src/stores/spending/spending.ts';
import { settle } from '../../../support/manual-clock.ts';
import {
  away,
  createBench,
  createLocalBench,
  everywhere,
  type Fault,
  late,
  replyLost,
  scopeOf,
  slow,
  spentIn,
} from './bench.ts';

type Step =
  | { kind: 'call'; ceiling: number; share: number; more: number; ms: number; free: boolean }
  | { kind: 'fault'; method: 'hold' | 'settle' | 'release' | 'renew' | 'add'; fault: keyof typeof faultsOf }
  | { kind: 'wait'; ms: number };

const faultsOf = {
  none: () => undefined,
  away: () => away,
  replyLost: () => replyLost,
  slow: (clock) => slow(clock, 200),
  late: (clock) => late(clock, 250, 4_000),
  veryLate: (clock) => late(clock, 250, 70_000),
} satisfies Record<string, (clock: ReturnType<typeof createBench>['clock']) => Fault | undefined>;

const call = fc.record({
  kind: fc.constant('call' as const),
  ceiling: fc.integer({ min: 0, max: 60 }),
  share: fc.constantFrom(0, 0.3, 0.7, 1),
  more: fc.constantFrom(0, 0, 25),
  ms: fc.constantFrom(0, 100, 5_000, 130_000),
  free: fc.boolean(),
});
const fault = fc.record({
  kind: fc.constant('fault' as const),
  method: fc.constantFrom('hold' as const, 'settle' as const, 'release' as const, 'renew' as const, 'add' as const),
  fault: fc.constantFrom(...(Object.keys(faultsOf) as (keyof typeof faultsOf)[])),
});
const wait = fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(0, 50, 1_000, 25_000, 100_000) });
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof({ weight: 6, arbitrary: call }, { weight: 2, arbitrary: fault }, { weight: 3, arbitrary: wait }),
  { minLength: 3, maxLength: 40 },
);

const freeWorkspace = 'free' as WorkspaceId;
const limitNanoUsd = 200;
const budgets = [
  { interval: 'daily', limitNanoUsd },
  { interval: 'lifetime', limitNanoUsd },
] as const;

it.each([
  { where: 'whatever the store does', open: createBench, numRuns: 150 },
  { where: 'in memory, without a promise', open: createLocalBench, numRuns: 50 },
])(
  '$where: no limit is passed at any time, nothing stays held, and every nano is booked once',
  {
    timeout: 60_000,
  },
  async ({ open: openBench, numRuns }) => {
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const bench = openBench();
        const { clock, spending, faults } = bench;
        let [limitedSum, freeSum, open] = [0, 0, 0];
        const run = async ({ ceiling, share, more, ms, free }: Extract<Step, { kind: 'call' }>) => {
          open++;
          const held = await spending
            .hold(scopeOf(free ? { workspaceId: freeWorkspace } : { budgets }), ceiling)
            .catch(() => null);
          if (held && !isRefusal(held)) {
            const isMore =
              more > 0 &&
              (await held.extend(more).then(
                ({ isHeld }) => isHeld,
                () => false,
              ));
            await new Promise<void>((resolve) => clock.after(ms, resolve));
            const nanoUsd = Math.floor((ceiling + (isMore && !free ? more : 0)) * share);
            held.settle({ nanoUsd, byokNanoUsd: 0 });
            if (free) freeSum += nanoUsd;
            else limitedSum += nanoUsd;
          }
          open--;
        };
        const check = async () => {
          for (const { interval } of budgets) {
            const [spent, heldNow] = await bench.state('workspace', interval);
            expect(spent + heldNow).toBeLessThanOrEqual(limitNanoUsd);
          }
        };
        for (const step of sequence) {
          if (step.kind === 'call') void run(step);
          if (step.kind === 'fault') faults[step.method] = faultsOf[step.fault](clock);
          if (step.kind === 'wait') await clock.advance(step.ms);
          await settle();
          await check();
        }
        for (const method of Object.keys(faults) as (keyof typeof faults)[]) faults[method] = undefined;
        await clock.advance(600_000);
        expect([open, clock.pending]).toEqual([0, 0]);
        expect(await bench.state('workspace', 'daily')).toEqual([limitedSum, 0]);
        expect(await spentIn(bench, 'workspace')).toEqual(everywhere(limitedSum));
        const window = { account: 'workspace', interval: 'lifetime', startMs: 0, endMs: null } as const;
        expect(await bench.ledger.read(freeWorkspace, [window])).toEqual([{ spentNanoUsd: freeSum, heldNanoUsd: 0 }]);
      }),
      { numRuns, interruptAfterTimeLimit: 40_000 },
    );
  },
);
