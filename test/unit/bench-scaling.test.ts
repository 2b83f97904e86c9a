import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  crowdsTable,
  fleetsTable,
  plotFleets,
  plotRates,
  ratesTable,
  regionTable,
  type ScalingFindings,
  stepsOf,
} from '../../bench/scaling/findings.ts';
import { play } from '../../bench/scaling/simulate.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const kept: ScalingFindings = JSON.parse(read('bench/scaling/results.json'));

describe('docs/scaling.md', () => {
  it.each([
    ['rates', ratesTable(kept)],
    ['fleets', fleetsTable(kept)],
    ['a budget that all spend', crowdsTable(kept)],
    ['a region', regionTable(kept)],
  ])('has the table that was found: %s', (_, table) => {
    expect(read('docs/scaling.md')).toContain(`\n\n${table}\n\n`);
  });
  it.each([
    ['scaling-rates.svg', plotRates],
    ['scaling-fleets.svg', plotFleets],
  ])('is drawn as it was found: %s', (file, draw) => {
    expect(read(`docs/img/${file}`)).toBe(draw(kept));
  });
  it('says no better of the findings than they are', () => {
    for (const { played } of kept.crowds) {
      expect(played.most).toBeLessThanOrEqual(1);
      expect(played.used).toBeGreaterThan(0.98);
    }
    const { slices } = kept.rates.at(-1) as ScalingFindings['rates'][number];
    expect([slices.steps < 0.1, slices.local > 0.99]).toEqual([true, true]);
    const fleet = stepsOf(kept, { instances: 100, budgets: 1_000_000, rate: 1_000 });
    expect(fleet.sticky).toBeLessThan(fleet.spread * 0.7);
  });
});

describe('the simulation', () => {
  it('gives the same numbers each time, and spends no more than the limit', async () => {
    const crowd = { instances: 8, rate: 20, seconds: 16, stepMs: 0.5, escrow: true, limit: 960, seed: 3 };
    const played = await play(crowd);
    expect(await play(crowd)).toEqual(played);
    expect(played.most).toBeLessThanOrEqual(1);
    expect(played.used).toBeGreaterThan(0.9);
    expect(played.freeAtFirstRefusal).toBeLessThan(0.05);
  });
  it('takes a step for each hold where there are no slices, and waits for it', async () => {
    const { local, holdMs, steps } = await play({ instances: 1, rate: 50, seconds: 4, stepMs: 20, escrow: false });
    expect([local, holdMs]).toEqual([0, 20]);
    expect(steps).toBeGreaterThan(2);
  });
});
