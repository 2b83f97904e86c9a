import { describe, expect, it } from 'vitest';
import { playEscrow, type Trouble } from '../../../support/escrow-world.ts';
import { runs } from '../../../support/runs.ts';

describe('processes that hold money in slices, at random,', () => {
  it.each<[string, Trouble]>([
    ['where nothing goes wrong', {}],
    ['whose limits change', { limits: true }],
    ['of which some are paused, also beyond their leases', { pauses: true }],
    ['whose clocks are wrong, and are set', { skew: true, pauses: true }],
    ['whose calls to the store fail, are late or lose their replies', { cuts: true, limits: true }],
    ['of which some are killed', { kills: true }],
    ['where all of that happens', { kills: true, pauses: true, skew: true, cuts: true, limits: true }],
  ])(
    '%s: never spend more than a limit, and the ledger covers all that may be spent',
    {
      timeout: 600_000,
    },
    async (_, trouble) => {
      const first = Number(process.env.ESCROW_SEED ?? 1);
      const sums = { held: 0, inSlices: 0, steps: 0, draws: 0, refused: 0, kills: 0, expired: 0 };
      const count = process.env.ESCROW_SEED ? 1 : runs(25, 400);
      for (let seed = first; seed < first + count; seed++) {
        const { wrong, ...played } = await playEscrow(seed, trouble, runs(120, 250));
        expect({ seed, wrong: wrong.slice(0, 5) }).toEqual({ seed, wrong: [] });
        for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += played[name];
      }
      if (process.env.ESCROW_SEED) console.log(sums);
      else expect(Math.min(sums.held, sums.inSlices, sums.refused)).toBeGreaterThan(10 * count);
      if (process.env.ESCROW_SHOW) console.log(sums);
    },
  );
});
