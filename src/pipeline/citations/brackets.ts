/** The places where the targets of inline links end, by the place of the bracket that they begin with. */
export interface Brackets {
  /** The place of the bracket that closes the target, in the same run without spaces. */
  closing: ReadonlyMap<number, number>;
  /** The place of the space that ends the target, where no other bracket is open: a title may follow. */
  space: ReadonlyMap<number, number>;
}

/** A bracket that is open. */
interface Open {
  at: number;
  /** The place where the run of the bracket ends; spaces that follow the bracket itself do not end it. */
  runEnd: number;
}

/**
 * The closing bracket of each opening one. Each width counts by itself: in an address, brackets of the other width are
 * ordinary characters.
 */
const closers: Readonly<Record<string, string>> = { ')': '(', '）': '（' };
/** The most brackets that are read; the rest is text. */
const mostPlaces = 50_000;
const places = /\\[!-/:-@[-`{-~]|[()（）]/g;
const spaces = /[\s\p{Cc}]/gu;
const text = /[^\s\p{Cc}]/gu;

/**
 * Pairs the brackets of a text as CommonMark pairs those of a link's target: balanced, within a run without spaces, and
 * not behind a backslash. One pass finds the pairs of all brackets together.
 */
export function bracketsIn(whole: string): Brackets {
  const closing = new Map<number, number>();
  const space = new Map<number, number>();
  const open: Record<string, Open[]> = { '(': [], '（': [] };
  const nextText = finder(text, whole);
  const nextSpace = finder(spaces, whole);

  function endRun(stack: Open[], at: number): void {
    const last = stack.at(-1);
    if (last === undefined || last.runEnd >= at) return;
    space.set(last.at, last.runEnd);
    stack.length = 0;
  }

  let left = mostPlaces;
  for (const { 0: one, index: at } of whole.matchAll(places)) {
    if (left-- === 0) break;
    const own = open[one];
    const stack = own ?? open[closers[one] ?? ''];
    if (stack === undefined) continue;
    endRun(stack, at);
    if (own !== undefined) own.push({ at, runEnd: nextSpace(nextText(at + 1)) });
    else {
      const opener = stack.pop();
      if (opener !== undefined && opener.runEnd >= at) closing.set(opener.at, at);
    }
  }
  for (const stack of Object.values(open)) endRun(stack, Number.POSITIVE_INFINITY);
  return { closing, space };
}

/** Finds the next match from a place on, for places that rise: no character is looked at twice. */
function finder(pattern: RegExp, whole: string): (from: number) => number {
  let found = -1;
  return (from) => {
    if (found >= from) return found;
    pattern.lastIndex = from;
    found = pattern.exec(whole)?.index ?? whole.length;
    return found;
  };
}
