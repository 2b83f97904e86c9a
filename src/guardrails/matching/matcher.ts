/**
 * The result of a matcher for a text, from a place on.
 * - `match`: the first match at or after the place. `start` equal to `end`: an empty match, which is skipped
 * - `none`: no match begins before `decided`. Only more text can tell whether one begins there or later
 * - `more`: no match begins before `decided`; the matcher has worked for a while, and must be called again
 */
export type Found =
  | { readonly kind: 'match'; readonly start: number; readonly end: number }
  | { readonly kind: 'none' | 'more'; readonly decided: number };

/**
 * Finds one pattern in a text that may still grow. Its results do not change when more text comes. So the matches of a
 * text are the same wherever it was cut. Its time is proportional to the text.
 */
export interface TextMatcher {
  readonly kind: 'text';
  /**
   * @param text   may begin within the whole text: the characters before `from` are context
   * @param from   the place at which the search begins
   * @param isEnd  true: no more text comes, and everything is decided
   */
  next(text: string, from: number, isEnd: boolean): Found;
  /** The most matches in one text; more are refused, since each takes time. Absent: any number. */
  readonly maxMatches?: number;
  /** true: the matcher sees the text folded by `Lane`, with ASCII digits for the digits of all scripts, and so on. */
  readonly isFolded?: boolean;
}

/** A literal text. One search finds all of them. */
export interface LiteralMatcher {
  readonly kind: 'literal';
  readonly literal: string;
  /** true: upper and lower case are the same. */
  readonly ignoresCase: boolean;
}

export type Matcher = TextMatcher | LiteralMatcher;

/** The characters before `from` that a matcher may read. */
export const contextChars = 2;
