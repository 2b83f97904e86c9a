import { describe, expect, it } from 'vitest';
import { durationText } from '../../../../src/stores/rates/show.ts';

describe('durationText', () => {
  it.each([
    [0, '0ms'],
    [1, '1ms'],
    [999, '999ms'],
    [1_000, '1s'],
    [1_500, '1.5s'],
    [59_999, '59.999s'],
    [60_000, '1m0s'],
    [60_001, '1m0.001s'],
    [359_999, '5m59.999s'],
    [360_000, '6m0s'],
    [3_600_000, '1h0m0s'],
    [7_325_250, '2h2m5.25s'],
    [0.2, '1ms'],
  ])('writes %d ms as %s', (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });
});
