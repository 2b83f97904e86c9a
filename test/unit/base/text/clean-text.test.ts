import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanText } from '../../../../src/base/text/clean-text.ts';
import { cpuMs } from '../../../support/cpu-time.ts';

describe('cleanText', () => {
  it.each([
    ['a\r\nb\tc  d', 'a b c d'],
    ['  a\u2028b\u2029c\u0085d\u00a0e\0f  ', 'a b c d e f'],
    ['\x1b[31mred\x1b[0m and \x9b1mbold', 'red and bold'],
    ['\x1b]0;title\x07text \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\', 'text link'],
    ['a\x1bcb', 'ab'],
    ['abc \u202edcba\u202c \u2066x\u2069\u200f', 'abc dcba x'],
    ['\ufeffmark', 'mark'],
    ['Grüße, 世界 👋🏽 👩‍👩‍👧', 'Grüße, 世界 👋🏽 👩‍👩‍👧'],
    ['half \ud83d pair', 'half \ufffd pair'],
    ['', ''],
  ])('%j becomes %j', (text, expected) => {
    expect(cleanText(text)).toBe(expected);
  });

  it('cuts a long text, marks the cut, and does not halve a character', () => {
    expect(cleanText('x'.repeat(600))).toBe(`${'x'.repeat(499)}…`);
    expect(cleanText('x'.repeat(500))).toBe('x'.repeat(500));
    expect(cleanText('abcdef', 4)).toBe('abc…');
    expect(cleanText('ab👋def', 4)).toBe('ab…');
    expect(cleanText('ab cdef', 4)).toBe('ab…');
  });

  it('takes no longer for a huge text', () => {
    const hostile = '\x1b]'.repeat(4_000_000);
    const startedAt = cpuMs();
    expect(cleanText(hostile)).toBe('');
    // A walk over all of it, again for each of its characters, would take minutes.
    expect(cpuMs() - startedAt).toBeLessThan(5000);
  });

  it('never lets a line break, an escape or more than the limit through', () => {
    const nasty = fc.string({
      unit: fc.constantFrom('\x1b', '[', ']', 'a', '\n', '\u2028', '\u202e', '\x9b', '\ud83d', '👋'),
    });
    fc.assert(
      fc.property(nasty, fc.integer({ min: 1, max: 20 }), (text, maxChars) => {
        const clean = cleanText(text, maxChars);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
        expect(clean).not.toMatch(/[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/);
        expect(clean.length).toBeLessThanOrEqual(maxChars);
        expect(clean.isWellFormed()).toBe(true);
      }),
    );
  });
});
