import type { Matcher } from './matcher.ts';

/**
 * Finds a text as it is, by the algorithm of Knuth, Morris and Pratt: each character is looked at once.
 * @param ignoresCase  true: upper and lower case are the same
 */
export function literalMatcher(literal: string, ignoresCase: boolean): Matcher {
  const codes = Array.from(literal.split(''), (char) => codeOf(char, ignoresCase));
  const { length } = codes;
  const fallbacks = fallbacksOf(codes);
  const first = ignoresCase ? null : literal.charAt(0);
  return {
    next(text, from, isEnd) {
      let matched = 0;
      let at = from;
      while (at < text.length) {
        if (matched === 0 && first !== null) {
          at = text.indexOf(first, at);
          if (at === -1) break;
        }
        const code = ignoresCase ? foldedAt(text, at) : text.charCodeAt(at);
        while (matched > 0 && codes[matched] !== code) matched = fallbacks[matched - 1] as number;
        if (codes[matched] === code) matched++;
        at++;
        if (matched === length) return { kind: 'match', start: at - length, end: at };
      }
      return { kind: 'none', decided: isEnd ? text.length : text.length - matched };
    },
  };
}

/** For each beginning of the literal, how much of it is also its end. */
function fallbacksOf(codes: readonly number[]): number[] {
  const fallbacks = [0];
  let matched = 0;
  for (let at = 1; at < codes.length; at++) {
    while (matched > 0 && codes[matched] !== codes[at]) matched = fallbacks[matched - 1] as number;
    if (codes[matched] === codes[at]) matched++;
    fallbacks.push(matched);
  }
  return fallbacks;
}

function codeOf(char: string, ignoresCase: boolean): number {
  return ignoresCase ? foldedAt(char, 0) : char.charCodeAt(0);
}

/** Folds one character by itself: what `toLowerCase` makes of a text may depend on what stands around it. */
function foldedAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code < 128) return code >= 65 && code <= 90 ? code + 32 : code;
  const lower = text.charAt(at).toUpperCase().toLowerCase();
  return lower.length === 1 ? lower.charCodeAt(0) : code;
}
