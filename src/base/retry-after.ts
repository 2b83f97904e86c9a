/** A provider that asks to be left alone for longer is asked again after a day, when daily quotas have been renewed. */
const longestRetryAfterMs = 24 * 60 * 60 * 1000;

const months = 'jan feb mar apr may jun jul aug sep oct nov dec';
const numberPattern = /^-?(?:\d+\.?\d*|\.\d+)$/;
/** `Sun, 06 Nov 1994 08:49:37 GMT` and, obsolete, `Sunday, 06-Nov-94 08:49:37 GMT`. */
const datePattern = /^[a-z]{3,9}, (\d{2})[ -]([a-z]{3})[ -](\d{4}|\d{2}) (\d{2}):(\d{2}):(\d{2}) (?:gmt|utc)$/i;
/** What C's asctime() writes, obsolete: `Sun Nov  6 08:49:37 1994`, in UTC. */
const asctimePattern = /^[a-z]{3} ([a-z]{3}) +(\d{1,2}) (\d{2}):(\d{2}):(\d{2}) (\d{4})$/i;

/**
 * How long the provider asked to be left alone, in milliseconds: its `retry-after-ms` (OpenAI, Azure) or `retry-after`.
 * @returns between 0 and one day; undefined when it did not say, or said nothing understandable
 */
export function retryAfterOf(headers: Readonly<Record<string, string>>, nowMs: number): number | undefined {
  return parseRetryAfterMs(headers['retry-after-ms']) ?? parseRetryAfter(headers['retry-after'], nowMs);
}

/** The value of a `retry-after-ms` header, in milliseconds; bounded as in `retryAfterOf`. */
export function parseRetryAfterMs(value: string | undefined): number | undefined {
  const ms = numberOf(value);
  return ms === undefined ? undefined : bounded(ms);
}

/**
 * The value of a `retry-after` header in milliseconds: seconds, also with a fraction, or an HTTP date in any of the
 * three forms of RFC 9110, section 5.6.7. Negative numbers and dates in the past give 0.
 */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  const seconds = numberOf(value);
  if (seconds !== undefined) return bounded(seconds * 1000);
  const dateMs = value === undefined ? undefined : parseHttpDate(value.trim(), nowMs);
  return dateMs === undefined ? undefined : bounded(dateMs - nowMs);
}

function bounded(ms: number): number {
  return Math.min(Math.max(Math.ceil(ms), 0), longestRetryAfterMs);
}

/** A header sent twice arrives as "5, 10"; the longer wait is meant by both. */
function numberOf(value: string | undefined): number | undefined {
  if (value === undefined || value.length > 100) return undefined;
  const parts = value.split(',').map((part) => part.trim());
  return parts.every((part) => numberPattern.test(part)) ? Math.max(...parts.map(Number)) : undefined;
}

/** Not Date.parse: it takes the third form for local time, and much that is no date for one. */
function parseHttpDate(text: string, nowMs: number): number | undefined {
  const date = datePattern.exec(text);
  if (date !== null) {
    const [, day, month, year, ...time] = date as unknown as [string, string, string, string, string, string, string];
    return utc(year.length === 2 ? fullYear(Number(year), nowMs) : Number(year), month, day, time);
  }
  const asctime = asctimePattern.exec(text);
  if (asctime === null) return undefined;
  const [, month, day, hour, minute, second, year] = asctime as unknown as [string, ...string[]] & string[];
  return utc(Number(year), month ?? '', day ?? '', [hour ?? '', minute ?? '', second ?? '']);
}

function utc(year: number, month: string, day: string, time: readonly string[]): number | undefined {
  const monthIndex = months.indexOf(month.toLowerCase());
  const [hour, minute, second] = time.map(Number);
  if (monthIndex === -1 || hour === undefined || minute === undefined || second === undefined) return undefined;
  // 60 is a leap second.
  if (Number(day) < 1 || Number(day) > 31 || hour > 23 || minute > 59 || second > 60) return undefined;
  return Date.UTC(year, monthIndex / 4, Number(day), hour, minute, second);
}

/** RFC 9110: a two-digit year that seems to be more than 50 years ahead is the latest past year with these digits. */
function fullYear(twoDigits: number, nowMs: number): number {
  const latest = new Date(nowMs).getUTCFullYear() + 50;
  return Math.floor((latest - twoDigits) / 100) * 100 + twoDigits;
}
