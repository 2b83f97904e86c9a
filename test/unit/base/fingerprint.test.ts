import { describe, expect, it } from 'vitest';
import { fingerprintOf } from '../../../src/base/fingerprint.ts';

const long = (middle: string) => `${'a'.repeat(200)}${middle}${'b'.repeat(200)}`;

describe('a fingerprint', () => {
  it('is the same for the same texts, and short', () => {
    expect(fingerprintOf(['Hello', long('x')])).toBe(fingerprintOf(['Hello', long('x')]));
    expect(fingerprintOf([long('x').repeat(1000)]).length).toBeLessThan(20);
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
  it('takes no account of the middle of a long text, which may be a picture of megabytes', () => {
    expect(fingerprintOf([long('x')])).toBe(fingerprintOf([long('y')]));
  });
  it('of 100,000 texts no two are the same', () => {
    const seen = new Set(Array.from({ length: 100_000 }, (_, n) => fingerprintOf([`Question ${n}`])));
    expect(seen.size).toBe(100_000);
  });
});
