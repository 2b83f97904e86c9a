import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasLongRun, normalForm, pieceEnd } from '../../../../src/base/text/normal-form.ts';
import { scriptText } from '../../../support/scripts.ts';

/** What a normal form sorts: marks, and letters that it turns into marks. */
const everyMark = Array.from({ length: 0x11_0000 }, (_, point) => point)
  .filter((point) => point < 0xd800 || point > 0xdfff)
  .map((point) => String.fromCodePoint(point))
  .filter((one) => /^\p{M}/u.test(one) || /^\p{M}/u.test(one.normalize('NFKD')));

describe('normalForm', () => {
  it('is the form of Unicode for the text of any language', () => {
    fc.assert(
      fc.property(scriptText(), fc.constantFrom('NFC', 'NFKC'), (text, form) => {
        fc.pre(!hasLongRun(text));
        expect(normalForm(text, form)).toBe(text.normalize(form));
      }),
    );
  });
  it('keeps thirty marks of a run, so that it has never many to sort', () => {
    const runs = `e${'\u0301\u0316'.repeat(500_000)}x${'\u0316'.repeat(40)}`;
    expect(hasLongRun(runs)).toBe(true);
    const kept = `e${'\u0301\u0316'.repeat(15)}x${'\u0316'.repeat(30)}`;
    expect(normalForm(runs, 'NFC')).toBe(kept.normalize('NFC'));
  });
  it('knows every character that is a mark in a normal form', () => {
    expect(everyMark.length).toBeGreaterThan(2_000);
    for (const mark of everyMark) expect(hasLongRun(mark.repeat(31)), mark.codePointAt(0)?.toString(16)).toBe(true);
  });
});

describe('pieceEnd', () => {
  it('cuts no pair of halves, and stands in front of no mark', () => {
    const marks = fc.constantFrom('\u0301', '\u0316', '\ud834\udd65');
    const characters = fc.array(fc.oneof(marks, fc.constantFrom('e', '\ud83d\ude00', '字')), { maxLength: 60 });
    fc.assert(
      fc.property(characters, fc.integer({ min: 8_130, max: 8_192 }), (some, before) => {
        const text = `${'x'.repeat(before)}${some.join('')}${'x'.repeat(200)}`;
        fc.pre(!hasLongRun(text));
        const end = pieceEnd(text, 0);
        expect(end).toBeGreaterThan(8_192 - 64);
        expect(text.slice(end)).not.toMatch(/^\p{M}/u);
        expect(text.slice(end).isWellFormed()).toBe(true);
      }),
    );
  });
  it('is the end of a short text', () => {
    expect(pieceEnd('abc', 0)).toBe(3);
  });
});
