import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { TextCounter } from '../../../src/pricing/text-counter.ts';
import { cutToTokens } from '../../../src/server-tools/web-fetch/cut-to-tokens.ts';
import { decoded } from '../../../src/server-tools/web-fetch/decode.ts';

const utf8 = (text: string) => new TextEncoder().encode(text);
const utf16le = (text: string) => Uint8Array.from(Buffer.from(text, 'utf16le'));
const utf16be = (text: string) => Uint8Array.from(Buffer.from(text, 'utf16le').swap16());
/** Every character below U+0100 by its number. */
const latin1 = (text: string) => Uint8Array.from(Buffer.from(text, 'latin1'));
const mark = '\ufeff';
const page = (inside: string) => `<html><head>${inside}</head><body>Größe 价格 €</body></html>`;

describe('the text of a page', () => {
  it.each([
    ['UTF-8', utf8(page('')), null],
    ['UTF-8 with a mark', utf8(mark + page('')), null],
    ['UTF-8 with a mark, whatever the server says', utf8(mark + page('')), 'iso-8859-1'],
    ['UTF-16, little end first, with a mark', utf16le(mark + page('')), null],
    ['UTF-16, big end first, with a mark', utf16be(mark + page('')), null],
    ['UTF-16 with a mark, whatever the server says', utf16be(mark + page('')), 'utf-8'],
    ['UTF-16, as the server says', utf16be(page('')), 'UTF-16BE'],
    ['UTF-16, as nobody says', utf16le(page('')), null],
    ['UTF-16, as nobody says, big end first', utf16be(page('')), null],
    ['UTF-16, as its own meta says, which only UTF-16 can read', utf16le(page('<meta charset="utf-16">')), null],
    ['UTF-8, where its meta says UTF-16: it could not be read', utf8(page('<meta charset="utf-16">')), null],
    ['UTF-8, where the server says what nobody knows', utf8(page('')), 'x-unknown'],
    ['UTF-8, by a meta in another form', utf8(page("<META http-equiv=x content='text/html; charset=UTF-8'>")), null],
  ])('is read in %s', (_, bytes, charset) => {
    expect(decoded({ bytes, charset })).toContain('<body>Größe 价格 €</body>');
  });
  it.each([
    ['windows-1252 by its server', latin1('<p>Gr\xf6\xdfe \x80'), 'windows-1252', 'Größe €'],
    ['latin1, another label of it', latin1('<p>Gr\xf6\xdfe \x80'), ' LATIN1 ', 'Größe €'],
    ['what nobody says and is no UTF-8', latin1('<p>Gr\xf6\xdfe \x80'), null, 'Größe €'],
    ['the encoding of its meta', latin1('<meta charset=windows-1251><p>\xcf\xf0\xe8'), null, 'При'],
    ['the encoding of its declaration', latin1('<?xml version="1.0" encoding="koi8-r"?><p>\xf0\xd2'), null, 'Пр'],
    ['no meta of a comment', latin1('<!-- <meta charset=koi8-r> --><meta charset=windows-1251><p>\xcf'), null, 'П'],
    ['Shift_JIS', Uint8Array.from([0x93, 0xfa, 0x96, 0x7b]), 'sjis', '日本'],
    ['GBK', Uint8Array.from([0xbc, 0xdb, 0xb8, 0xf1]), 'gb2312', '价格'],
    ['EUC-KR', Uint8Array.from([0xc7, 0xd1]), 'ks_c_5601-1987', '한'],
  ])('is read in %s', (_, bytes, charset, text) => {
    expect(decoded({ bytes, charset })).toContain(text);
  });
});

describe('cutToTokens', () => {
  const texts = fc.array(fc.constantFrom('word ', 'x', '价', '𝒳', '\n', '1234 '), { maxLength: 4000 });
  it('is the longest beginning, within a piece of it', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 2000 }), (parts, most) => {
        const text = parts.join('');
        const cut = cutToTokens(text, most);
        expect(text.startsWith(cut)).toBe(true);
        expect(cut.isWellFormed()).toBe(true);
        const tokens = new TextCounter().tokensOf(cut);
        // A token at the border of a piece may be two.
        expect(tokens).toBeLessThanOrEqual(most * 1.1 + 2);
        if (cut.length < text.length) expect(tokens).toBeGreaterThan(most * 0.5 - 32);
      }),
      { examples: [[['价', 'word ', 'word ', 'word ', 'word '], 2]] },
    );
  });
  it('counts each part of a text once, but for the last piece', () => {
    const counted = vi.spyOn(TextCounter.prototype, 'tokensOf');
    try {
      const text = 'some words of a page '.repeat(20_000);
      for (const most of [1, 100, 50_000, 1_000_000]) {
        counted.mockClear();
        cutToTokens(text, most);
        const units = counted.mock.calls.reduce((sum, [one]) => sum + one.length, 0);
        expect(units).toBeLessThanOrEqual(text.length);
      }
    } finally {
      counted.mockRestore();
    }
  });
});
