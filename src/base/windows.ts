/** The time after which a budget starts again from zero; `lifetime`: never. */
export type Interval = 'daily' | 'weekly' | 'monthly' | 'lifetime';

/** The intervals from the narrowest to the broadest. */
export const intervals = ['daily', 'weekly', 'monthly', 'lifetime'] as const satisfies readonly Interval[];

const dayMs = 86_400_000;

/**
 * The window of an interval that contains an instant. All windows are in UTC: a day begins at midnight, a week on
 * Monday (ISO 8601), a month on the 1st.
 * @param atMs  epoch ms
 * @returns epoch ms, the start inclusive, the end exclusive; `{ startMs: 0, endMs: null }` for `lifetime`
 */
export function windowOf(interval: Interval, atMs: number): { startMs: number; endMs: number | null } {
  if (interval === 'lifetime') return { startMs: 0, endMs: null };
  if (interval === 'monthly') {
    const at = new Date(atMs);
    const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
    return { startMs: Date.UTC(year, month), endMs: Date.UTC(year, month + 1) };
  }
  // A UTC day always has 86,400,000 ms: epoch time has no leap seconds.
  const day = Math.floor(atMs / dayMs);
  if (interval === 'daily') return { startMs: day * dayMs, endMs: (day + 1) * dayMs };
  // Day 0 was a Thursday, three days after a Monday.
  const monday = Math.floor((day + 3) / 7) * 7 - 3;
  return { startMs: monday * dayMs, endMs: (monday + 7) * dayMs };
}
