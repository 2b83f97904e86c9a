import { contextChars, type TextMatcher } from './matcher.ts';

/** Finds matches in a short text. */
export interface WindowSearch {
  /** Tells quickly whether there may be a match. */
  test(text: string): boolean;
  /** The first match at or after `from`; null: there is none. */
  find(text: string, from: number): { start: number; end: number } | null;
  readonly maxMatches?: number;
  readonly isFolded?: boolean;
  /** The number of windows that are searched before the work may pause. */
  readonly windowsAtOnce: number;
}

/** The most characters of a window: a match, and the beginnings of others. */
export function windowChars(maxLength: number): number {
  return maxLength + stepOf(maxLength);
}

function stepOf(maxLength: number): number {
  return Math.max(1, Math.ceil(maxLength / 4));
}

/**
 * Finds the matches of a regular expression in windows of a fixed size, one after the other. So the time is bounded,
 * and so is the text that is held back. The places of the windows depend on the text alone, wherever it was cut.
 * @param maxLength  the most characters of a match; a longer one ends as if the text ended there
 */
export function windowedMatcher(search: WindowSearch, maxLength: number): TextMatcher {
  const step = stepOf(maxLength);
  const size = windowChars(maxLength);
  const { maxMatches, isFolded = false, windowsAtOnce } = search;

  /** The end of the window that begins at a place, never between the two halves of a character. */
  function windowEnd(text: string, at: number): number {
    const end = Math.min(at + size, text.length);
    const isHalf = end < text.length && (text.charCodeAt(end) & 0xfc00) === 0xdc00;
    return isHalf ? end - 1 : end;
  }

  return {
    kind: 'text',
    ...(maxMatches === undefined ? {} : { maxMatches }),
    isFolded,
    next(text, from, isEnd) {
      let at = from;
      for (let count = 0; at < text.length; count++) {
        if (count === windowsAtOnce) return { kind: 'more', decided: at };
        // One more character shows whether the window ends within a character.
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
