import { describe, expect, it } from 'vitest';
import { fromBase64, toBase64 } from '../../../src/base/base64.ts';

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
