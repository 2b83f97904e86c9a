/**
 * The longest pause. A provider that asks for more is called again after a day, when daily quotas have been renewed.
 */
const longestRetryAfterMs = 24 * 60 * 60 * 1000;

const months = 'jan feb mar apr may jun jul aug sep oct nov dec';
const numberPattern = /^-?(?:\d+(?:\.\d*)?|\.\d+)$/;
/** `Sun, 06 Nov 1994 08:49:37 GMT` and, obsolete, `Sunday, 06-Nov-94 08:49:37 GMT`. */
const datePattern =
  /^[a-z]{3,9}, (?<day>\d\d)[ -](?<month>[a-z]{3})[ -](?<year>(?:\d\d){1,2}) (?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d) (?:gmt|utc)$/i;
/** The obsolete format of C's asctime(): `Sun Nov  6 08:49:37 1994`, in UTC. */
const asctimePattern =
  /^[a-z]{3} (?<month>[a-z]{3}) +(?<day>\d{1,2}) (?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d) (?<year>\d{4})$/i;

/**
 * The pause that the provider asked for, in milliseconds: its `retry-after-ms` (OpenAI, Azure) or `retry-after`.
 * @returns between 0 and one day; undefined when the provider sent neither header, or an unreadable one
 */
export function retryAfterOf(headers: Readonly<Record<string, string>>, nowMs: number): number | undefined {
  return parseRetryAfterMs(headers['retry-after-ms']) ?? parseRetryAfter(headers['retry-after'], nowMs);
}

/** Reads the value of a `retry-after-ms` header, in milliseconds; bounded as in `retryAfterOf`. */
export function parseRetryAfterMs(value: string | undefined): number | undefined {
  const ms = numberOf(value);
  return ms === undefined ? undefined : bounded(ms);
}

/**
 * Reads the value of a `retry-after` header. The value is a number of seconds, also with a fraction, or an HTTP date in
 * one of the three forms of RFC 9110, section 5.6.7. Negative numbers and dates in the past give 0.
 * @returns milliseconds
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

/** A header that was sent twice arrives as "5, 10". The longer pause respects both. */
function numberOf(value: string | undefined): number | undefined {
  if (value === undefined || value.length > 100) return undefined;
  const parts = value.split(',').map((part) => part.trim());
  return parts.every((part) => numberPattern.test(part)) ? Math.max(...parts.map(Number)) : undefined;
}

/** Date.parse would read the third form as local time, and would accept much text that is no date. */
function parseHttpDate(text: string, nowMs: number): number | undefined {
  const groups = (datePattern.exec(text) ?? asctimePattern.exec(text))?.groups;
  if (groups === undefined) return undefined;
  const { month = '', year = '' } = groups;
  const [day, hour, minute, second] = [groups.day, groups.hour, groups.minute, groups.second].map(Number) as Numbers;
  const monthIndex = months.indexOf(month.toLowerCase()) / 4;
  // 60 is a leap second.
  if (monthIndex < 0 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60) return undefined;
  return Date.UTC(
    year.length === 2 ? fullYear(Number(year), nowMs) : Number(year),
    monthIndex,
    day,
    hour,
    minute,
    second,
  );
}

type Numbers = [day: number, hour: number, minute: number, second: number];

/**
 * RFC 9110: a two-digit year that seems more than 50 years ahead means the latest past year with the same two digits.
 */
function fullYear(twoDigits: number, nowMs: number): number {
  const latest = new Date(nowMs).getUTCFullYear() + 50;
  return Math.floor((latest - twoDigits) / 100) * 100 + twoDigits;
}
