import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitsPattern } from '../../../../src/base/text/pattern.ts';
import { cpuMs } from '../../../support/cpu-time.ts';

describe('fitsPattern', () => {
  it.each<[pattern: string, text: string, expected: boolean]>([
    ['openai/gpt-4.1', 'openai/gpt-4.1', true],
    ['openai/gpt-4.1', 'openai/gpt-4x1', false],
    ['openai/gpt-4.1', 'openai/gpt-4.1-mini', false],
    ['openai/gpt-4.1', 'xopenai/gpt-4.1', false],
    ['OpenAI/gpt', 'openai/gpt', false],
    ['*', 'anything/at/all', true],
    ['*', '', true],
    ['', '', true],
    ['', 'a', false],
    ['openai/*', 'openai/gpt-4.1', true],
    ['openai/*', 'openai/', true],
    ['openai/*', 'openai', false],
    ['openai/*', 'azure/openai/x', false],
    ['*/gpt-4.1', 'openai/gpt-4.1', true],
    ['*gpt*', 'openai/gpt-4.1', true],
    ['*gpt*', 'openai/o3', false],
    ['*:free', 'acme/fast:free', true],
    ['*:free', 'acme/fast:freed', false],
    ['a*b*c', 'a-b-c', true],
    ['a*b*c', 'abc', true],
    ['a*b*c', 'acb', false],
    ['a*b*c', 'abcb', false],
    ['ab*ba', 'aba', false],
    ['ab*ba', 'abba', true],
    ['a*a', 'a', false],
    ['a**b', 'ab', true],
    ['a*bc*bc', 'abcbc', true],
    ['a*bc*bc', 'abc', false],
    ['*ab*ab*', 'ab ab', true],
    ['*aba*aba*', 'ababa', false],
    ['gpt-?', 'gpt-4', false],
    ['gpt-[45]', 'gpt-4', false],
    ['a.c', 'abc', false],
    ['a\\*', 'a\\b', true],
  ])('%j and %j: %s', (pattern, text, expected) => {
    expect(fitsPattern(pattern, text)).toBe(expected);
  });

  it('says what a regular expression of the same meaning says', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*', '/'), maxLength: 12 });
    fc.assert(
      fc.property(letters, letters, (pattern, text) => {
        const expression = new RegExp(`^${pattern.split('*').join('.*')}$`);
        expect(fitsPattern(pattern, text)).toBe(expression.test(text));
      }),
      { numRuns: 1000, seed: 1 },
    );
  });

  it('takes a text longer than any name for one that fits nothing', () => {
    expect(fitsPattern('*', 'a'.repeat(1024))).toBe(true);
    expect(fitsPattern('*', 'a'.repeat(1025))).toBe(false);
  });

  it('is not slowed down by patterns made for that', () => {
    const text = `${'a'.repeat(1023)}c`;
    const patterns = ['*a'.repeat(128), `${'*a'.repeat(127)}*b`, `*${'a'.repeat(127)}b${'a'.repeat(127)}*`];
    const start = cpuMs();
    for (let round = 0; round < 100; round++) for (const pattern of patterns) fitsPattern(pattern, text);
    // Some milliseconds; a matcher that goes back and tries again takes longer than the universe is old.
    expect(cpuMs() - start).toBeLessThan(1000);
  });
});
