import type { Percentiles } from '../../call/facts.ts';

/**
 * Counts values in buckets of equal ratio. Two histograms add up bucket by bucket, so the values of several instances
 * make one histogram. Only the range from the first used bucket to the last is stored: the values of an endpoint are
 * close together.
 */
export interface Histogram {
  /** The bucket of `counts[0]`. */
  first: number;
  counts: number[];
}

/** The lower end of bucket 0. The 20 octaves above cover 1 ms to 17 minutes, and 0.1 to 100,000 tokens per second. */
export const lowest = { firstTokenMs: 1, tokensPerSecond: 0.1 } as const;

export const bucketCount = 80;
/**
 * A percentile lies in the same bucket as the nearest-rank value. So the two differ by less than the ratio of a bucket,
 * 2^(1/4): at most 19 % too high, at most 16 % too low.
 */
const bucketsPerOctave = 4;

/** @returns -1: there is no value to count. A value beyond an end counts in the bucket at that end. */
export function bucketOf(value: number | undefined, lowestValue: number): number {
  if (value === undefined || !(value >= 0) || value === Number.POSITIVE_INFINITY) return -1;
  if (value <= lowestValue) return 0;
  return Math.min(bucketCount - 1, Math.floor(Math.log2(value / lowestValue) * bucketsPerOctave));
}

/** Counts one more value. @returns the histogram, a new one for null */
export function count(histogram: Histogram | null, bucket: number): Histogram {
  if (histogram === null) return { first: bucket, counts: [1] };
  const { counts } = histogram;
  let at = bucket - histogram.first;
  if (at < 0) {
    counts.unshift(...new Array<number>(-at).fill(0));
    histogram.first = bucket;
    at = 0;
  }
  while (counts.length <= at) counts.push(0);
  counts[at] = (counts[at] as number) + 1;
  return histogram;
}

/** A new histogram with the counts of both. */
export function added(one: Histogram, other: Histogram): Histogram {
  const first = Math.min(one.first, other.first);
  const end = Math.max(one.first + one.counts.length, other.first + other.counts.length);
  const sum = new Array<number>(end - first).fill(0);
  for (const part of [one, other]) {
    const from = part.first - first;
    for (let i = 0; i < part.counts.length; i++) sum[from + i] = (sum[from + i] as number) + (part.counts[i] as number);
  }
  return { first, counts: sum };
}

/** The sum of several histograms. */
export interface Total {
  /** By bucket. */
  counts: Float64Array;
  total: number;
}

export function emptyTotal(): Total {
  return { counts: new Float64Array(bucketCount), total: 0 };
}

export function addTo(sum: Total, { first, counts }: Histogram): void {
  for (let i = 0; i < counts.length; i++) {
    const n = counts[i] as number;
    sum.counts[first + i] = (sum.counts[first + i] as number) + n;
    sum.total += n;
  }
}

/**
 * The percentile by nearest rank. Inside a bucket, values count as if they were spread evenly over its ratio.
 * @param percent  0 to 100: this part of the values is at most the result
 */
export function percentile({ counts, total }: Total, percent: number, lowestValue: number): number {
  const rank = rankOf(percent, total);
  let before = 0;
  for (let bucket = 0; bucket < bucketCount; bucket++) {
    const n = counts[bucket] as number;
    if (before + n >= rank) return valueAt(bucket + (rank - before - 0.5) / n, lowestValue);
    before += n;
  }
  return 0;
}

/** Like `percentile`, from above: `percent` of the values are at least the result. */
export function percentileReached({ counts, total }: Total, percent: number, lowestValue: number): number {
  const rank = rankOf(percent, total);
  let before = 0;
  for (let bucket = bucketCount - 1; bucket >= 0; bucket--) {
    const n = counts[bucket] as number;
    if (before + n >= rank) return valueAt(bucket + 1 - (rank - before - 0.5) / n, lowestValue);
    before += n;
  }
  return 0;
}

/** @param read  `percentile` or `percentileReached` */
export function percentiles(total: Total, lowestValue: number, read: typeof percentile): Percentiles {
  return {
    p50: read(total, 50, lowestValue),
    p75: read(total, 75, lowestValue),
    p90: read(total, 90, lowestValue),
    p99: read(total, 99, lowestValue),
  };
}

/** Ranks begin at 1. */
function rankOf(percent: number, total: number): number {
  return Math.max(1, Math.ceil((percent * total) / 100));
}

function valueAt(position: number, lowestValue: number): number {
  return lowestValue * 2 ** (position / bucketsPerOctave);
}
