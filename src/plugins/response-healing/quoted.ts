import { type Steps, spend } from './steps.ts';

/** The marks that end a text, by the quotation mark that it begins with. */
const endsOf: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  '`': '`´',
  '´': '´`',
  '“': '”“"',
  '”': '”"',
  '„': '“”"',
  '‟': '”"',
  '«': '»',
  '»': '«',
  '‹': '›',
  '›': '‹',
  '‘': "’‘'",
  '’': "’'",
  '‚': "‘’'",
  '‛': "’'",
  '「': '」',
  '『': '』',
  '＂': '＂',
  '＇': '＇',
  '〝': '〞〟',
  '｢': '｣',
};
/** The ends that count where the usual one is missing, and no text in such marks stands within. */
const lastEnds: Readonly<Record<string, { ends: string; within: string }>> = {
  '"': { ends: '”', within: '“„”' },
  "'": { ends: '’', within: '‘‚’' },
};
const escapes: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '0': '\0',
  '/': '/',
  '\\': '\\',
  '\n': '',
};
/** The most characters of a name in quotes, and of white space, that are read ahead. */
const mostAhead = 200;

/** The cost of undoing an escape, or of finding that a mark ends nothing, in characters that are read. */
const stepsOfMark = 10;

/** The place of a quotation mark that was left out, or not escaped. It decides how the mark is judged. */
export type Place = 'name' | 'member' | 'item';

/** A text in quotation marks. `cut`: the text ends before the closing mark, or an escape of it was cut. */
export type Quoted = { text: string; end: number } | { cut: 'a string' | 'a name' | 'an escape' };

export function isQuote(char: string | undefined): boolean {
  return char !== undefined && Object.hasOwn(endsOf, char);
}

/** Reads the text that begins with the quotation mark at `start`. */
export function readQuoted(text: string, start: number, place: Place, steps: Steps): Quoted {
  spend(steps, 2 * stepsOfMark);
  const opener = text[start] as string;
  const triple = opener.repeat(3);
  if ((opener === '"' || opener === "'") && text.startsWith(triple, start) && place !== 'name')
    return readUpTo(text, start + 3, steps, (at) => (text.startsWith(triple, at) ? at + 3 : null), place);
  const ends = endsOf[opener] as string;
  const read = readUpTo(text, start + 1, steps, (at) => endAt(text, start, at, ends, place, steps), place);
  const last = lastEnds[opener];
  if (last === undefined || !('cut' in read) || read.cut === 'an escape') return read;
  return readUpTo(
    text,
    start + 1,
    steps,
    (at) => {
      if (!last.within.includes(text[at] as string)) return null;
      return last.ends.includes(text[at] as string) ? endAt(text, start, at, last.ends, place, steps) : Infinity;
    },
    place,
  );
}

/**
 * @param endOf  returns the place where the string ends that has come to a place, after its mark; negative: the same,
 *   but the text from there on, back to that many characters, does not belong to the string; null: it goes on;
 *   Infinity: it never ends
 */
function readUpTo(
  text: string,
  from: number,
  steps: Steps,
  endOf: (at: number) => number | null | { end: number; cutAt: number },
  place: Place,
): Quoted {
  const parts: string[] = [];
  let plainFrom = from;
  let at = from;
  for (; at < text.length; at++) {
    const char = text[at] as string;
    if (char === '\\') {
      if (at + 1 >= text.length) break;
      spend(steps, 2 * stepsOfMark);
      parts.push(text.slice(plainFrom, at));
      const escaped = escapeAt(text, at);
      if (escaped === null) {
        spend(steps, at - from);
        return { cut: 'an escape' };
      }
      parts.push(escaped.text);
      at = escaped.end - 1;
      plainFrom = escaped.end;
      continue;
    }
    const code = text.charCodeAt(at);
    // Letters, digits, spaces and signs that are no quotation mark are nearly all of the text.
    if (code !== 34 && code !== 39 && code !== 96 && code < 0x80) continue;
    const ended = endOf(at);
    if (ended === null) {
      if (code < 0x80) spend(steps, stepsOfMark);
      continue;
    }
    if (ended === Infinity) break;
    spend(steps, at - from);
    const { end, cutAt } = typeof ended === 'number' ? { end: ended, cutAt: at } : ended;
    if (cutAt < plainFrom) continue;
    parts.push(text.slice(plainFrom, cutAt));
    return { text: parts.join(''), end };
  }
  spend(steps, at - from);
  return { cut: place === 'name' ? 'a name' : 'a string' };
}

/**
 * Reads an escape; null: the code of a character was cut. A sequence that is no escape stands for itself, as in
 * `C:\dir` or `\d+`.
 */
function escapeAt(text: string, at: number): { text: string; end: number } | null {
  const letter = text[at + 1] as string;
  if (letter === 'u' || letter === 'x') {
    const braced = /^\{([\da-fA-F]{1,6})\}/.exec(text.slice(at + 2, at + 10));
    if (braced !== null && letter === 'u' && Number.parseInt(braced[1] as string, 16) <= 0x10ffff)
      return { text: String.fromCodePoint(Number.parseInt(braced[1] as string, 16)), end: at + 2 + braced[0].length };
    const wanted = letter === 'u' ? 4 : 2;
    const digits = /^[\da-fA-F]*/.exec(text.slice(at + 2, at + 2 + wanted))?.[0] ?? '';
    if (digits.length === wanted)
      return { text: String.fromCharCode(Number.parseInt(digits, 16)), end: at + 2 + wanted };
    return digits.length > 0 || at + 2 >= text.length ? null : { text: `\\${letter}`, end: at + 2 };
  }
  const known = escapes[letter];
  if (known !== undefined && Object.hasOwn(escapes, letter)) return { text: known, end: at + 2 };
  return { text: isQuote(letter) ? letter : `\\${letter}`, end: at + 2 };
}

/** Returns the place where a string ends that has come to `at`; null: the character there is part of the string. */
function endAt(
  text: string,
  start: number,
  at: number,
  ends: string,
  place: Place,
  steps: Steps,
): number | null | { end: number; cutAt: number } {
  if (!ends.includes(text[at] as string)) return null;
  if (place === 'name') return at + 1;
  spend(steps, stepsOfMark);
  const next = afterSpace(text, at + 1, steps);
  if (isFollowed(text, at + 1, next, place, steps)) return at + 1;
  if (place === 'item') return null;
  // "Ada, "age": the mark begins the next name, and the one that ends this string was left out.
  const before = lastBefore(text, at, start, steps);
  const isNewLine = text.slice(before + 1, at).includes('\n');
  if (before <= start || !(text[before] === ',' || isNewLine) || !isNameAt(text, at, steps)) return null;
  const cutAt = text[before] === ',' ? before : before + 1;
  return { end: cutAt, cutAt };
}

/** true: the character after a mark may follow a string. */
function isFollowed(text: string, end: number, next: number, place: Place, steps: Steps): boolean {
  const char = text[next];
  if (char === undefined || '}]｝］)'.includes(char)) return true;
  if (isComment(text, next) || text.startsWith('```', next) || text.startsWith('</', next)) return true;
  if (text.startsWith('<|', next)) return true;
  if (char === '+') return isQuote(text[afterSpace(text, next + 1, steps)]);
  if (char === ',' || char === '，' || char === '、')
    return mayGoOn(text, afterSpace(text, next + 1, steps), place, steps);
  if (place === 'item') return char === ':' || char === '：' || (next > end && (isQuote(char) || '{['.includes(char)));
  return isQuote(char)
    ? next > end && isNameAt(text, next, steps)
    : hasNewLine(text, end, next) && isBareName(text, next, steps);
}

/** true: the text after a comma is a name, or an item. */
function mayGoOn(text: string, at: number, place: Place, steps: Steps): boolean {
  const char = text[at];
  if (char === undefined || '}]｝］),{'.includes(char) || isComment(text, at) || text.startsWith('...', at))
    return true;
  if (char === '…' || text.startsWith('```', at) || text.startsWith('\\n', at)) return true;
  if (place === 'member') return isQuote(char) ? isNameAt(text, at, steps) : isBareName(text, at, steps);
  return (
    isQuote(char) ||
    /^(?:[-+.\d[(]|(?:true|false|null|none|nan|undefined|[\w$]+\s*[:(])|[ubr]["'])/i.test(
      text.slice(at, at + mostAhead),
    )
  );
}

export function isComment(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code === 47) return text[at + 1] === '/' || text[at + 1] === '*';
  return code === 35 || (code === 60 && text.startsWith('<!--', at));
}

/** true: a name in quotes and its colon stand there. A name that the text cuts counts as well. */
function isNameAt(text: string, at: number, steps: Steps): boolean {
  const ends = endsOf[text[at] as string] as string;
  for (let end = at + 1; end < at + mostAhead; end++) {
    if (end >= text.length) return true;
    if (text[end] === '\\') end++;
    else if (text[end] === '\n') return false;
    else if (ends.includes(text[end] as string)) {
      spend(steps, end - at);
      const next = text[afterSpace(text, end + 1, steps)];
      return next === undefined || ':：='.includes(next);
    }
  }
  spend(steps, mostAhead);
  return false;
}

function isBareName(text: string, at: number, steps: Steps): boolean {
  spend(steps, 16);
  return /^[\p{L}_$][\p{L}\d_$.-]{0,100}\s{0,20}(?:[:：]|=>?|$)/u.test(text.slice(at, at + mostAhead));
}

function hasNewLine(text: string, from: number, to: number): boolean {
  return text.slice(from, to).includes('\n');
}

function afterSpace(text: string, from: number, steps: Steps): number {
  let at = from;
  while (at < text.length && isSpace(text.charCodeAt(at))) {
    // A quotation of Markdown.
    at += text[at] === '\n' && text[at + 1] === '>' ? 2 : 1;
  }
  spend(steps, at - from + 1);
  return at;
}

function lastBefore(text: string, from: number, start: number, steps: Steps): number {
  let at = from - 1;
  while (at > start && isSpace(text.charCodeAt(at))) at--;
  spend(steps, from - at);
  return at;
}

/** true: a character is white space, also of other scripts, or is invisible. */
export function isSpace(code: number): boolean {
  if (code <= 32) return true;
  if (code < 0xa0) return code === 0x7f;
  return (
    code === 0xa0 ||
    code === 0xfeff ||
    (code >= 0x2000 && code <= 0x200d) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x3000
  );
}
