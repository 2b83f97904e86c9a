/** Returns the percentile for `p` from 0 to 1, interpolated between neighbours; NaN for no values. */
export function percentile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * p;
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below + (above - below) * (at - Math.floor(at));
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/**
 * Compares two servers that took turns: the median of the ratios within each round. A disturbance of the machine that
 * is longer than a round then affects both servers alike. Rounds without a value for both servers are ignored.
 */
export function medianRatio(values: readonly number[], floor: readonly number[]): number {
  return median(pairs(values, floor).map(([value, base]) => value / base));
}

/** Like `medianRatio`, but with differences. */
export function medianDifference(values: readonly number[], floor: readonly number[]): number {
  return median(pairs(values, floor).map(([value, base]) => value - base));
}

function pairs(values: readonly number[], others: readonly number[]): [number, number][] {
  const length = Math.min(values.length, others.length);
  return Array.from({ length }, (_, at) => [values[at] as number, others[at] as number]);
}
