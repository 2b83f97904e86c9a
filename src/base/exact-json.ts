import { parseJson, stringEnd } from './json.ts';
import { isObject, type Loose } from './values.ts';

/** The texts of `RawJson` that were met while a value is written as JSON; null: nobody splices them in. */
let spliced: { texts: string[]; mark: string } | null = null;

/**
 * A JSON object as its text: JavaScript has no numbers for `12345678901234567890` and `1.0`. Written by `stringifyExact`
 * it is that text; written by `JSON.stringify`, what JavaScript makes of it.
 */
export class RawJson {
  /** The text, which is valid JSON. */
  readonly text: string;
  readonly #value: Loose;

  constructor(text: string, value: Loose) {
    this.text = text;
    this.#value = value;
  }

  toJSON(): unknown {
    if (spliced === null) return this.#value;
    spliced.texts.push(this.text);
    return spliced.mark;
  }
}

/**
 * Reads a JSON object, whose numbers keep their digits.
 * @returns the object; its text, where JavaScript would write other numbers; null for other values
 * @throws JsonError for what is no JSON, or nests too deep
 */
export function parseExact(text: string, maxDepth: number): Loose | RawJson | null {
  const value = parseJson(text, maxDepth);
  if (!isObject(value)) return null;
  return hasOtherNumbers(text) ? new RawJson(text, value) : value;
}

/** `JSON.stringify`, with the texts of `RawJson` as they are. */
export function stringifyExact(value: object): string {
  const first = writtenWith(value, 0);
  if (first.texts.length === 0) return first.written;
  const exact = joinedAt(first);
  if (exact !== null) return exact;
  // A text of the caller is the mark itself. A number that no text has makes a mark of its own, however many texts try.
  const taken = new Set(Array.from(first.written.matchAll(/"raw JSON (\d+)"/g), ([, number]) => Number(number)));
  let free = 1;
  while (taken.has(free)) free++;
  return joinedAt(writtenWith(value, free)) as string;
}

interface Written {
  written: string;
  /** The texts that belong at the marks, in order. */
  texts: readonly string[];
  mark: string;
}

function writtenWith(value: object, number: number): Written {
  const before = spliced;
  const texts: string[] = [];
  const mark = `raw JSON ${number}`;
  spliced = { texts, mark };
  try {
    return { written: JSON.stringify(value), texts, mark };
  } finally {
    spliced = before;
  }
}

/** @returns null: there are more marks than texts */
function joinedAt({ written, texts, mark }: Written): string | null {
  const pieces = written.split(`"${mark}"`);
  return pieces.length === texts.length + 1 ? pieces.map((piece, at) => piece + (texts[at] ?? '')).join('') : null;
}

/** Most texts hold no number of such a form, in which JavaScript may write another. */
const mayDiffer = /\d{16}|\d\.\d|\d[eE]|-0/;

/** Tells whether JavaScript would write a number of a JSON text in another way. */
export function hasOtherNumbers(text: string): boolean {
  if (!mayDiffer.test(text)) return false;
  for (let at = 0; at < text.length; ) {
    const quote = text.indexOf('"', at);
    const end = quote < 0 ? text.length : quote;
    for (const [token] of text.slice(at, end).matchAll(/-?\d[\d.eE+-]*/g))
      if (String(Number(token)) !== token) return true;
    at = quote < 0 ? end : stringEnd(text, quote + 1) + 1;
    // No quote closes the string.
    if (at === 0) return false;
  }
  return false;
}

/**
 * Puts `RawJson` in the place of objects under some keys, where JavaScript would write their numbers in another way.
 * @param value   what `source` was parsed to, of bounded depth; changed
 * @param source  valid JSON
 */
export function keepExact(value: unknown, source: string, keys: ReadonlySet<string>): void {
  if (holdsObject(value, keys) && hasOtherNumbers(source))
    new Keeper(source, keys, (holder, key, text) => {
      const held = holder[key];
      if (isObject(held) && hasOtherNumbers(text)) holder[key] = new RawJson(text, held);
    }).keep(value);
}

/**
 * Lets objects under some keys be written with the digits of their numbers: by `stringifyExact`, in any place, for as long
 * as they are the same objects. To everybody else they are what JavaScript makes of them, and a changed copy is only that.
 * An object is left alone whose text would tell a reader more than its value does, such as a member that comes twice.
 * @param value   what `source` was parsed to, of bounded depth
 * @param source  valid JSON
 * @param isKept  tells by the object that holds it whether an object is meant
 */
export function keepDigits(
  value: unknown,
  source: string,
  keys: ReadonlySet<string>,
  isKept: (holder: Loose) => boolean = () => true,
): void {
  if (!holdsObject(value, keys) || !hasOtherNumbers(source)) return;
  const keeper = new Keeper(source, keys, (holder, key, text) => {
    const held = holder[key];
    if (!isObject(held) || Object.hasOwn(held, 'toJSON') || !isKept(holder) || !hasOtherNumbers(text)) return;
    const exact = exactText(text, held);
    if (exact === null) return;
    Object.defineProperty(held, 'toJSON', {
      value() {
        if (spliced === null) return held;
        spliced.texts.push(exact);
        return spliced.mark;
      },
    });
  });
  keeper.keep(value);
}

/**
 * Writes a JSON text as JavaScript would write its value, but for the digits of its numbers.
 * @returns null: it would write anything else in another way
 */
function exactText(text: string, value: Loose): string | null {
  let exact = '';
  let usual = '';
  const add = (own: string, written: string = own) => {
    exact += own;
    usual += written;
  };
  for (let at = 0; at < text.length; ) {
    const quote = text.indexOf('"', at);
    const end = quote < 0 ? text.length : quote;
    for (const [token] of text.slice(at, end).matchAll(/-?\d[\d.eE+-]*|[^\s\d-]+/g))
      if (/\d/.test(token)) add(token, String(Number(token)));
      else add(token);
    if (quote < 0) break;
    at = stringEnd(text, quote + 1) + 1;
    add(JSON.stringify(JSON.parse(text.slice(quote, at))));
  }
  return usual === JSON.stringify(value) ? exact : null;
}

/** Tells whether an object is under one of the keys. Most values have none: to look at them takes less than to search the text. */
function holdsObject(value: unknown, keys: ReadonlySet<string>): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object' && holdsObject(item, keys)) return true;
    return false;
  }
  for (const key in value) {
    const held = (value as Loose)[key];
    if (typeof held === 'object' && ((keys.has(key) && isObject(held)) || holdsObject(held, keys))) return true;
  }
  return false;
}

class Keeper {
  readonly #source: string;
  readonly #keys: ReadonlySet<string>;
  readonly #found: (holder: Loose, key: string, text: string) => void;
  #at = 0;

  /** @param found  is called for each object under one of the keys, with its text */
  constructor(source: string, keys: ReadonlySet<string>, found: (holder: Loose, key: string, text: string) => void) {
    this.#source = source;
    this.#keys = keys;
    this.#found = found;
  }

  keep(value: unknown): void {
    const sign = this.#sign();
    if (sign === '{') this.#keepFields(isObject(value) ? value : {});
    else if (sign === '[') this.#keepItems(Array.isArray(value) ? value : []);
    else this.#skip();
  }

  #keepFields(holder: Loose): void {
    this.#at++;
    while (this.#sign() !== '}') {
      const start = this.#at;
      this.#skip();
      const key = JSON.parse(this.#source.slice(start, this.#at)) as string;
      this.#sign();
      // The colon.
      this.#at++;
      this.#sign();
      this.#keepField(holder, key);
      if (this.#sign() === ',') this.#at++;
    }
    this.#at++;
  }

  #keepField(holder: Loose, key: string): void {
    const value = Object.hasOwn(holder, key) ? holder[key] : undefined;
    if (!this.#keys.has(key) || this.#sign() !== '{') {
      this.keep(value);
      return;
    }
    const start = this.#at;
    this.#skip();
    if (isObject(value)) this.#found(holder, key, this.#source.slice(start, this.#at));
  }

  #keepItems(items: readonly unknown[]): void {
    this.#at++;
    for (let index = 0; this.#sign() !== ']'; index++) {
      this.keep(items[index]);
      if (this.#sign() === ',') this.#at++;
    }
    this.#at++;
  }

  /** Goes to the next sign that is no white space. */
  #sign(): string {
    while (/\s/.test(this.#source[this.#at] ?? '')) this.#at++;
    const sign = this.#source[this.#at];
    if (sign === undefined) throw new RangeError('The JSON ends in a value');
    return sign;
  }

  /** Goes behind a value. */
  #skip(): void {
    const token = /[[\]{}"]|[^\s,:[\]{}"]+/g;
    let depth = 0;
    do {
      token.lastIndex = this.#at;
      const sign = token.exec(this.#source)?.[0];
      if (sign === undefined) throw new RangeError('The JSON ends in a value');
      if (sign === '{' || sign === '[') depth++;
      else if (sign === '}' || sign === ']') depth--;
      this.#at = sign === '"' ? stringEnd(this.#source, token.lastIndex) + 1 : token.lastIndex;
    } while (depth > 0);
  }
}
