import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ManualClock } from '../../../support/manual-clock.ts';
import { settle } from '../../../support/manual-clock.ts';
import { randomFrom } from '../../../support/race/random.ts';
import { runs } from '../../../support/runs.ts';
import { away, type Bench, createBench, createLocalBench } from '../../stores/spending/bench.ts';
import { HeldCall, keyHash, type Limits, type Room } from '../held-call.ts';
import { slowSpending } from '../slow-spending.ts';

type Step =
  | { kind: 'admit'; of: number; costs: { nanoUsd: number; isByok: boolean }[]; isAlone: boolean }
  | { kind: 'expense'; of: number; nanoUsd: number }
  | { kind: 'cover'; of: number; share: number; target: number; part: number; isBeside: boolean }
  | { kind: 'settle'; of: number; share: number; granted: number; part: number }
  | { kind: 'end'; of: number; leavesOpen: boolean }
  | { kind: 'away'; isAway: boolean }
  | { kind: 'wait'; ms: number };

const budgetNanoUsd = 150;
const limits: fc.Arbitrary<Limits> = fc.record({
  budgets: fc.constantFrom(
    [],
    [{ interval: 'daily' as const, limitNanoUsd: budgetNanoUsd }],
    [
      { interval: 'daily' as const, limitNanoUsd: budgetNanoUsd },
      { interval: 'lifetime' as const, limitNanoUsd: 4 * budgetNanoUsd },
    ],
  ),
  keyLimit: fc.option(
    fc.record({
      limitNanoUsd: fc.constantFrom(60, 110, 200),
      interval: fc.constant('lifetime' as const),
      includesByok: fc.boolean(),
    }),
  ),
  includeByok: fc.boolean(),
});

const of = fc.constantFrom(0, 0, 0, 1);
const part = fc.constantFrom(0, 0.4, 1, 1);
const nanoUsd = fc.integer({ min: 0, max: 60 });
const admit = fc.record({
  kind: fc.constant('admit' as const),
  of,
  costs: fc.array(fc.record({ nanoUsd, isByok: fc.boolean() }), { maxLength: 3 }),
  isAlone: fc.boolean(),
});
const expense = fc.record({ kind: fc.constant('expense' as const), of, nanoUsd });
const cover = fc.record({
  kind: fc.constant('cover' as const),
  of,
  share: fc.nat(2),
  target: fc.nat(2),
  part,
  isBeside: fc.boolean(),
});
const settling = fc.record({ kind: fc.constant('settle' as const), of, share: fc.nat(2), granted: fc.nat(3), part });
const end = fc.record({ kind: fc.constant('end' as const), of, leavesOpen: fc.boolean() });
const failing = fc.record({ kind: fc.constant('away' as const), isAway: fc.boolean() });
const wait = fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(0, 3, 20, 100) });

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: admit },
    { weight: 3, arbitrary: expense },
    { weight: 8, arbitrary: cover },
    { weight: 6, arbitrary: settling },
    { weight: 1, arbitrary: end },
    { weight: 1, arbitrary: failing },
    { weight: 5, arbitrary: wait },
  ),
  { minLength: 2, maxLength: 30 },
);

type Slowed = (bench: Bench, clock: ManualClock, random: () => number) => Bench['spending'];

it.each<{ where: string; open: () => Bench; mayFail: boolean; slowed: Slowed }>([
  { where: 'in memory', open: createLocalBench, mayFail: false, slowed: ({ spending }) => spending },
  { where: 'on a store that may be away', open: createBench, mayFail: true, slowed: ({ spending }) => spending },
  {
    where: 'on a store that is slow, and whose answers come in any order',
    open: createBench,
    mayFail: true,
    slowed: ({ spending }, clock, random) => slowSpending(spending, clock, random),
  },
])(
  'the hold of a call, $where: what is promised is held, what is spent is booked once, and no limit is passed',
  { timeout: 120_000 },
  async ({ open, mayFail, slowed }) => {
    await fc.assert(
      fc.asyncProperty(limits, steps, fc.nat(), async (limited, sequence, seed) => {
        const bench = open();
        const { clock, faults } = bench;
        const spending = slowed(bench, clock, randomFrom(seed));
        const calls: HeldCall[] = [];
        const left = async (): Promise<Room> => {
          const [budgets, key] = await Promise.all([stateOf(bench, 'budgets'), stateOf(bench, 'key')]);
          const daily = limited.budgets.map(({ interval, limitNanoUsd }) => limitNanoUsd - budgets[interval]);
          return {
            budgets: Math.min(Number.POSITIVE_INFINITY, ...daily),
            key: (limited.keyLimit?.limitNanoUsd ?? Number.POSITIVE_INFINITY) - key.lifetime,
          };
        };
        calls.push(new HeldCall(spending, limited, mayFail), new HeldCall(spending, limited, mayFail));
        const check = async () => {
          for (const call of calls) {
            call.check();
            expect(call.wrong).toEqual([]);
          }
          const room = await left();
          expect(Math.min(room.budgets, room.key)).toBeGreaterThanOrEqual(0);
        };
        for (const step of sequence) {
          if (step.kind === 'away') faults.hold = step.isAway && mayFail ? away : undefined;
          else if (step.kind === 'wait') {
            await clock.advance(step.ms);
            await check();
          } else if (step.kind === 'admit' && step.isAlone && !mayFail) {
            // Nobody else asks meanwhile: what fits must not be refused.
            await clock.advance(0);
            void calls[step.of]?.admit(step.costs, await left());
            await clock.advance(0);
          } else play(calls[step.of] as HeldCall, step);
        }
        await clock.advance(1_000);
        await check();
        for (const call of calls) if (!call.isOver) call.end(false);
        faults.hold = undefined;
        await clock.advance(600_000);
        await settle();
        for (const call of calls) {
          call.checkBooked();
          expect([call.asking, call.wrong]).toEqual([0, []]);
        }
        // Nothing is renewed any more, or sent again.
        expect(clock.pending).toBe(0);
        await check();
        const total = (countsByok: boolean) =>
          calls.reduce((sum, { spent }) => sum + spent.operatorNanoUsd + (countsByok ? spent.byokNanoUsd : 0), 0);
        for (const { interval } of limited.budgets)
          expect(await bench.state('workspace', interval)).toEqual([total(limited.includeByok), 0]);
        if (limited.keyLimit !== null)
          expect(await bench.state(`key:${keyHash}`, 'lifetime')).toEqual([total(limited.keyLimit.includesByok), 0]);
      }),
      { numRuns: runs(400, 6_000), interruptAfterTimeLimit: 90_000 },
    );
  },
);

function play(call: HeldCall, step: Exclude<Step, { kind: 'away' | 'wait' }>): void {
  if (step.kind === 'end') call.end(step.leavesOpen);
  if (step.kind === 'settle') call.settle(step.share, step.granted, step.part);
  if (step.kind === 'cover') void call.cover(step.share, step.target, step.part, step.isBeside);
  if (step.kind === 'expense') void call.holdExpense(step.nanoUsd);
  if (step.kind === 'admit') void call.admit(step.costs, null);
}

/** What is spent and held. */
async function stateOf(bench: Bench, whose: 'budgets' | 'key') {
  const account = whose === 'key' ? `key:${keyHash}` : 'workspace';
  const sum = ([spent, held]: [number, number]) => spent + held;
  return {
    daily: sum(await bench.state(account, 'daily')),
    weekly: 0,
    monthly: 0,
    lifetime: sum(await bench.state(account, 'lifetime')),
  };
}
