import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonBound, newEffort, quotedBound, textBound } from '../../../src/pricing/token-bound.ts';
import { scripts, scriptText } from '../../support/scripts.ts';

const bytes = (text: string) => Buffer.byteLength(text);
const forms = (text: string) => [text, text.normalize('NFC'), text.normalize('NFKC')];

/** As servers write JSON: Python with and without its escapes, Go with those for HTML. */
function asciiOnly(json: string): string {
  return json.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
function forHtml(json: string): string {
  return json.replace(/[&'<>]/g, (unit) => `\\u00${unit.charCodeAt(0).toString(16)}`);
}

/** The worst tokenizer there is: one token a byte, but for runs of spaces, of which it takes sixteen at once. */
function worstTokens(text: string): number {
  const runs = text.match(/ {2,}/g) ?? [];
  return bytes(text) - runs.reduce((saved, run) => saved + run.length - Math.ceil(run.length / 16), 0);
}

describe('a text', () => {
  it.each(Object.keys(scripts))('of %s has at most as many tokens as bytes, in every normal form', (name) => {
    fc.assert(
      fc.property(fc.array(scripts[name] as fc.Arbitrary<string>, { maxLength: 300 }), (pieces) => {
        const text = pieces.join('');
        for (const form of forms(text)) expect(textBound(text, newEffort())).toBeGreaterThanOrEqual(bytes(form));
      }),
    );
  });
  it('of plain ASCII is counted by the byte', () => {
    expect(textBound('Hello there', newEffort())).toBe(11);
    expect(textBound('', newEffort())).toBe(0);
    expect(textBound('x'.repeat(1_000_000), newEffort())).toBe(1_000_000);
  });
  it('is counted right across the pieces it is read in', () => {
    const text = `${'x'.repeat(8_191)}😀${'字'.repeat(20_000)}`;
    // A pair of surrogates that is cut counts two bytes more.
    expect(textBound(text, newEffort()) - bytes(text)).toBe(2);
  });
  it('costs no more time the longer it is: beyond half a million characters the longest normal form is assumed', () => {
    const effort = { unitsLeft: 10 };
    expect(textBound('éééé', effort)).toBe(8);
    expect(effort.unitsLeft).toBe(6);
    expect(textBound('é'.repeat(7), effort)).toBe(7 * 2 * 11);
    expect(effort.unitsLeft).toBe(6);
  });
  it('takes what a normal form makes of it from what may be normalized', () => {
    const effort = newEffort();
    const text = '\ufdfa'.repeat(400_000);
    expect(textBound(text, effort)).toBeGreaterThanOrEqual(bytes(text) * 11 * 0.9);
    expect(effort.unitsLeft).toBeLessThan(8_192);
  });
  it('of marks that a normal form would have to sort for seconds is taken as it grows most', () => {
    const effort = newEffort();
    const marks = '\u0301\u0316'.repeat(20_000);
    expect(textBound(marks, effort)).toBe(bytes(marks) * 11);
    expect(effort).toEqual(newEffort());
  });
  it('is normalized in pieces that together are at least as long as the text', () => {
    fc.assert(
      fc.property(fc.array(scriptText(), { minLength: 1, maxLength: 40 }), fc.nat(8_191), (pieces, before) => {
        const text = `${'e'.repeat(before)}${pieces.join('').repeat(30)}e\u0301\u0316`;
        for (const form of forms(text)) expect(textBound(text, newEffort())).toBeGreaterThanOrEqual(bytes(form));
      }),
    );
  });
  it('never grows more than is then assumed', () => {
    const spent = { unitsLeft: 0 };
    for (let point = 0x80; point <= 0x10ffff; point++) {
      const character = String.fromCodePoint(point);
      const longest = Math.max(...forms(character).map(bytes));
      if (longest > bytes(character) && textBound(character, spent) < longest) {
        expect.fail(`U+${point.toString(16)} becomes ${longest} bytes`);
      }
    }
    fc.assert(
      fc.property(scriptText(), (text) => {
        for (const form of forms(text)) expect(textBound(text, spent)).toBeGreaterThanOrEqual(bytes(form));
      }),
    );
  });
});

describe('a text in JSON', () => {
  it('has no more tokens than whichever escapes it is written with have bytes', () => {
    fc.assert(
      fc.property(scriptText(), (text) => {
        const json = JSON.stringify(text);
        const bound = quotedBound(text, newEffort());
        for (const form of forms(json)) expect(bound).toBeGreaterThanOrEqual(bytes(form));
        expect(bound).toBeGreaterThanOrEqual(bytes(forHtml(json)));
        expect(bound).toBeGreaterThanOrEqual(bytes(asciiOnly(json)));
      }),
      { numRuns: 500 },
    );
  });
  it.each([
    ['', 2],
    ['name', 6],
    ['a "b"', 2 + 3 + 4],
    ['<', 2 + 6],
    ['é', 2 + 6],
    ['😀', 2 + 12],
    ['\n', 2 + 6],
    ['x'.repeat(100), 102],
  ])('such as %j is %i at most', (text, most) => {
    expect(quotedBound(text, newEffort())).toBe(most);
  });
});

describe('JSON', () => {
  const values = fc.jsonValue({ depthSize: 'medium', stringUnit: 'binary' });
  it.each<[string, (value: unknown) => string]>([
    ['as it is', (value) => JSON.stringify(value)],
    ['with spaces', (value) => JSON.stringify(value, null, 1).replace(/\n */g, ' ')],
    ['indented', (value) => JSON.stringify(value, null, 4)],
    ['indented, in ASCII', (value) => asciiOnly(JSON.stringify(value, null, 4))],
    ['indented, for HTML', (value) => forHtml(JSON.stringify(value, null, 4))],
  ])('has no more tokens than the worst tokenizer makes of it, %s', (_, write) => {
    fc.assert(
      fc.property(values, (value) => {
        expect(jsonBound(value, newEffort())).toBeGreaterThanOrEqual(worstTokens(write(value)));
      }),
      { numRuns: 300 },
    );
  });
  it.each([-0.0000010010026274590871, -1.7976931348623157e308, -2.2250738585072014e-308])(
    'that is the number %d has no more tokens than characters',
    (number) => {
      expect(jsonBound(number, newEffort())).toBeGreaterThanOrEqual(JSON.stringify(number).length);
    },
  );
  it('that is deep is indented far', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100; level++) deep = level % 2 === 0 ? [deep] : { a: deep };
    expect(jsonBound(deep, newEffort())).toBeGreaterThanOrEqual(worstTokens(JSON.stringify(deep, null, 4)));
  });
});
