/** Blanks of all kinds, and characters that show nothing, which come along when a text is copied. */
const blank = /[\s\u200b-\u200d\u2060\ufeff]/;
const quoted = /^(?:"(.*)"|'(.*)'|`(.*)`|\u201c(.*)\u201d|\u2018(.*)\u2019)$/s;
/** The header, or its scheme, in front of a key. */
const scheme = /^(?:authorization\s*:\s*)?bearer\s+(?=\S)|^(?:authorization|x-api-key|api-key)\s*:\s*(?=\S)/i;

/** A longer text is no key, and is left as it is. */
const maxChars = 65_536;

/** A key without what was copied with it. */
export interface PastedKey {
  key: string;
  /** The parts that were left out, in words, blanks aside: nobody has to be told of those. */
  leftOut: readonly string[];
}

/**
 * Leaves out what does not belong to a key, but is often copied with it: blanks and line ends around it, quotation
 * marks, which a file of variables may keep, and the word `Bearer`.
 */
export function pastedKey(text: string): PastedKey {
  if (text.length > maxChars) return { key: text, leftOut: [] };
  const leftOut: string[] = [];
  let key = withoutBlanks(text);
  // A header may be quoted, and a key within a header, too.
  for (let layers = 0; layers < 4; layers++) {
    const marks = quoted.exec(key);
    const inner = marks === null ? key.replace(scheme, '') : (marks.slice(1).find((part) => part !== undefined) ?? '');
    if (inner === key) break;
    leftOut.push(marks === null ? 'the name or scheme of a header before it' : 'quotation marks around it');
    key = withoutBlanks(inner);
  }
  return { key, leftOut: [...new Set(leftOut)] };
}

/** Returns the text without blanks around it, also those that show nothing. Linear: a key may come from anybody. */
export function withoutBlanks(text: string): string {
  let [from, to] = [0, text.length];
  while (from < to && blank.test(text.charAt(from))) from++;
  while (from < to && blank.test(text.charAt(to - 1))) to--;
  return text.slice(from, to);
}

/** Tells whether a text can be the value of a header: visible ASCII on one line, with blanks only inside. */
export function isOnOneLine(text: string): boolean {
  return /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text);
}

/** Tells whether a text is what stands for a key in a file that nobody filled in: the name of a variable, or no value. */
export function isUnfilled(text: string): boolean {
  return /^(?:\$\{?\w+\}?|\$\{\{.*\}\}|\{\{.*\}\}|\{env:.*\}|%\w+%|os\.environ\/.*|process\.env\..*|undefined|null)$/.test(
    text,
  );
}
