/** Invisible characters, and marks on the character before: soft hyphens, zero width, variation selectors. */
const unseen = /^[\p{Default_Ignorable_Code_Point}\p{Mn}\p{Me}]$/u;
const digit = /^\p{Nd}$/u;
const space = /^\p{Zs}$/u;
/** Dashes, and characters in their place: the minus sign, a bullet, a modifier letter. */
const dash = /^[\p{Pd}\u02d7\u2043\u2212]$/u;
/** Full stops of East Asia, which occur in domains. */
const stop = /^[\u3002\uff61]$/u;
/** Forms of ASCII in another width or type face. */
const form = /^[\uff01-\uff5e\ufe50-\ufe6b\u{1d400}-\u{1d7ff}]$/u;

/** Every character that is folded. */
const foldable =
  /(?=\P{ASCII})[\p{Default_Ignorable_Code_Point}\p{Mn}\p{Me}\p{Nd}\p{Zs}\p{Pd}\u02d7\u2043\u2212\u3002\uff61\uff01-\uff5e\ufe50-\ufe6b\u{1d400}-\u{1d7ff}]/gu;

/** Folds each character of a text. If no character has become shorter, the text has the same length. */
export function foldedText(text: string): string {
  return text.replace(foldable, folded);
}

const known = new Map<string, string>();
const mostKnown = 4_096;

/**
 * Folds a character to the one that the built-in patterns look for.
 * @param char  one code point
 * @returns at most one code unit; '' for an invisible character; the character itself if it is not folded
 */
export function folded(char: string): string {
  if (char.length === 1 && char.charCodeAt(0) < 128) return char;
  let made = known.get(char);
  if (made === undefined) {
    made = fold(char);
    if (known.size < mostKnown) known.set(char, made);
  }
  return made;
}

function fold(char: string): string {
  if (unseen.test(char)) return '';
  if (digit.test(char)) return String(digitValue(char));
  if (space.test(char)) return ' ';
  if (dash.test(char)) return '-';
  if (stop.test(char)) return '.';
  if (!form.test(char)) return char;
  const plain = char.normalize('NFKC');
  return plain.length === 1 && plain.charCodeAt(0) < 128 ? plain : char;
}

/**
 * The value of a digit. The digits of a script are in a row from zero to nine. Rows may follow each other without a
 * gap.
 */
function digitValue(char: string): number {
  const code = char.codePointAt(0) as number;
  let first = code;
  while (digit.test(String.fromCodePoint(first - 1))) first--;
  return (code - first) % 10;
}
