/**
 * Marks, such as accents, and the letters that a normal form turns into marks. A normal form sorts each run of them, and
 * takes the square of the run's length: 32,000 marks keep it busy for a second. In text of any language, no more than 30
 * of them follow each other.
 * @see https://www.unicode.org/reports/tr15/#Stream_Safe_Text_Format
 */
const marks = String.raw`\p{M}\u0e33\u0eb3\uff9e\uff9f`;
const mark = new RegExp(`^[${marks}]`, 'u');
const longRun = new RegExp(`[${marks}]{31}`, 'u');
const longRuns = new RegExp(`([${marks}]{30})[${marks}]+`, 'gu');

/** Tells whether so many marks follow each other that a normal form of the text takes long. */
export function hasLongRun(text: string): boolean {
  return longRun.test(text);
}

/** The text in a normal form, in time that grows with its length: only the first thirty marks of each run are kept. */
export function normalForm(text: string, form: 'NFC' | 'NFKC'): string {
  return (hasLongRun(text) ? text.replace(longRuns, '$1') : text).normalize(form);
}

const pieceUnits = 8_192;
/** The most UTF-16 units of a run of marks that is not too long. */
const longestRunUnits = 64;

/**
 * The end of the piece of a text that begins at `from`: before a character that a normal form does not move. So the
 * normal form of the text is no longer than those of its pieces together. The text has no long run of marks.
 */
export function pieceEnd(text: string, from: number): number {
  const end = from + pieceUnits;
  if (end >= text.length) return text.length;
  for (let at = end; at > end - longestRunUnits; at--) {
    const isHalf = text.charCodeAt(at) >>> 10 === 0xdc00 >>> 10;
    if (!isHalf && !mark.test(String.fromCodePoint(text.codePointAt(at) as number))) return at;
  }
  return end;
}
