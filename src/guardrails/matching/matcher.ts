/**
 * What a matcher says of a text from a place on.
 * - `match`: the first match at or after the place. `start` equal to `end`: a match of nothing, which is passed over
 * - `none`: no match begins before `decided`. Whether one begins there or later, only more text can tell
 */
export type Found =
  | { readonly kind: 'match'; readonly start: number; readonly end: number }
  | { readonly kind: 'none'; readonly decided: number };

/**
 * Finds one pattern in a text that may still grow. What it has decided does not change when more text comes, so the
 * matches of a text are the same wherever it was cut. It takes time in proportion to the text.
 */
export interface Matcher {
  /**
   * @param text   may begin within the whole text: the characters before `from` are context
   * @param from   where to look from
   * @param isEnd  true: no more text comes, and everything is decided
   */
  next(text: string, from: number, isEnd: boolean): Found;
  /** The most matches in one text; more are refused, since each takes time of its own. Absent: any number. */
  readonly maxMatches?: number;
}

/** Characters before `from` that a matcher may look at. */
export const contextChars = 2;
