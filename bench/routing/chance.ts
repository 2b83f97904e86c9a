/** Random numbers of the simulation. Each depends only on the seed and on its purpose, not on earlier numbers. */

/** Returns numbers in [0, 1); the same seed and keys give the same numbers. */
export function chance(seed: number, ...keys: readonly number[]): () => number {
  let state = mix(seed);
  for (const key of keys) state = mix(state ^ Math.imul(key + 1, 0x9e3779b1));
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    return (mix(state) >>> 0) / 2 ** 32;
  };
}

/** The finaliser of MurmurHash3: each bit of the result depends on all bits of the value. */
function mix(value: number): number {
  let mixed = value ^ (value >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

/** Returns a number of the normal distribution with mean 0 and deviation 1 (Box and Muller). */
export function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

export function exponential(random: () => number, mean: number): number {
  return -mean * Math.log(1 - random());
}
