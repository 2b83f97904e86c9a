/** No model name is longer than this; a longer text matches no pattern. */
const maxTextChars = 1024;

/**
 * Whether a text matches a pattern. `*` stands for any characters, also none, and also `/`. All other characters stand
 * for themselves. The function searches each literal between two stars once, after the end of the literal before. The
 * first match leaves the most room for the literals that follow. So no search is ever repeated, whatever pattern a
 * caller sends.
 */
export function fitsPattern(pattern: string, text: string): boolean {
  if (text.length > maxTextChars) return false;
  const [first = '', ...middle] = pattern.split('*');
  const last = middle.pop();
  if (last === undefined) return text === pattern;
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
