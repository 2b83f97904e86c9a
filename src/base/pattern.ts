/** No model has a longer name; whatever is longer fits no pattern. */
const maxTextChars = 1024;

/**
 * Whether a text fits a pattern in which `*` stands for any characters, none and `/` included, and all else for itself.
 * Each piece between two stars is looked for once, where the one before ended: taking the first place it is found at
 * leaves the most room for what follows, so that nothing is ever tried twice, whatever pattern a caller thinks up.
 */
export function fitsPattern(pattern: string, text: string): boolean {
  if (text.length > maxTextChars) return false;
  const [first = '', ...middle] = pattern.split('*');
  const last = middle.pop();
  if (last === undefined) return text === pattern;
  const end = text.length - last.length;
  if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const piece of middle) {
    const found = text.indexOf(piece, at);
    if (found === -1 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}
