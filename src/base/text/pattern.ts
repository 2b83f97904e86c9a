/** No model name is longer than this; a longer text matches no pattern. */
const maxTextChars = 1024;

/** Tells whether a text matches any of some patterns. */
export type Matcher = (text: string) => boolean;

/** A pattern with stars, cut at them. */
interface Cut {
  first: string;
  middle: readonly string[];
  last: string;
}

/**
 * Reads patterns once, to match many texts. `*` stands for any characters, also none, and also `/`. All other
 * characters stand for themselves. Patterns without a star are looked up, however many there are.
 */
export function compilePatterns(patterns: readonly string[]): Matcher {
  const exact = new Set<string>();
  const cuts: Cut[] = [];
  for (const pattern of new Set(patterns)) {
    if (pattern.includes('*')) cuts.push(cutAtStars(pattern));
    else exact.add(pattern);
  }
  return (text) => text.length <= maxTextChars && (exact.has(text) || cuts.some((cut) => fits(cut, text)));
}

/** Tells whether a text matches a pattern; see `compilePatterns`. */
export function fitsPattern(pattern: string, text: string): boolean {
  if (text.length > maxTextChars) return false;
  return pattern.includes('*') ? fits(cutAtStars(pattern), text) : pattern === text;
}

function cutAtStars(pattern: string): Cut {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop() ?? '';
  // Several stars in a row mean the same as one.
  return { first, middle: rest.filter((literal) => literal !== ''), last };
}

/**
 * Searches each literal between two stars once, after the end of the literal before. The first match leaves the most
 * room for the literals that follow. So no search is ever repeated, whatever pattern a caller sends.
 */
function fits({ first, middle, last }: Cut, text: string): boolean {
  const end = text.length - last.length;
  if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const literal of middle) {
    const found = text.indexOf(literal, at);
    if (found === -1 || found + literal.length > end) return false;
    at = found + literal.length;
  }
  return true;
}
