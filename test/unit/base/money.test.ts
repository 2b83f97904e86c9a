import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  add,
  largestLimitUsd,
  limitToNano,
  multiply,
  nanoToUsd,
  parsePrice,
  picoToNano,
} from '../../../src/base/money.ts';

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
        const pico = BigInt(units) * BigInt(price);
        expect(BigInt(multiply(units, price))).toBe(pico);
        const nano = BigInt(picoToNano(multiply(units, price)));
        expect(nano * 1000n >= pico && (nano - 1n) * 1000n < pico).toBe(true);
      }),
    );
  });
  it('is exact where its products and sums leave the exact numbers', () => {
    // A power of two of up to 60 bits, give or take a little: half of the products lie beyond 2^53.
    const anySize = fc.tuple(fc.nat({ max: 30 }), fc.nat({ max: 2_000 })).map(([bits, more]) => 2 ** bits + more);
    fc.assert(
      fc.property(anySize, anySize, anySize, anySize, (units, price, otherUnits, otherPrice) => {
        const pico = BigInt(units) * BigInt(price) + BigInt(otherUnits) * BigInt(otherPrice);
        const sum = add(multiply(units, price), multiply(otherUnits, otherPrice));
        expect(BigInt(sum)).toBe(pico);
        expect(BigInt(picoToNano(sum))).toBe((pico + 999n) / 1000n);
      }),
      { numRuns: 1_000 },
    );
  });
  it.each([
    [Number.MAX_SAFE_INTEGER, 9_007_199_254_741],
    [9_007_199_254_740_000, 9_007_199_254_740],
    [9_007_199_254_739_001, 9_007_199_254_740],
    [9_007_199_254_738_999, 9_007_199_254_739],
    [1001, 2],
    [1000, 1],
    [999, 1],
  ])('of %d pico-USD is %d nano-USD, be it a number or a big one', (pico, nano) => {
    expect(picoToNano(pico)).toBe(nano);
    expect(picoToNano(BigInt(pico))).toBe(nano);
  });
  it('has prices that are themselves beyond the exact numbers', () => {
    expect(multiply(3, 1e18)).toBe(3_000_000_000_000_000_000n);
    expect(multiply(0, 1e18)).toBe(0);
    expect(add(Number.MAX_SAFE_INTEGER, 1)).toBe(9_007_199_254_740_992n);
    expect(add(1, 2n)).toBe(3n);
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
