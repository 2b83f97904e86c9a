import fc from 'fast-check';
import { expect, it } from 'vitest';
import { joinBytes, utf8Length } from '../../../src/base/bytes.ts';

it('joins pieces, and copies none where there is one', () => {
  const piece = Uint8Array.of(1, 2);
  expect(joinBytes([piece])).toBe(piece);
  expect([...joinBytes([])]).toEqual([]);
  expect([...joinBytes([piece, new Uint8Array(0), Uint8Array.of(3)])]).toEqual([1, 2, 3]);
});

it('counts the bytes of a text as an encoder writes them', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), (binary, written) => {
      for (const text of [binary, written]) expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length);
    }),
  );
});
