import { describe, expect, it } from 'vitest';
import { addTimes, classOf, percentilesOf, timesOf, timesText } from '../../../src/telemetry/records/time-classes.ts';

const countsOf = (times: readonly number[]) => {
  const counts: number[] = [];
  for (const ms of times) addTimes(counts, [classOf(ms), 1]);
  return counts;
};

describe('percentiles of classes of times', () => {
  it('are at most 7.5 % off, and half a millisecond for rounding, from a millisecond to ten minutes', () => {
    for (let ms = 1; ms < 600_000; ms = Math.ceil(ms * 1.07)) {
      const { p50 } = percentilesOf(countsOf([ms])) ?? { p50: 0 };
      expect(Math.abs(p50 - ms), String(ms)).toBeLessThanOrEqual(ms * 0.075 + 0.5);
    }
  });
  it('are of all times together, in the order of the times and not of the names', () => {
    const times = Array.from({ length: 1000 }, (_, at) => at + 1);
    const found = percentilesOf(countsOf(times));
    for (const [name, true_] of [
      ['p50', 500],
      ['p95', 950],
      ['p99', 990],
    ] as const)
      expect(Math.abs((found?.[name] ?? 0) - true_)).toBeLessThan(true_ * 0.08);
  });
  it('are null where there are no times, and 0 where all are shorter than a millisecond', () => {
    expect(percentilesOf([])).toBeNull();
    expect(percentilesOf(countsOf([0, 0.4]))).toEqual({ p50: 0, p95: 0, p99: 0 });
  });
  it('are the same after a text, which adds to what was there', () => {
    const counts = countsOf([0, 5, 5, 40, 600_000]);
    const times = timesOf(timesText(counts)) ?? [];
    const again: number[] = [];
    addTimes(again, times);
    expect(again).toEqual(counts);
    addTimes(again, times);
    expect(again).toEqual(counts.map((count) => count * 2));
    addTimes(again, timesOf('') ?? [1, 1]);
    expect(again).toHaveLength(counts.length);
  });
  it.each([
    '99999999:1',
    '211:1',
    '31',
    '31:',
    ':1',
    '31:1,',
    '31:1,31:1',
    '40:1,31:2',
    '31:a',
    '-1:1',
    '1:2:3',
    '1,2',
  ])('are known to be damaged: %s', (text) => {
    expect(timesOf(text)).toBeNull();
  });
  it('have a class for any time that a clock may tell', () => {
    for (const ms of [Number.NaN, -5, Number.POSITIVE_INFINITY, 1e300])
      expect(timesOf(timesText(countsOf([ms])))).toHaveLength(2);
  });
});
