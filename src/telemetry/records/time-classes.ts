/**
 * Each class of times ends this much later than the one before: a percentile of classes is at most a fourteenth off,
 * and all times from a millisecond to ten minutes are less than a hundred classes.
 */
const growth = 1.15;
const logGrowth = Math.log(growth);

/** The class of a time of a hundred years: none is higher. */
const lastClass = 210;

/** The class of a time, for counting; 0: less than a millisecond. */
export function classOf(ms: number): number {
  return ms >= 1 ? Math.min(lastClass, 1 + Math.floor(Math.log(ms) / logGrowth)) : 0;
}

/** The time in the middle of a class, ms. */
function timeOf(timeClass: number): number {
  return timeClass === 0 ? 0 : growth ** (timeClass - 0.5);
}

/** Counts by class as pairs, such as `[31, 2, 40, 1]`: two times of class 31, one of class 40. The classes ascend. */
export type Times = readonly number[];

/** The same as a text, such as `31:2,40:1`: a text costs less to read past than numbers. */
export function timesText(counts: readonly number[]): string {
  let text = '';
  for (const [timeClass, count] of counts.entries())
    if (count > 0) text += `${text === '' ? '' : ','}${timeClass}:${count}`;
  return text;
}

/** Reads a text of counts. @returns null: the text is damaged */
export function timesOf(text: string): Times | null {
  if (text === '') return none;
  const times: number[] = [];
  let number = 0;
  let isClass = true;
  let last = -1;
  let begin = 0;
  // Read by hand: a split for each of ten thousand cells takes tens of milliseconds.
  for (let at = 0; at <= text.length; at++) {
    const code = at === text.length ? comma : text.charCodeAt(at);
    if (code === (isClass ? colon : comma)) {
      if (at === begin || (isClass && (number <= last || number > lastClass))) return null;
      if (isClass) last = number;
      times.push(number);
      number = 0;
      isClass = !isClass;
      begin = at + 1;
    } else if (code < zero || code > nine) return null;
    else number = number * 10 + code - zero;
  }
  return isClass ? times : null;
}

const [zero, nine, colon, comma] = [48, 57, 58, 44];
const none: Times = [];

/**
 * Adds counts to those of an array.
 * @param counts  by class, without holes
 */
export function addTimes(counts: number[], times: Times): void {
  if (times.length === 0) return;
  const last = times[times.length - 2] as number;
  while (counts.length <= last) counts.push(0);
  for (let at = 0; at < times.length; at += 2)
    counts[times[at] as number] = (counts[times[at] as number] as number) + (times[at + 1] as number);
}

/** Percentiles of times, in whole milliseconds. */
export interface TimePercentiles {
  p50: number;
  p95: number;
  p99: number;
}

/** @param counts  the number of times by class  @returns null: there are none */
export function percentilesOf(counts: readonly number[]): TimePercentiles | null {
  let total = 0;
  for (const count of counts) total += count;
  if (total === 0) return null;
  let seen = 0;
  let timeClass = -1;
  // From the shortest on, in the order of the shares.
  const upTo = (share: number) => {
    while (seen < total * share && timeClass < counts.length - 1) seen += counts[++timeClass] as number;
    return Math.round(timeOf(timeClass));
  };
  return { p50: upTo(0.5), p95: upTo(0.95), p99: upTo(0.99) };
}
