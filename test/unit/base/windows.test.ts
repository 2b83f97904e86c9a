import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Interval, intervals, windowOf } from '../../../src/base/windows.ts';

const dayMs = 86_400_000;
const at = (text: string) => {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new Error(`no instant: ${text}`);
  return ms;
};
const shown = (interval: Interval, ms: number) => {
  const { startMs, endMs } = windowOf(interval, ms);
  return `${new Date(startMs).toISOString()} ${endMs === null ? 'never' : new Date(endMs).toISOString()}`;
};
const midnight = (day: string) => `${day}T00:00:00.000Z`;

// Checked by hand against a printed calendar, and week numbers of ISO 8601.
const table: [instant: string, interval: Interval, from: string, to: string][] = [
  // A leap day, its eve, and the day after it.
  ['2024-02-28T23:59:59.999Z', 'daily', '2024-02-28', '2024-02-29'],
  ['2024-02-29T00:00:00.000Z', 'daily', '2024-02-29', '2024-03-01'],
  ['2024-02-29T23:59:59.999Z', 'daily', '2024-02-29', '2024-03-01'],
  ['2024-02-29T12:00:00.000Z', 'monthly', '2024-02-01', '2024-03-01'],
  ['2023-02-28T23:59:59.999Z', 'monthly', '2023-02-01', '2023-03-01'],
  ['2024-02-29T12:00:00.000Z', 'weekly', '2024-02-26', '2024-03-04'],
  // No leap year, though divisible by four; and one that is, though divisible by a hundred.
  ['2100-02-28T12:00:00.000Z', 'daily', '2100-02-28', '2100-03-01'],
  ['2000-02-29T12:00:00.000Z', 'daily', '2000-02-29', '2000-03-01'],
  // The turn of a year.
  ['2025-12-31T23:59:59.999Z', 'daily', '2025-12-31', '2026-01-01'],
  ['2025-12-31T23:59:59.999Z', 'monthly', '2025-12-01', '2026-01-01'],
  ['2026-01-01T00:00:00.000Z', 'monthly', '2026-01-01', '2026-02-01'],
  // Week 1 of 2026 begins in 2025.
  ['2025-12-28T23:59:59.999Z', 'weekly', '2025-12-22', '2025-12-29'],
  ['2025-12-29T00:00:00.000Z', 'weekly', '2025-12-29', '2026-01-05'],
  ['2026-01-04T23:59:59.999Z', 'weekly', '2025-12-29', '2026-01-05'],
  ['2026-01-05T00:00:00.000Z', 'weekly', '2026-01-05', '2026-01-12'],
  // Week 53 of 2020 ends in 2021, that of 2026 in 2027, that of 2032 in 2033.
  ['2020-12-28T00:00:00.000Z', 'weekly', '2020-12-28', '2021-01-04'],
  ['2021-01-03T23:59:59.999Z', 'weekly', '2020-12-28', '2021-01-04'],
  ['2026-12-31T12:00:00.000Z', 'weekly', '2026-12-28', '2027-01-04'],
  ['2033-01-02T23:59:59.999Z', 'weekly', '2032-12-27', '2033-01-03'],
  // A Monday that is the 1st: all begin at once.
  ['2026-06-01T00:00:00.000Z', 'daily', '2026-06-01', '2026-06-02'],
  ['2026-06-01T00:00:00.000Z', 'weekly', '2026-06-01', '2026-06-08'],
  ['2026-06-01T00:00:00.000Z', 'monthly', '2026-06-01', '2026-07-01'],
  // Months of 30 and of 31 days.
  ['2026-04-30T23:59:59.999Z', 'monthly', '2026-04-01', '2026-05-01'],
  ['2026-07-31T23:59:59.999Z', 'monthly', '2026-07-01', '2026-08-01'],
  // Where clocks are put forward and back elsewhere; a leap second.
  ['2026-03-29T01:30:00.000Z', 'daily', '2026-03-29', '2026-03-30'],
  ['2026-10-25T01:30:00.000Z', 'weekly', '2026-10-19', '2026-10-26'],
  ['2016-12-31T23:59:59.999Z', 'daily', '2016-12-31', '2017-01-01'],
  // The first instants there are.
  ['1970-01-01T00:00:00.000Z', 'daily', '1970-01-01', '1970-01-02'],
  ['1970-01-01T00:00:00.000Z', 'weekly', '1969-12-29', '1970-01-05'],
  ['1970-01-01T00:00:00.000Z', 'monthly', '1970-01-01', '1970-02-01'],
];

describe('windowOf', () => {
  it.each(table)('%s, %s: %s to %s', (instant, interval, from, to) => {
    expect(shown(interval, at(instant))).toBe(`${midnight(from)} ${midnight(to)}`);
  });
  it('of a lifetime has no end, and is the same at any time', () => {
    for (const ms of [0, at('2026-02-03T04:05:06Z'), at('2100-12-31T23:59:59.999Z')]) {
      expect(windowOf('lifetime', ms)).toEqual({ startMs: 0, endMs: null });
    }
  });
});

const finite = intervals.filter((interval) => interval !== 'lifetime');
const anyInterval = fc.constantFrom<Interval[]>(...finite);
const anyInstant = fc.integer({ min: 0, max: Date.UTC(2101, 0) - 1 });
/** Around every kind of boundary: each day of 1970 to 2100 begins somewhere in here. */
const nearMidnight = fc
  .tuple(fc.integer({ min: 1, max: Date.UTC(2101, 0) / dayMs - 1 }), fc.constantFrom(-1, 0, 1))
  .map(([day, off]) => day * dayMs + off);

describe('windows, 1970 to 2100,', () => {
  const holds = (property: fc.IProperty<[Interval, number]>) => fc.assert(property, { numRuns: 3_000 });
  const instant = fc.oneof(anyInstant, nearMidnight);

  it('hold their instant', () => {
    holds(
      fc.property(anyInterval, instant, (interval, ms) => {
        const { startMs, endMs } = windowOf(interval, ms);
        expect(startMs <= ms && ms < endMs!).toBe(true);
      }),
    );
  });
  it('are the same from their first millisecond to their last, and others beyond', () => {
    holds(
      fc.property(anyInterval, instant, (interval, ms) => {
        const window = windowOf(interval, ms);
        const [startMs, endMs] = [window.startMs, window.endMs!];
        for (const inside of [startMs, startMs + 1, endMs - 1]) expect(windowOf(interval, inside)).toEqual(window);
        expect(windowOf(interval, endMs).startMs).toBe(endMs);
        expect(windowOf(interval, startMs - 1).endMs).toBe(startMs);
      }),
    );
  });
  it('begin at midnight: on that day, on a Monday, on the 1st', () => {
    holds(
      fc.property(anyInterval, instant, (interval, ms) => {
        const start = new Date(windowOf(interval, ms).startMs);
        expect(start.toISOString().slice(10)).toBe('T00:00:00.000Z');
        if (interval === 'daily')
          expect(start.toISOString().slice(0, 10)).toBe(new Date(ms).toISOString().slice(0, 10));
        if (interval === 'weekly') expect(start.getUTCDay()).toBe(1);
        if (interval === 'monthly')
          expect(start.toISOString().slice(0, 10)).toBe(`${new Date(ms).toISOString().slice(0, 7)}-01`);
      }),
    );
  });
  it('last a day, a week, 28 to 31 days', () => {
    holds(
      fc.property(anyInterval, instant, (interval, ms) => {
        const { startMs, endMs } = windowOf(interval, ms);
        const days = (endMs! - startMs) / dayMs;
        expect(interval === 'daily' ? [1] : interval === 'weekly' ? [7] : [28, 29, 30, 31]).toContain(days);
      }),
    );
  });
  it('a day lies in one week and in one month, whole', () => {
    fc.assert(
      fc.property(instant, (ms) => {
        const day = windowOf('daily', ms);
        for (const broader of ['weekly', 'monthly'] as const) {
          const { startMs, endMs } = windowOf(broader, ms);
          expect(startMs <= day.startMs && day.endMs! <= endMs!).toBe(true);
        }
      }),
      { numRuns: 2_000 },
    );
  });
  it('follow each other without a gap: every one of 131 years', () => {
    for (const interval of finite) {
      let count = 0;
      const endMs = Date.UTC(2101, 0);
      for (let ms = windowOf(interval, 0).startMs; ms < endMs; count++) {
        const window = windowOf(interval, ms);
        if (window.startMs !== ms) throw new Error(`a gap before ${new Date(window.startMs).toISOString()}`);
        ms = window.endMs!;
      }
      // 131 years of 365 days, and 32 leap days; the week of the first day begins three days before it.
      const days = 131 * 365 + 32;
      expect(count).toBe({ daily: days, weekly: Math.ceil((days + 3) / 7), monthly: 131 * 12 }[interval as 'daily']);
    }
  });
});
