import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/base/random.ts';
import { sha256Hex } from '../../../src/base/secrets.ts';

const take = (random: () => number, count: number) => Array.from({ length: count }, random);

describe('numbers that follow from a seed', () => {
  it('are the same for the same seed, now and in any later version: instances agree on them', () => {
    expect(take(seededRandom('00000000'), 3)).toEqual(take(seededRandom('00000000'), 3));
    // mulberry32 as it was published.
    expect(take(seededRandom('00000000'), 3).map((n) => n * 2 ** 32)).toEqual([1144304738, 1416247, 958946056]);
    expect(take(seededRandom('00000001'), 2).map((n) => n * 2 ** 32)).toEqual([2693262067, 11749833]);
  });
  it('go by its first 8 digits', () => {
    expect(seededRandom('deadbeef00')()).toBe(seededRandom('deadbeefff')());
    expect(seededRandom('deadbeef')()).not.toBe(seededRandom('deadbeee')());
  });
  it('are at least 0 and below 1', () => {
    for (const seed of ['ffffffff', '7fffffff', '80000000'])
      for (const number of take(seededRandom(seed), 10_000)) expect(number >= 0 && number < 1).toBe(true);
  });
  it('spread evenly, within one seed and over the first numbers of many', () => {
    const count = 100_000;
    const within = take(seededRandom('12345678'), count);
    const firsts = Array.from({ length: count }, (_, n) => seededRandom(sha256Hex(`session ${n}`))());
    const seconds = Array.from(
      { length: count },
      (_, n) => take(seededRandom(sha256Hex(`session ${n}`)), 2)[1] as number,
    );
    for (const numbers of [within, firsts, seconds]) {
      const bins = new Array<number>(20).fill(0);
      for (const number of numbers) bins[Math.floor(number * 20)] = (bins[Math.floor(number * 20)] as number) + 1;
      const chiSquare = bins.reduce((sum, seen) => sum + (seen - count / 20) ** 2 / (count / 20), 0);
      // 19 degrees of freedom: 99.9 % of all values are below.
      expect(chiSquare).toBeLessThan(43.82);
    }
  });
});
