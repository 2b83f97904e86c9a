import fc from 'fast-check';
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

describe('base64 of a file', () => {
  const size = 90_000;
  const bytes = Uint8Array.from({ length: size + 2 }, (_, at) => (at * 7 + (at >> 8)) % 256);
  const text = Buffer.from(bytes.subarray(0, size)).toString('base64');
  const byAtob = (one: string) => {
    try {
      return Uint8Array.from(atob(one), (character) => character.charCodeAt(0));
    } catch {
      return null;
    }
  };

  it.each([0, 1, 2])('is read and written as the platform does, with %d bytes more', (more) => {
    const some = bytes.subarray(0, size + more);
    const written = toBase64(some);
    expect(written).toBe(Buffer.from(some).toString('base64'));
    expect(fromBase64(written)).toEqual(new Uint8Array(some));
    expect(fromBase64(written.replace(/=+$/, ''))).toEqual(new Uint8Array(some));
  });
  it('is read as `atob` reads it, wherever something is put in it', () => {
    const put = fc.constantFrom(
      '',
      ' ',
      '\n',
      '\t\f\r',
      '=',
      '==',
      '= =',
      '===',
      'A',
      'AA',
      '-',
      '_',
      'Ł',
      '\u0000',
      '\u00a0',
      '\u2028',
      '😀',
    );
    const place = fc.oneof(fc.constantFrom(0, text.length - 1, text.length), fc.nat(text.length));
    fc.assert(
      fc.property(put, place, put, (some, at, end) => {
        const changed = `${text.slice(0, at)}${some}${text.slice(at)}${end}`;
        expect(fromBase64(changed)).toEqual(byAtob(changed));
      }),
      { numRuns: 60 },
    );
  });
  it('shares its memory with nothing else', () => {
    expect(fromBase64(text)?.buffer.byteLength).toBe(size);
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
