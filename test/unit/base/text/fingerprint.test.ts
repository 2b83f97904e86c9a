import { describe, expect, it } from 'vitest';
import { fingerprintOf } from '../../../../src/base/text/fingerprint.ts';

const long = (middle: string) => `${'a'.repeat(200)}${middle}${'b'.repeat(200)}`;

describe('a fingerprint', () => {
  it('is the same for the same texts, and an integer that is exact', () => {
    expect(fingerprintOf(['Hello', long('x')])).toBe(fingerprintOf(['Hello', long('x')]));
    for (const texts of [[], [''], ['Hello'], [long('x').repeat(1000)]])
      expect(Number.isSafeInteger(fingerprintOf(texts))).toBe(true);
  });
  it.each<[string, string[], string[]]>([
    ['a character', ['Hello'], ['Hellp']],
    ['the order', ['a', 'b'], ['b', 'a']],
    ['where one ends', ['ab', 'c'], ['a', 'bc']],
    ['one more', ['a'], ['a', '']],
    ['the length of a long one', [long('x')], [long('xx')]],
    ['the beginning of a long one', [`1${long('x')}`], [`2${long('x')}`]],
    ['the end of a long one', [`${long('x')}1`], [`${long('x')}2`]],
  ])('tells %s', (_, one, other) => {
    expect(fingerprintOf(one)).not.toBe(fingerprintOf(other));
  });
  it('looks at 64 places of a long text, which may be a picture of megabytes: the ends, and some between', () => {
    for (const length of [65, 401, 10_000]) {
      const text = 'a'.repeat(length);
      const whole = fingerprintOf([text]);
      const seen = Array.from({ length }, (_, at) => at).filter(
        (at) => fingerprintOf([`${text.slice(0, at)}b${text.slice(at + 1)}`]) !== whole,
      );
      expect(seen).toHaveLength(64);
      expect([seen.slice(0, 16), seen.slice(-16)]).toEqual([
        Array.from({ length: 16 }, (_, at) => at),
        Array.from({ length: 16 }, (_, at) => length - 16 + at),
      ]);
      // Between, none is further from the next than it would be if they were spread evenly.
      for (let n = 1; n < 64; n++)
        expect((seen[n] as number) - (seen[n - 1] as number)).toBeLessThanOrEqual(Math.ceil((length - 32) / 32));
    }
  });
  it('looks at every place of a short one', () => {
    const text = 'a'.repeat(64);
    for (let at = 0; at < 64; at++)
      expect(fingerprintOf([`${text.slice(0, at)}b${text.slice(at + 1)}`])).not.toBe(fingerprintOf([text]));
  });
  it('goes on from another', () => {
    const seeds = [0, 1, 2 ** 21, 2 ** 32, 2 ** 52, Number.MAX_SAFE_INTEGER];
    expect(new Set(seeds.map((seed) => fingerprintOf(['Hello'], seed))).size).toBe(seeds.length);
    expect(fingerprintOf(['Hello'])).toBe(fingerprintOf(['Hello'], 0));
  });
  it('of 100,000 texts no two are the same', () => {
    const seen = new Set(Array.from({ length: 100_000 }, (_, n) => fingerprintOf([`Question ${n}`])));
    expect(seen.size).toBe(100_000);
  });
});
