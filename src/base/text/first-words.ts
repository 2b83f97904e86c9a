/** The longest part of a text that is searched for its first words. */
const mostLookedAt = 1_000_000;

/**
 * The beginning of a text with single spaces between its words. Only as much of the text is read as the result needs: a
 * text of many megabytes takes no longer than a short one.
 * @param mostChars  the most UTF-16 units of the result
 */
export function firstWords(text: string, mostChars: number): string {
  const words = /\S+/g;
  const start = text.slice(0, mostLookedAt);
  let found = '';
  while (found.length <= mostChars) {
    const word = words.exec(start)?.[0];
    if (word === undefined) break;
    found += (found === '' ? '' : ' ') + word.slice(0, mostChars + 1);
  }
  // The cut must not leave half of a surrogate pair.
  const isPairCut = (found.codePointAt(mostChars - 1) ?? 0) > 0xffff;
  return isPairCut ? found.slice(0, mostChars - 1) : found.slice(0, mostChars).trimEnd();
}
