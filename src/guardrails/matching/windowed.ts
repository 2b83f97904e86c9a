import { contextChars, type Matcher } from './matcher.ts';

/** Finds matches in a short text. */
export interface WindowSearch {
  /** Whether there may be a match; quick. */
  test(text: string): boolean;
  /** The first match at or after `from`; null: there is none. */
  find(text: string, from: number): { start: number; end: number } | null;
  readonly maxMatches?: number;
}

/**
 * Finds what a regular expression matches within windows of a fixed size, one behind the other, so that the time and
 * the text that is held back are bounded. Where the windows stand follows from the text alone, wherever it was cut.
 * @param maxLength  characters of a match; a longer one is taken as if the text ended there
 */
export function windowedMatcher(search: WindowSearch, maxLength: number): Matcher {
  const step = Math.max(1, Math.ceil(maxLength / 4));
  const size = maxLength + step;

  /** The end of the window that begins at a place: never between the two halves of a character. */
  function windowEnd(text: string, at: number): number {
    const end = Math.min(at + size, text.length);
    const isHalf = end < text.length && (text.charCodeAt(end) & 0xfc00) === 0xdc00;
    return isHalf ? end - 1 : end;
  }

  return {
    ...(search.maxMatches === undefined ? {} : { maxMatches: search.maxMatches }),
    next(text, from, isEnd) {
      let at = from;
      while (at < text.length) {
        // One more character tells whether the window ends within one.
        if (!isEnd && at + size + 1 > text.length) return { kind: 'none', decided: at };
        const begin = Math.max(0, at - contextChars);
        const window = text.slice(begin, windowEnd(text, at));
        const found = search.test(window) ? search.find(window, at - begin) : null;
        const isLast = at + size >= text.length;
        if (found !== null && (isLast || found.start - (at - begin) < step))
          return { kind: 'match', start: found.start + begin, end: found.end + begin };
        at = isLast ? text.length : at + step;
      }
      return { kind: 'none', decided: at };
    },
  };
}
