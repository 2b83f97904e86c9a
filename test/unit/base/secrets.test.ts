import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { constantTimeEqual, createRedactor, maskSecret, redact, sha256Hex } from '../../../src/base/secrets.ts';

describe('redact', () => {
  const secret = 'sk-proj/a+b c"d\\ü_0123456789';

  it('replaces every occurrence of every secret', () => {
    const text = 'a sk-first-secret, b sk-second-secret, c sk-first-secret';
    expect(redact(text, ['sk-first-secret', 'sk-second-secret'])).toBe('a [redacted], b [redacted], c [redacted]');
  });

  it('replaces the scheme together with the key', () => {
    expect(redact('got Authorization: Bearer sk-first-secret!', ['sk-first-secret'])).toBe(
      'got Authorization: [redacted]!',
    );
  });

  it.each([
    ['URL-encoded', encodeURIComponent(secret)],
    ['URL-encoded in lower case', encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase())],
    ['in JSON', JSON.stringify(secret).slice(1, -1)],
    ['in JSON inside JSON', JSON.stringify(JSON.stringify(secret)).slice(3, -3)],
    ['in JSON with escaped slashes', JSON.stringify(secret).slice(1, -1).replaceAll('/', '\\/')],
    ['in base64', Buffer.from(secret).toString('base64')],
    ['in base64 without padding', Buffer.from(secret).toString('base64').replaceAll('=', '')],
    ['in base64url', Buffer.from(secret).toString('base64url')],
  ])('knows a secret %s', (_, spelling) => {
    expect(redact(`<${spelling}>`, [secret])).toBe('<[redacted]>');
  });

  // As Go's encoding/json, Java's Gson and .NET's System.Text.Json write it.
  it.each([
    ['Go', String.raw`k\u0026\u003c\u003e'=+\"/key`],
    ['Gson', String.raw`k\u0026\u003c\u003e\u0027\u003d+\"/key`],
    ['.NET', String.raw`k\u0026\u003C\u003E\u0027=\u002B\u0022/key`],
  ])('knows a secret in JSON by %s', (_, spelling) => {
    const odd = 'k&<>\'=+"/key';
    expect(JSON.parse(`"${spelling}"`)).toBe(odd);
    expect(redact(`<${spelling}>`, [odd])).toBe('<[redacted]>');
  });

  it.each(['', 'a', 'ab', 'user:', 'four'])('knows a secret inside the base64 of a longer text, after %j', (before) => {
    const base64 = Buffer.from(`${before}${secret};more`).toString('base64');
    const clean = redact(base64, [secret]);
    expect(clean).toContain('[redacted]');
    for (let at = 0; at < secret.length - 5; at++) {
      const decoded = clean.split('[redacted]').map((part) => Buffer.from(part, 'base64').toString());
      expect(decoded.join('|')).not.toContain(secret.slice(at, at + 5));
    }
  });

  it('takes the longer of two secrets when one holds the other', () => {
    expect(redact('sk-secret-and-more', ['sk-secret', 'sk-secret-and-more'])).toBe('[redacted]');
  });

  it('leaves short secrets and other text alone', () => {
    expect(redact('a test of test', ['test', ''])).toBe('a test of test');
    expect(redact('nothing here', ['sk-first-secret'])).toBe('nothing here');
  });

  it('takes a secret for text, not for a pattern', () => {
    expect(redact('aaaaaaaa .*.*.*.*$&', ['.*.*.*.*$&'])).toBe('aaaaaaaa [redacted]');
  });

  it('survives half a surrogate pair', () => {
    expect(redact('x', ['abcdefgh\ud800'])).toBe('x');
  });
});

describe('a search for parts of secrets first', () => {
  const alphabets = ['ab', 'etaoin-_.', 'ZQ0kz+/=', 'é字aZ', '0123456789abcdef'];

  it.each(alphabets)('finds secrets of %j wherever they stand, and changes no other text', (alphabet) => {
    const sign = fc.constantFrom(...Array.from(alphabet));
    const textOf = (minLength: number, maxLength: number) =>
      fc.array(sign, { minLength, maxLength }).map((signs) => signs.join(''));
    fc.assert(
      fc.property(
        textOf(8, 40),
        textOf(0, 60),
        textOf(0, 60),
        fc.nat(39),
        fc.nat(39),
        (secret, before, behind, from, to) => {
          const { redact: clean, spellings } = createRedactor([secret]);
          expect(clean(`${before}${secret}${behind}`)).toContain('[redacted]');
          // A part of the secret may hold what is looked for first, and is left alone.
          const text = `${before}${secret.slice(from, to)}${behind}`;
          expect(clean(text) !== text).toBe(spellings.some((spelling) => text.includes(spelling)));
        },
      ),
    );
  });
});

describe('maskSecret', () => {
  it('shows the first and last characters of a long secret', () => {
    expect(maskSecret('sk-or-v1-0123456789abcdef')).toBe('sk-or...cdef');
  });
  it.each(['', 'short', 'x'.repeat(19)])('shows nothing of %j', (secret) => {
    expect(maskSecret(secret)).toBe('...');
  });
});

describe('sha256Hex', () => {
  it.each(['', 'abc', 'ünïcode 👋', 'x'.repeat(1000)])('agrees with OpenSSL on %j', (text) => {
    expect(sha256Hex(text)).toBe(createHash('sha256').update(text).digest('hex'));
  });
});

describe('constantTimeEqual', () => {
  it.each([
    ['', '', true],
    ['abc', 'abc', true],
    ['abc', 'abd', false],
    ['abc', 'Abc', false],
    ['abc', 'abcd', false],
    ['abcd', 'abc', false],
    ['abc', 'abc\0', false],
    ['', '\0', false],
    ['ü', 'u', false],
  ])('%j and %j: %s', (a, b, expected) => {
    expect(constantTimeEqual(a, b)).toBe(expected);
  });
});
