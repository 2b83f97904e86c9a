/**
 * Makes random numbers in [0, 1) from a seed. The same seed gives the same numbers on every machine. Not for secrets.
 * @param seed  hexadecimal, of at least 8 digits, such as a hash
 */
export function seededRandom(seed: string): () => number {
  let state = Number.parseInt(seed.slice(0, 8), 16) >>> 0;
  // mulberry32 costs one multiplication more than a linear generator, and has no pattern that a random choice could
  // show.
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Random bytes of the platform, for secrets too. */
export function systemRandomBytes(size: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(size));
}
