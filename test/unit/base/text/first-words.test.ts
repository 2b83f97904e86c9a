import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstWords } from '../../../../src/base/text/first-words.ts';

describe('firstWords', () => {
  it('is the beginning of the text with single spaces between its words', () => {
    const text = fc.array(fc.constantFrom('a', 'bc', 'é', '𝒳', ' ', '\n\t ', '\u00a0'), { maxLength: 60 });
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 30 }), (parts, most) => {
        const whole = parts.join('').trim().replace(/\s+/g, ' ').slice(0, most).trimEnd();
        expect(firstWords(parts.join(''), most)).toBe(whole.isWellFormed() ? whole : whole.slice(0, -1));
      }),
      { numRuns: 1_000 },
    );
  });
  it('leaves no half of a pair, also where the second word is long', () => {
    expect(firstWords('bc 𝒳𝒳𝒳', 4)).toBe('bc ');
    expect(firstWords('bc 𝒳𝒳𝒳', 5)).toBe('bc 𝒳');
  });
  it('reads no more of a text than it needs', () => {
    expect(firstWords(`${' '.repeat(30_000_000)}late`, 400)).toBe('');
    expect(firstWords(`${' '.repeat(900_000)}soon`, 400)).toBe('soon');
    expect(firstWords('x'.repeat(30_000_000), 400)).toBe('x'.repeat(400));
  });
});
