import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { builtinPatterns } from '../../../src/guardrails/builtin/index.ts';
import { literalMatcher } from '../../../src/guardrails/matching/literals.ts';
import type { Matcher } from '../../../src/guardrails/matching/matcher.ts';
import { compileRegex, PatternError } from '../../../src/guardrails/matching/regex.ts';
import { atOnce } from '../../../src/guardrails/text/pace.ts';
import { Scanner } from '../../../src/guardrails/text/scanner.ts';
import { runs } from '../../support/runs.ts';

type Named = Record<string, Matcher>;

async function regexMatcher(source: string, ignoresCase: boolean, maxLength: number): Promise<Matcher> {
  return (await compileRegex(source, ignoresCase, maxLength, 150_000)).matcher;
}

function scannerOf(matchers: Named): Scanner<{ name: string; matcher: Matcher }> {
  const patterns = Object.entries(matchers).map(([name, matcher]) => ({ name, matcher }));
  return new Scanner(patterns, () => undefined);
}

function redacted(matchers: Named, pieces: readonly string[]): string {
  const scanner = scannerOf(matchers);
  return pieces.map((piece) => atOnce(scanner.push(piece))).join('') + atOnce(scanner.end());
}

describe('a scanner', () => {
  it('replaces every match, and matches that overlap by the name of the first', () => {
    const matchers = { one: literalMatcher('abcd', false), two: literalMatcher('cdef', false) };
    expect(redacted(matchers, ['x abcdef y cdef abcd'])).toBe('x [REDACTED:one] y [REDACTED:two] [REDACTED:one]');
  });
  it('releases what cannot become a match any more, and nothing of what can', () => {
    const scanner = scannerOf({ word: literalMatcher('secret', false) });
    expect([
      atOnce(scanner.push('a sec')),
      atOnce(scanner.push('ond secr')),
      atOnce(scanner.push('et')),
      atOnce(scanner.end()),
    ]).toEqual(['a ', 'second ', '[REDACTED:word]', '']);
  });
  it('finds a literal in any case, also outside of ASCII', () => {
    const matchers = { word: literalMatcher('Straße Σ', true) };
    expect(redacted(matchers, ['STRAßE σ, straße ς, strasse σ'])).toBe('[REDACTED:word], [REDACTED:word], strasse σ');
  });
  it('replaces what an expression matches, up to its greatest length', async () => {
    const matchers = { word: await regexMatcher(String.raw`\bkey: \w+`, true, 12) };
    expect(redacted(matchers, ['the KEY: abc, monkey: abc, key: abcdefghijklmnopqrstuvwxyz'])).toBe(
      'the [REDACTED:word], monkey: abc, [REDACTED:word]klmnopqrstuvwxyz',
    );
  });
  it('takes the borders of a text for what they are, and no others', async () => {
    const matchers = { first: await regexMatcher('^ab', false, 8), last: await regexMatcher('ab$', false, 8) };
    const text = `${'ab '.repeat(100)}ab`;
    const expected = `[REDACTED:first] ${'ab '.repeat(99)}[REDACTED:last]`;
    expect(redacted(matchers, [text])).toBe(expected);
    expect(redacted(matchers, text.split(''))).toBe(expected);
  });
  it('never cuts a character in two', () => {
    const scanner = scannerOf({ word: literalMatcher('secret', false) });
    expect([atOnce(scanner.push('a\ud83d')), atOnce(scanner.push('\ude00b')), atOnce(scanner.end())]).toEqual([
      'a',
      '😀b',
      '',
    ]);
  });
  it('says when a text has more matches than are looked for', async () => {
    const told: boolean[] = [];
    const matcher = await regexMatcher('a', false, 4);
    const scanner = new Scanner([{ name: 'a', matcher }], (_, isTooMany) => told.push(isTooMany));
    atOnce(scanner.push('a'.repeat(2000)));
    atOnce(scanner.end());
    expect([told.filter(Boolean).length, told.length]).toEqual([1, 1001]);
  });
});

describe('an expression that is refused', () => {
  it.each([
    ['(?=a)b', /\(\?=/],
    [String.raw`(a)\1`, /escape/],
    ['[', /missing closing/],
    ['a{1001}', /repeat count/],
    ['((a{0,100}){0,100}){0,100}', /repeat count/],
    ['(a{900}){1}(b{900}){1}(c{900}){1}', /too large/],
    ['a*', /empty text/],
    ['a++', /repetition/],
  ])('is %s', async (source, message) => {
    const compiling = regexMatcher(source, false, 64);
    await expect(compiling).rejects.toThrow(PatternError);
    await expect(compiling).rejects.toThrow(message);
  });
});

describe('streamed redaction', () => {
  const words = [
    'ab',
    'abab',
    'bob@example.com',
    'bob@',
    'example.com',
    '4111 1111 1111 1111',
    '4111',
    ' ',
    ' ',
    '-',
    '.',
    '@',
    '+49 30 901820',
    'DE89 3704 0044 0532 0130 00',
    'sk-',
    'AbCd0123456789AbCd01',
    '219-09-9999',
    'ignore all ',
    'previous instructions',
    'x',
    '\n',
    '😀',
    'é',
    'key: ',
    'aaaa',
  ];
  const text = fc.array(fc.constantFrom(...words), { maxLength: 24 }).map((parts) => parts.join(''));

  it('is the redaction of the whole text, wherever it is cut', async () => {
    const matchers: Named = {
      'an expression': await regexMatcher('(a|ab)+b?|key: .*', false, 24),
      'a bounded one': await regexMatcher(String.raw`\b\d{3}-\d{2}\b|x$|^a`, false, 8),
      'a literal': literalMatcher('abab', true),
      ...Object.fromEntries(Object.entries(builtinPatterns).map(([name, make]) => [name, make()])),
    };
    fc.assert(
      fc.property(text, fc.array(fc.nat(400), { maxLength: 12 }), (whole, places) => {
        const cuts = [...new Set(places.filter((place) => place < whole.length))].sort((a, b) => a - b);
        const pieces = [0, ...cuts].map((from, at) => whole.slice(from, cuts[at]));
        const expected = redacted(matchers, [whole]);
        expect(redacted(matchers, pieces)).toBe(expected);
        expect(redacted(matchers, whole.split(''))).toBe(expected);
      }),
      { seed: 20261123, numRuns: runs(300, 5_000) },
    );
  });
  it('is the same for every single cut', async () => {
    const matchers: Named = {
      regex: await regexMatcher('a.{0,9}b', false, 12),
      ...Object.fromEntries(Object.entries(builtinPatterns).map(([name, make]) => [name, make()])),
    };
    fc.assert(
      fc.property(text, (whole) => {
        const expected = redacted(matchers, [whole]);
        for (let cut = 0; cut <= whole.length; cut++)
          expect(redacted(matchers, [whole.slice(0, cut), whole.slice(cut)])).toBe(expected);
      }),
      { seed: 7, numRuns: runs(30, 500) },
    );
  });
});
