/** Escape sequences of terminals: CSI (colours, cursor), OSC (titles, links), and the two-character ones. */
const escapeSequences =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|\x1b[ -~]?/g;
/** Control characters and the separators U+2028 and U+2029, which end a line in some viewers of logs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const separators = /[\x00-\x20\x7f-\xa0\u2028\u2029]+/g;
/** Invisible characters that turn the direction of writing, and the byte-order mark. */
const invisible = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/**
 * Makes a text from outside fit for an error message, a log line or a header: one line, no terminal escapes, no control
 * characters, nothing that turns the direction of writing, white space collapsed.
 * @param maxChars  longest result, in UTF-16 units; what is longer is cut and ends in `…`
 */
export function cleanText(text: string, maxChars = 500): string {
  // Only so much of a huge text is worth looking at: four times the result leaves room for what is removed.
  const clean = text
    .slice(0, maxChars * 4)
    .toWellFormed()
    .replace(escapeSequences, '')
    .replace(invisible, '')
    .replace(separators, ' ')
    .trim();
  if (clean.length <= maxChars) return clean;
  // Half a surrogate pair at the cut would become a replacement character further on.
  const end = isHighSurrogate(clean.charCodeAt(maxChars - 2)) ? maxChars - 2 : maxChars - 1;
  return `${clean.slice(0, end).trimEnd()}…`;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
