import type { TextMatcher } from './matcher.ts';

/** The number of candidates that are judged before the work may pause. */
const candidatesAtOnce = 1_000;

/** A pattern with a test that no regular expression can do, such as a check digit. */
export interface CandidatePattern {
  /**
   * Matches each beginning of a possible match, of any length, with the flag `g`. The expression has a bounded length,
   * looks back at most one character, and does not look beyond its end.
   */
  readonly candidate: RegExp;
  /** A part that every match contains, with the flag `g`. Text without such a part is skipped. */
  readonly part: RegExp;
  /** The most characters of a match before its first such part. */
  readonly lead: number;
  /** The most characters of the part. */
  readonly partChars: number;
  /**
   * Judges a candidate that ends at `end`, because another character follows there or the text ends.
   * @returns the end of the match; -1: there is no match
   */
  judge(text: string, start: number, end: number): number;
}

/** Makes the matcher of a pattern. A candidate at the end of the text is judged when more text has come. */
export function candidateMatcher(pattern: CandidatePattern): TextMatcher {
  const { lead, partChars, judge } = pattern;
  // A copy for this matcher, because `lastIndex` is a state.
  const candidate = new RegExp(pattern.candidate.source, pattern.candidate.flags);
  const part = new RegExp(pattern.part.source, pattern.part.flags);

  return {
    kind: 'text',
    isFolded: true,
    next(text, from, isEnd) {
      let at = from;
      let partAt = -1;
      for (let count = 0; at < text.length; count++) {
        if (count === candidatesAtOnce) return { kind: 'more', decided: at };
        if (partAt < at) {
          part.lastIndex = at;
          partAt = part.exec(text)?.index ?? text.length;
        }
        // Without a further part, the end of the text may be the beginning of one.
        const isNone = partAt === text.length;
        if (isNone && isEnd) break;
        candidate.lastIndex = Math.max(at, partAt - lead - (isNone ? partChars : 0));
        const found = candidate.exec(text);
        if (found === null) break;
        const start = found.index;
        const end = start + found[0].length;
        if (end === text.length && !isEnd) return { kind: 'none', decided: start };
        const matchEnd = judge(text, start, end);
        if (matchEnd > start) return { kind: 'match', start, end: matchEnd };
        at = start + 1;
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

/** Tells whether an ASCII letter or digit is at a place. */
export function isWordAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at) | 32;
  return isDigit(text.charCodeAt(at)) || (code >= 97 && code <= 122);
}
