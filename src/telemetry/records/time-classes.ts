/**
 * Each class of times ends this much later than the one before: a percentile of classes is at most a fourteenth off,
 * and all times from a millisecond to ten minutes are less than a hundred classes.
 */
const growth = 1.15;
const logGrowth = Math.log(growth);

/** The class of a time, for counting; 0: less than a millisecond. */
export function classOf(ms: number): number {
  return ms < 1 ? 0 : 1 + Math.floor(Math.log(ms) / logGrowth);
}

/** The class of a time of a hundred years: none is higher. */
const lastClass = 210;

/** The time in the middle of a class, ms. */
function timeOf(timeClass: number): number {
  return timeClass === 0 ? 0 : growth ** (timeClass - 0.5);
}

/**
 * Counts by class as a text of pairs, such as `31:2,40:1`: two times of class 31, one of class 40. Most rows are read for
 * something else than their times, and a text costs less to read past than numbers.
 */
export function timesText(counts: readonly number[]): string {
  let text = '';
  for (const [timeClass, count] of counts.entries())
    if (count > 0) text += `${text === '' ? '' : ','}${timeClass}:${count}`;
  return text;
}

/**
 * Adds the counts of a text to those of an array.
 * @param counts  by class, without holes
 */
export function addTimes(counts: number[], text: string): void {
  let timeClass = 0;
  let number = 0;
  // Read by hand: a split for each of ten thousand cells takes tens of milliseconds.
  for (let at = 0; at <= text.length && text !== ''; at++) {
    const code = at === text.length ? comma : text.charCodeAt(at);
    if (code === colon) {
      timeClass = number;
      number = 0;
    } else if (code === comma) {
      if (timeClass > lastClass) return;
      while (counts.length <= timeClass) counts.push(0);
      counts[timeClass] = (counts[timeClass] as number) + number;
      number = 0;
    } else number = number * 10 + code - zero;
  }
}

const [zero, colon, comma] = [48, 58, 44];

/** Percentiles of times, in whole milliseconds. */
export interface TimePercentiles {
  p50: number;
  p95: number;
  p99: number;
}

/** @param counts  the number of times by class  @returns null: there are none */
export function percentilesOf(counts: readonly number[]): TimePercentiles | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const at = (share: number) => {
    let seen = 0;
    for (const [timeClass, count] of counts.entries()) {
      seen += count;
      if (seen >= total * share) return Math.round(timeOf(timeClass));
    }
    return Math.round(timeOf(counts.length - 1));
  };
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}
