import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BuiltinPattern, builtinPatterns } from '../../../src/guardrails/builtin/index.ts';
import { atOnce } from '../../../src/guardrails/text/pace.ts';
import { Scanner } from '../../../src/guardrails/text/scanner.ts';
import { runs } from '../../support/runs.ts';

function left(name: BuiltinPattern, pieces: readonly string[]): string {
  const scanner = new Scanner([{ name, matcher: builtinPatterns[name]() }], () => undefined);
  const released = pieces.map((piece) => atOnce(scanner.push(piece))).join('') + atOnce(scanner.end());
  return released.replaceAll(`[REDACTED:${name}]`, '#');
}

const secrets: readonly [BuiltinPattern, string][] = [
  ['credit-card', '4111 1111-1111 1111'],
  ['ssn', '219-09-9999'],
  ['phone', '+49 30 901820-0'],
  ['iban', 'DE89 3704 0044 0532 0130 00'],
  ['national-id', '529.982.247-25'],
  ['email', 'bob@example.com'],
];
/** The zeros of some scripts: full width, Arabic, Persian, Devanagari, Bengali, Thai, bold and monospace. */
const zeros = [0x30, 0xff10, 0x660, 0x6f0, 0x966, 0x9e6, 0xe50, 0x1d7ce, 0x1d7f6];
const spaces = [' ', '\u00a0', '\u2007', '\u202f', '\u3000'];
const dashes = ['-', '\u2010', '\u2011', '\u2012', '\u2013', '\u2212', '\uff0d', '\ufe63'];
const unseen = ['', '', '', '\u200b', '\u200d', '\u2060', '\ufeff', '\u00ad', '\ufe0f', '\u0332'];

/** A secret as somebody else would write it. */
const spelled = ([name, secret]: readonly [BuiltinPattern, string]) =>
  fc
    .tuple(...Array.from(secret, (char) => spellingOf(char)))
    .map((chars): readonly [BuiltinPattern, string] => [name, chars.join('')]);

function spellingOf(char: string): fc.Arbitrary<string> {
  const plain = /\d/.test(char)
    ? fc.constantFrom(...zeros.map((zero) => String.fromCodePoint(zero + Number(char))))
    : char === ' '
      ? fc.constantFrom(...spaces)
      : char === '-'
        ? fc.constantFrom(...dashes)
        : fc.constantFrom(char, String.fromCodePoint(char.charCodeAt(0) + 0xfee0));
  return fc.tuple(fc.constantFrom(...unseen), plain).map(([before, own]) => before + own);
}

describe('a built-in pattern', () => {
  it('finds a secret in every spelling, and takes out nothing else, wherever the text is cut', () => {
    fc.assert(
      fc.property(fc.constantFrom(...secrets).chain(spelled), fc.array(fc.nat(80)), ([name, secret], places) => {
        const text = `So: ${secret} – ok\u200b, ٣ times`;
        const cuts = [...new Set(places)].filter((place) => place < text.length).sort((a, b) => a - b);
        const pieces = [0, ...cuts].map((from, at) => text.slice(from, cuts[at]));
        const first = /^(?:\u200b|\u200d|\u2060|\ufeff|\u00ad|\ufe0f|\u0332)*/.exec(secret)?.[0] ?? '';
        const expected = `So: ${first}# – ok\u200b, ٣ times`;
        expect(left(name, [text])).toBe(expected);
        expect(left(name, pieces)).toBe(expected);
        expect(left(name, text.split(''))).toBe(expected);
      }),
      { seed: 20261126, numRuns: runs(300, 5_000) },
    );
  });
  it.each<[BuiltinPattern, string]>([
    ['phone', '2010–2015, 12:30–14:00, 10\u00a0000\u00a0000, v1.2.3‑4, 3,14159\u2009265'],
    ['credit-card', '2010–2015, 1\u00a0700\u00a0000\u00a0000\u00a0000, 4111\u00a01111\u00a01111\u00a01112'],
    ['ssn', '000–12–3456, 2024–01–15, 219–00–9999'],
    ['national-id', '2024–000123, 10\u00a0000\u00a0000, 046–454–286'],
  ])('%s leaves alone %j', (name, text) => {
    expect(left(name, [text])).toBe(text);
  });
});
