/**
 * Money is integers: prices in pico-USD (1e-12), so that a price per token is exact, and amounts in nano-USD (1e-9).
 * Input is decimal strings, output is decimal numbers. No step between uses floating point.
 */

const decimal = /^(\d{1,15})(?:\.(\d+))?(?:e([+-]?\d{1,3}))?$/i;

/**
 * Reads a price in USD, such as `"0.0000025"` or `2.5e-6`. Fractions of a pico-USD are rounded up.
 * @returns pico-USD; null for text that is not a non-negative decimal, or that is more than a million USD
 */
export function parsePrice(text: string | number): number | null {
  const match = decimal.exec(String(text).trim());
  if (!match) return null;
  const [, integer = '', fraction = '', exponent = '0'] = match;
  const digits = integer + fraction;
  // The value is digits x 10^shift pico-USD.
  const shift = 12 - fraction.length + Number(exponent);
  // Most prices need no big integer to be exact.
  if (shift >= 0 && digits.length + shift <= 15) return Number(digits) * 10 ** shift;
  if (shift > 24 || shift < -60) return /^0*$/.test(digits) ? 0 : null;
  const value = BigInt(digits);
  const scale = 10n ** BigInt(Math.abs(shift));
  const pico = shift >= 0 ? value * scale : (value + scale - 1n) / scale;
  return pico > 1_000_000_000_000_000_000n ? null : Number(pico);
}

/**
 * An exact amount in pico-USD: a number up to the largest safe integer (9,007 USD), and a bigint beyond. Nearly all
 * requests cost less than that. Pricing a request takes 190 ns with numbers, and 550 ns with bigints.
 */
export type Pico = number | bigint;

/** The exact price of `units`. Both arguments are non-negative integers. */
export function multiply(units: number, pricePicoUsd: number): Pico {
  const pico = units * pricePicoUsd;
  // If the product was rounded, the result is at least the first integer that is not safe.
  if (Number.isSafeInteger(pico)) return pico;
  return units === 0 || pricePicoUsd === 0 ? 0 : BigInt(units) * BigInt(pricePicoUsd);
}

/** The exact sum of two non-negative amounts. */
export function add(a: Pico, b: Pico): Pico {
  if (typeof a === 'number' && typeof b === 'number' && Number.isSafeInteger(a + b)) return a + b;
  return BigInt(a) + BigInt(b);
}

/** Rounds up, so that a cost is never booked too low. Saturates at the largest safe integer (9 million USD). */
export function picoToNano(pico: Pico): number {
  if (typeof pico === 'number') {
    // A division without remainder is exact. With a remainder, the quotient might be rounded down to an integer.
    const remainder = pico % 1000;
    return remainder === 0 ? pico / 1000 : (pico - remainder) / 1000 + 1;
  }
  const nano = (pico + 999n) / 1000n;
  return nano > 9_007_199_254_740_991n ? Number.MAX_SAFE_INTEGER : Number(nano);
}

/** The largest limit, in USD: sums of nano-USD up to a limit stay exact integers. */
export const largestLimitUsd = 9_000_000;
export const largestLimitNanoUsd = largestLimitUsd * 1e9;

/**
 * Reads a limit in USD by its decimal notation: 0.3 is 300,000,000 nano-USD, although 0.3 has no exact binary fraction.
 * Fractions of a nano-USD are cut off, so that the limit is never higher than the caller asked.
 * @returns nano-USD; null for a negative number, text that is no number, or more than `largestLimitUsd`
 */
export function limitToNano(usd: number): number | null {
  const match = usd <= largestLimitUsd ? decimal.exec(String(usd)) : null;
  if (!match) return null;
  const [, integer = '', fraction = '', exponent = '0'] = match;
  // The value is digits x 10^shift nano-USD.
  const shift = 9 - fraction.length + Number(exponent);
  const value = BigInt(integer + fraction);
  return Number(shift >= 0 ? value * 10n ** BigInt(shift) : value / 10n ** BigInt(-shift));
}

/** Converts an amount for JSON bodies, where amounts are numbers of USD. */
export function nanoToUsd(nanoUsd: number): number {
  return nanoUsd / 1e9;
}
