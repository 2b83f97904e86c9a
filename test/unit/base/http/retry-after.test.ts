import { describe, expect, it } from 'vitest';
import { parseRetryAfter, parseRetryAfterMs, retryAfterOf } from '../../../../src/base/http/retry-after.ts';

const nowMs = Date.UTC(1994, 10, 6, 8, 49, 0);
const dayMs = 86_400_000;

describe('parseRetryAfter', () => {
  it.each<[string, number]>([
    ['0', 0],
    ['5', 5000],
    [' 120 ', 120_000],
    ['1.5', 1500],
    ['.25', 250],
    ['0.0001', 1],
    ['-3', 0],
    ['99999999999999999999', dayMs],
    ['5, 10', 10_000],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 37_000],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 37_000],
    ['Sun Nov  6 08:49:37 1994', 37_000],
    ['Wed Nov 16 08:49:00 1994', dayMs],
    ['Sun, 06 Nov 1994 08:49:37 UTC', 37_000],
    ['sun, 06 nov 1994 08:49:37 gmt', 37_000],
    ['Sun, 06 Nov 1994 08:48:00 GMT', 0],
    ['Fri, 31 Dec 9999 23:59:59 GMT', dayMs],
  ])('%j is %i ms', (value, expected) => {
    expect(parseRetryAfter(value, nowMs)).toBe(expected);
  });

  it.each([
    undefined,
    '',
    ' ',
    'soon',
    '5s',
    '1e5',
    '0x10',
    'NaN',
    'Infinity',
    '5,',
    '1'.repeat(500),
    'Sun, 06 Nov 1994 08:49:37 PST',
    'Sun, 06 Foo 1994 08:49:37 GMT',
    'Sun, 06 anf 1994 08:49:37 GMT',
    'Sun, 32 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 25:49:37 GMT',
    'Sun, 06 Nov 1994',
    '1994-11-06T08:49:37Z',
    '5\r\nx: y',
  ])('%j says nothing', (value) => {
    expect(parseRetryAfter(value, nowMs)).toBeUndefined();
  });

  it('takes a two-digit year for the nearest one that is not more than 50 years ahead', () => {
    const atNewYear = Date.UTC(1999, 11, 31, 23, 59, 0);
    expect(parseRetryAfter('Saturday, 01-Jan-00 00:00:00 GMT', atNewYear)).toBe(60_000);
    const in2026 = Date.UTC(2026, 0, 1);
    expect(parseRetryAfter('Sunday, 06-Nov-94 08:49:37 GMT', in2026)).toBe(0);
    expect(parseRetryAfter('Thursday, 01-Jan-26 00:00:30 GMT', in2026)).toBe(30_000);
  });
});

describe('retryAfterOf', () => {
  it('prefers milliseconds, and falls back when they are no number', () => {
    expect(retryAfterOf({ 'retry-after-ms': '1200.5', 'retry-after': '2' }, nowMs)).toBe(1201);
    expect(retryAfterOf({ 'retry-after-ms': 'soon', 'retry-after': '2' }, nowMs)).toBe(2000);
    expect(retryAfterOf({ 'retry-after': '2' }, nowMs)).toBe(2000);
    expect(retryAfterOf({}, nowMs)).toBeUndefined();
  });
  it('bounds milliseconds on both sides', () => {
    expect(parseRetryAfterMs('-1')).toBe(0);
    expect(parseRetryAfterMs('9'.repeat(50))).toBe(dayMs);
    expect(parseRetryAfterMs(undefined)).toBeUndefined();
  });
});
