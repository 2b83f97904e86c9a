import { describe, expect, it } from 'vitest';
import { fromBase64, fromBase64Url, toBase64, toBase64Url } from '../../../src/base/base64.ts';

describe('base64', () => {
  it.each([0, 1, 2, 3, 4, 255, 1000])('agrees with Node on %d bytes, both ways', (size) => {
    const bytes = Uint8Array.from({ length: size }, (_, at) => (at * 7 + 250) % 256);
    const text = Buffer.from(bytes).toString('base64');
    expect(toBase64(bytes)).toBe(text);
    expect(fromBase64(text)).toEqual(bytes);
  });

  it.each(['a', 'ab=c', 'ü', '====', 'a-_b'])('knows that %j is none', (text) => {
    expect(fromBase64(text)).toBeNull();
  });
});

describe('base64 for URLs', () => {
  it('is what others write and read, for every length', () => {
    for (let length = 0; length < 70; length++) {
      const bytes = Uint8Array.from({ length }, (_, at) => (at * 97 + length * 31) % 256);
      const text = toBase64Url(bytes);
      expect(text).toBe(Buffer.from(bytes).toString('base64url'));
      expect(fromBase64Url(text)).toEqual(bytes);
    }
  });
  it.each(['a', 'ab+c', 'ab/c', 'ab==', 'ab c', 'abé_', 'ab\u{10000}'])('is not %j', (text) => {
    expect(fromBase64Url(text)).toBeNull();
  });
});
