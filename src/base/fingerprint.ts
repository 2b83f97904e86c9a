/** Of a longer text the beginning and the end stand for the whole. */
const sampledChars = 128;

/**
 * A short name for texts: the same for the same, and hardly ever for others. Cheap, bounded, and easily forged: not for
 * what a caller could gain by.
 */
export function fingerprintOf(texts: readonly string[]): string {
  // Two multiplicative hashes side by side: one alone would be of 32 bits, with a collision among 65,000.
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (const text of texts) {
    const { length } = text;
    high = Math.imul(high ^ length, 2654435761);
    low = Math.imul(low ^ length, 1597334677);
    const isWhole = length <= 2 * sampledChars;
    for (let at = 0; at < length; at++) {
      if (!isWhole && at === sampledChars) at = length - sampledChars;
      const code = text.charCodeAt(at);
      high = Math.imul(high ^ code, 2654435761);
      low = Math.imul(low ^ code, 1597334677);
    }
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return `${(high >>> 0).toString(36)}.${(low >>> 0).toString(36)}`;
}
