import type { Matcher } from './matcher.ts';

/** A pattern with a test that no regular expression can do, such as a check digit. */
export interface CandidatePattern {
  /**
   * Matches each beginning of what may become a match, as far as it goes, with the flag `g`. It is of bounded length,
   * looks at most one character back, and looks at nothing behind its end.
   */
  readonly candidate: RegExp;
  /**
   * Judges a candidate that ends at `end`, because another character follows there or the text ends.
   * @returns where the match ends; -1: there is none
   */
  judge(text: string, start: number, end: number): number;
}

/** A candidate that reaches the end of the text is judged when more text has come. */
export function candidateMatcher({ candidate, judge }: CandidatePattern): Matcher {
  // Of its own: `lastIndex` is a state.
  const search = new RegExp(candidate.source, candidate.flags);
  return {
    next(text, from, isEnd) {
      search.lastIndex = from;
      for (let found = search.exec(text); found !== null; found = search.exec(text)) {
        const start = found.index;
        const end = start + found[0].length;
        if (end === text.length && !isEnd) return { kind: 'none', decided: start };
        const matchEnd = judge(text, start, end);
        if (matchEnd > start) return { kind: 'match', start, end: matchEnd };
        search.lastIndex = start + 1;
      }
      return { kind: 'none', decided: text.length };
    },
  };
}

/** The source of a regular expression that also matches each beginning of a literal, and then more of `rest`. */
export function beginningOf(literal: string, rest = ''): string {
  return Array.from(literal).reduceRight((inner, char, at) => {
    const own = char.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&');
    return at === 0 ? `${own}${inner}` : `(?:${own}${inner})?`;
  }, rest);
}

export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** Whether a letter or a digit of ASCII stands there. */
export function isWordAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at) | 32;
  return isDigit(text.charCodeAt(at)) || (code >= 97 && code <= 122);
}
