/** A longer text is no slip of the keyboard. */
const longestChars = 100;
/** Names that are looked at, and cells of distance tables: an input that is made to cost much finds nothing then. */
const mostNames = 20_000;
const mostCells = 200_000;
const mostSlips = 3;

/**
 * Names that may have been meant by a text, the nearest first: a few letters are missing, too many, wrong or swapped.
 * Of a name with a slash, the part behind the slash alone may have been written, also without its end.
 * @returns up to `max` of the names; none where nothing is near
 * @param isShown  names for which it says no are left out; it is asked of near ones only
 */
export function nearest(
  text: string,
  names: Iterable<string>,
  { max = 3, isShown = () => true }: { max?: number; isShown?: (name: string) => boolean } = {},
): string[] {
  if (text.length < 2 || text.length > longestChars) return [];
  const wanted = text.toLowerCase();
  const wantedTail = tailOf(wanted);
  const found: { name: string; score: number }[] = [];
  const budget = { cells: mostCells };
  let seen = 0;
  for (const name of names) {
    if (++seen > mostNames || budget.cells <= 0) break;
    const score = scoreOf(wanted, wantedTail, name.toLowerCase(), budget);
    if (score !== null) found.push({ name, score });
  }
  found.sort((a, b) => a.score - b.score || (a.name < b.name ? -1 : 1));
  const shown: string[] = [];
  for (const { name } of found) {
    if (shown.length === max) break;
    if (isShown(name)) shown.push(name);
  }
  return shown;
}

/** `; did you mean "a", or "b"?`; nothing for no names. */
export function didYouMean(names: readonly string[]): string {
  return names.length === 0 ? '' : `; did you mean ${names.map((name) => JSON.stringify(name)).join(' or ')}?`;
}

/** The smaller, the nearer; null: not near. */
function scoreOf(wanted: string, wantedTail: string, name: string, budget: { cells: number }): number | null {
  // A long author would make every short name after it look near.
  const complete = distance(wanted, name, Math.min(slipsIn(wanted), Math.max(slipsIn(wantedTail), 1)), budget);
  if (complete !== null) return complete;
  const tail = tailOf(name);
  if (tail === name && wantedTail === wanted) return null;
  const behind = distance(wantedTail, tail, slipsIn(wantedTail), budget);
  if (behind !== null) return behind + 0.5;
  return wantedTail.length >= 4 && tail.startsWith(wantedTail) ? mostSlips + 1 : null;
}

function tailOf(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

/** How many slips a text of this length may have: a short one is soon every other. */
function slipsIn({ length }: string): number {
  return Math.min(mostSlips, Math.floor(length / 3));
}

/**
 * How many letters have to be added, removed, replaced or swapped with the next one (optimal string alignment). Only
 * the cells beside the diagonal are looked at: those further away are beyond the limit.
 * @returns null: more than `limit`
 */
function distance(a: string, b: string, limit: number, budget: { cells: number }): number | null {
  if (a === b) return 0;
  if (Math.abs(a.length - b.length) > limit) return null;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let row = 1; row <= a.length; row++) {
    const from = Math.max(1, row - limit);
    const to = Math.min(b.length, row + limit);
    const now: number[] = new Array(b.length + 1).fill(limit + 1);
    now[0] = row;
    let least = limit + 1;
    for (let at = from; at <= to; at++) {
      const isSame = a[row - 1] === b[at - 1];
      let cost = Math.min(
        (last[at] as number) + 1,
        (now[at - 1] as number) + 1,
        (last[at - 1] as number) + (isSame ? 0 : 1),
      );
      if (row > 1 && at > 1 && a[row - 1] === b[at - 2] && a[row - 2] === b[at - 1])
        cost = Math.min(cost, (before[at - 2] as number) + 1);
      now[at] = cost;
      least = Math.min(least, cost);
    }
    budget.cells -= to - from + 1;
    if (least > limit || budget.cells <= 0) return null;
    before = last;
    last = now;
  }
  const found = last[b.length] as number;
  return found > limit ? null : found;
}
