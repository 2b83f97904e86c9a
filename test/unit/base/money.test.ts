import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { largestLimitUsd, limitToNano, multiply, nanoToUsd, parsePrice, picoToNano } from '../../../src/base/money.ts';

describe('a price', () => {
  it.each<[string | number, number | null]>([
    ['0', 0],
    ['1', 1e12],
    ['0.0000025', 2_500_000],
    ['0.00000025', 250_000],
    [2.5e-6, 2_500_000],
    ['2.5e-6', 2_500_000],
    ['2.5E-6', 2_500_000],
    ['1e-12', 1],
    ['1e-13', 1],
    ['0.0000000000001', 1],
    ['0e-300', 0],
    ['1e-300', null],
    [' 1.5 ', 1_500_000_000_000],
    ['1000000', 1e18],
    ['1000001', null],
    ['1e20', null],
    ['-1', null],
    ['+1', null],
    ['1,5', null],
    ['.5', null],
    ['1.', null],
    ['', null],
    ['0x10', null],
    ['Infinity', null],
    [Number.NaN, null],
    [Number.POSITIVE_INFINITY, null],
    [-0.1, null],
  ])('%j is %j pico-USD', (text, pico) => {
    expect(parsePrice(text)).toBe(pico);
  });
  it('is exact for every decimal of up to twelve places', () => {
    fc.assert(
      fc.property(fc.nat({ max: 999 }), fc.bigInt({ min: 0n, max: 999_999_999_999n }), (whole, fraction) => {
        const pico = BigInt(whole) * 10n ** 12n + fraction;
        expect(parsePrice(`${whole}.${fraction.toString().padStart(12, '0')}`)).toBe(Number(pico));
      }),
    );
  });
});

describe('an amount', () => {
  it('is units at a price, exactly, rounded up once and never too low', () => {
    fc.assert(
      fc.property(fc.nat({ max: 100_000_000 }), fc.nat({ max: 2_000_000_000 }), (units, price) => {
        const pico = multiply(units, price);
        expect(pico).toBe(BigInt(units) * BigInt(price));
        const nano = BigInt(picoToNano(pico));
        expect(nano * 1000n >= pico && (nano - 1n) * 1000n < pico).toBe(true);
      }),
    );
  });
  it('saturates instead of turning inexact', () => {
    expect(picoToNano(10n ** 30n)).toBe(Number.MAX_SAFE_INTEGER);
    expect(picoToNano(0n)).toBe(0);
    expect(picoToNano(1n)).toBe(1);
  });
  it('is a number of USD on the wire', () => {
    expect(nanoToUsd(3_950_000)).toBe(0.00395);
  });
});

describe('a limit', () => {
  it.each<[number, number | null]>([
    [0, 0],
    [-0, 0],
    [1, 1_000_000_000],
    [0.3, 300_000_000],
    // As written in decimal, not as the binary fraction is; never more than was said.
    [0.1 + 0.2, 300_000_000],
    [1.9999999999, 1_999_999_999],
    [1e-9, 1],
    [9.99e-10, 0],
    [5e-324, 0],
    [1.5e-8, 15],
    [123.456789012, 123_456_789_012],
    [largestLimitUsd, 9_000_000_000_000_000],
    [8_388_607.999999999, 8_388_607_999_999_999],
    [largestLimitUsd + 1e-8, null],
    [1e21, null],
    [-1, null],
    [-1e-9, null],
    [Number.NaN, null],
    [Number.POSITIVE_INFINITY, null],
    [Number.NEGATIVE_INFINITY, null],
  ])('of %d USD is %j nano-USD', (usd, nano) => {
    expect(limitToNano(usd)).toBe(nano);
  });
  it('comes back as it was, to the nano-USD, as long as a number can tell two of them apart', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 23 * 1e9 }), (nano) => {
        expect(limitToNano(nanoToUsd(nano))).toBe(nano);
      }),
    );
  });
});
