/** The longest text for which names are searched: a longer text is no typing error. */
const longestChars = 100;
/**
 * The most names that are compared, and the most cells of distance tables. An input that is made to cost much then
 * finds nothing.
 */
const mostNames = 20_000;
const mostCells = 200_000;
const mostSlips = 3;

/**
 * Finds the names that a text may mean, the nearest first: a few letters are missing, too many, wrong or swapped. For a
 * name with a slash, the text may be only the part after the slash, also without its end.
 * @returns up to `max` of the names; none where nothing is near
 * @param isShown  tells whether a name may be in the result; it is called for near names only
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

/** Writes `; did you mean "a", or "b"?`; an empty text for no names. */
export function didYouMean(names: readonly string[]): string {
  return names.length === 0 ? '' : `; did you mean ${names.map((name) => JSON.stringify(name)).join(' or ')}?`;
}

/** The distance of a name: the smaller, the nearer; null: not near. */
function scoreOf(wanted: string, wantedTail: string, name: string, budget: { cells: number }): number | null {
  // A limit that counts the author would make every short name of a long author look near.
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

/** The most wrong letters for a text of this length. A short text with many wrong letters could be any other. */
function slipsIn({ length }: string): number {
  return Math.min(mostSlips, Math.floor(length / 3));
}

/**
 * The number of letters to add, remove, replace or swap with the next one (optimal string alignment). Only the cells
 * beside the diagonal are computed: those further away are beyond the limit.
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
