/** The value below which the share `p`, from 0 to 1, of the values lies, interpolated between neighbours. NaN for none. */
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
 * How two servers compare that took turns: the median of the ratios within each round, so that what disturbs the machine
 * for longer than a round disturbs both alike. Rounds that one of them lacks are left out.
 */
export function medianRatio(values: readonly number[], floor: readonly number[]): number {
  return median(pairs(values, floor).map(([value, base]) => value / base));
}

/** As `medianRatio`, of the differences. */
export function medianDifference(values: readonly number[], floor: readonly number[]): number {
  return median(pairs(values, floor).map(([value, base]) => value - base));
}

function pairs(values: readonly number[], others: readonly number[]): [number, number][] {
  const length = Math.min(values.length, others.length);
  return Array.from({ length }, (_, at) => [values[at] as number, others[at] as number]);
}
