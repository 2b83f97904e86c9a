import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addTo,
  bucketCount,
  bucketOf,
  count,
  emptyTotal,
  type Histogram,
  percentile,
  percentileReached,
  type Total,
} from '../../../src/catalog/health/histogram.ts';

const ratio = 2 ** (1 / 4);

function totalOf(values: readonly number[], lowest: number): Total {
  const total = emptyTotal();
  const histogram = histogramOf(values, lowest);
  if (histogram) addTo(total, histogram);
  return total;
}

function histogramOf(values: readonly number[], lowest: number): Histogram | null {
  return values.reduce<Histogram | null>((all, value) => count(all, bucketOf(value, lowest)), null);
}

/** The value that so many percent of the values do not exceed. */
function nearestRank(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(1, Math.ceil((percent * values.length) / 100)) - 1] as number;
}

const percents = fc.constantFrom(50, 75, 90, 95, 99);

describe('buckets', () => {
  it('take no value that is none', () => {
    expect([undefined, Number.NaN, -1, Number.POSITIVE_INFINITY].map((value) => bucketOf(value, 1))).toEqual(
      new Array(4).fill(-1),
    );
  });
  it.each([
    [0, 0],
    [1, 0],
    [1.18, 0],
    [1.19, 1],
    [2, 4],
    [4, 8],
    [1024, 40],
    [1e6, 79],
    [1e12, bucketCount - 1],
  ])('of %d is %d', (value, bucket) => {
    expect(bucketOf(value, 1)).toBe(bucket);
  });
  it('are kept from the first in use to the last', () => {
    expect(histogramOf([8, 8, 2, 16, 4], 1)).toEqual({ first: 4, counts: [1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1] });
  });
});

describe('percentiles', () => {
  it.each([
    { lowest: 1, max: 1e6 },
    { lowest: 0.1, max: 1e5 },
  ])('are at most a bucket off, from $lowest to $max, from either end', ({ lowest, max }) => {
    const value = fc.double({ min: Math.log(lowest), max: Math.log(max), noNaN: true }).map(Math.exp);
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 300 }), percents, (values, percent) => {
        const total = totalOf(values, lowest);
        const error = percentile(total, percent, lowest) / nearestRank(values, percent);
        expect(error).toBeLessThan(ratio * 1.000001);
        expect(error).toBeGreaterThan(1 / ratio / 1.000001);
        const reached =
          percentileReached(total, percent, lowest) /
          -nearestRank(
            values.map((v) => -v),
            percent,
          );
        expect(reached).toBeLessThan(ratio * 1.000001);
        expect(reached).toBeGreaterThan(1 / ratio / 1.000001);
      }),
    );
  });
  it('are much closer where there are many values', () => {
    const values = Array.from({ length: 10_000 }, (_, i) => 100 * 10 ** (i / 10_000));
    const total = totalOf(values, 1);
    for (const percent of [50, 75, 90, 99]) {
      expect(Math.abs(percentile(total, percent, 1) / nearestRank(values, percent) - 1)).toBeLessThan(0.025);
    }
  });
  it('rise with the percent, and from above fall', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 2e6, noNaN: true }), { minLength: 1 }), (values) => {
        const total = totalOf(values, 1);
        const rising = [50, 75, 90, 99].map((percent) => percentile(total, percent, 1));
        expect(rising).toEqual(rising.toSorted((a, b) => a - b));
        const falling = [50, 75, 90, 99].map((percent) => percentileReached(total, percent, 1));
        expect(falling).toEqual(falling.toSorted((a, b) => b - a));
      }),
    );
  });
  it('of parts that are added up are those of the whole', () => {
    const values = fc.array(fc.double({ min: 0, max: 2e6, noNaN: true }), { minLength: 1 });
    fc.assert(
      fc.property(values, values, (some, others) => {
        const merged = emptyTotal();
        addTo(merged, histogramOf(some, 1) as Histogram);
        addTo(merged, histogramOf(others, 1) as Histogram);
        expect(merged).toEqual(totalOf([...some, ...others], 1));
      }),
    );
  });
});
