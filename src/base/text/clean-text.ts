/** Escape sequences of terminals: CSI (colours, cursor), OSC (titles, links), and the two-character ones. */
const escapeSequences =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for control characters
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|\x1b[ -~]?/g;
/** Control characters and the separators U+2028 and U+2029, which end a line in some viewers of logs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for control characters
const separators = /[\x00-\x20\x7f-\xa0\u2028\u2029]+/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for control characters
const unusualSeparators = /[\x00-\x1f\x7f-\xa0\u2028\u2029]/g;
/** Invisible characters that change the direction of writing, and the byte-order mark. */
const invisible = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for control characters
const unusual = /[\x00-\x1f\x7f-\xa0\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]/;

/** Tells whether a text has no control characters, line ends, or characters that change the direction of writing. */
export function isClean(text: string): boolean {
  return (
    !unusual.test(text) || (text.isWellFormed() && text === text.replace(invisible, '').replace(unusualSeparators, ''))
  );
}

/**
 * Makes a name from outside safe for logs and records. A name that is safe, which is the usual case, stays the same.
 */
export function cleanName(text: string, maxChars = 256): string {
  return text.length <= maxChars && !unusual.test(text) ? text : cleanText(text, maxChars);
}

/**
 * Makes a text from outside safe for an error message, a log line or a header. The result is one line. It holds no
 * terminal escape sequences, no control characters and no characters that change the direction of writing. White space
 * is collapsed.
 * @param maxChars  the longest result, in UTF-16 units; a longer text is cut and ends in `…`
 */
export function cleanText(text: string, maxChars = 500): string {
  // Of a huge text, only the beginning is cleaned: four times the result leaves room for the characters that are
  // removed.
  const clean = text
    .slice(0, maxChars * 4)
    .toWellFormed()
    .replace(escapeSequences, '')
    .replace(invisible, '')
    .replace(separators, ' ')
    .trim();
  if (clean.length <= maxChars) return clean;
  // A cut inside a surrogate pair would leave half of the pair, which later becomes a replacement character.
  const end = isHighSurrogate(clean.charCodeAt(maxChars - 2)) ? maxChars - 2 : maxChars - 1;
  return `${clean.slice(0, end).trimEnd()}…`;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
