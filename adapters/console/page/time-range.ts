import type { Activity } from './types.ts';

const minute = 60_000;

/** Times that can be looked at: their lengths, and the lengths of the buckets that the server sums by. */
export const ranges = {
  '1h': { text: 'Last hour', lengthMs: 60 * minute, grain: 'minute', grainMs: minute },
  '24h': { text: 'Last 24 hours', lengthMs: 1_440 * minute, grain: 'hour', grainMs: 60 * minute },
  '7d': { text: 'Last 7 days', lengthMs: 10_080 * minute, grain: 'hour', grainMs: 60 * minute },
  '30d': { text: 'Last 30 days', lengthMs: 43_200 * minute, grain: 'day', grainMs: 1_440 * minute },
} as const;
export type RangeName = keyof typeof ranges;

const day = { grain: 'day', grainMs: 1_440 * minute } as const;

/** Times that the sums of one user can be looked at: they are kept by day (UTC). */
export const daysOfUsers = {
  '24h': { text: 'Today (UTC)', lengthMs: 1_440 * minute, ...day },
  '7d': { text: '7 days', lengthMs: 10_080 * minute, ...day },
  '30d': ranges['30d'],
} as const;

/** The times that an address may name. */
export type Ranges = Readonly<
  Record<string, (typeof ranges)[RangeName] | (typeof daysOfUsers)[keyof typeof daysOfUsers]>
>;

/** The range that an address names. */
export function rangeOf(name: string | null, of: Ranges, otherwise: string): string {
  return name !== null && Object.hasOwn(of, name) ? name : otherwise;
}

/** A range that ends now. */
export interface TimeRange {
  grain: 'minute' | 'hour' | 'day';
  /** Seconds since 1970, as the operation takes them. */
  from: number;
  to: number;
  /** The beginning of each bucket, epoch ms. */
  times: number[];
}

export function rangeUntil({ lengthMs, grain, grainMs }: Ranges[string], nowMs: number): TimeRange {
  const lastMs = Math.floor(nowMs / grainMs) * grainMs;
  const firstMs = lastMs - lengthMs + grainMs;
  const times = Array.from({ length: lengthMs / grainMs }, (_, at) => firstMs + at * grainMs);
  return { grain, from: firstMs / 1000, to: (lastMs + grainMs) / 1000, times };
}

/** A row for each time; null where nothing happened. */
export function rowsAt(times: readonly number[], rows: readonly Activity[]): (Activity | null)[] {
  const byTime = new Map(rows.map((row) => [Date.parse(row.time ?? ''), row]));
  return times.map((ms) => byTime.get(ms) ?? null);
}
