import { tryParseJson } from '../../base/json.ts';

/** A string or a number in a JSON text, with its place. Names of members are strings, too. */
export interface JsonToken {
  readonly start: number;
  readonly end: number;
}

/** Tells whether a text is a JSON object, list or string: a redaction must leave it JSON. */
export function isJsonText(text: string): boolean {
  return beginsLikeJson(text) && tryParseJson(text) !== undefined;
}

export function beginsLikeJson(text: string): boolean {
  return /^[ \t\r\n]*[{["]/.test(text);
}

/** Every string and every number of a text that is JSON, in order. */
export function* jsonTokens(text: string): Generator<JsonToken, void, void> {
  const begin = /["\d-]/g;
  const number = /-?\d[\d.eE+-]*/y;
  for (let found = begin.exec(text); found !== null; found = begin.exec(text)) {
    const start = found.index;
    number.lastIndex = start;
    const end = text[start] === '"' ? stringEnd(text, start) : start + (number.exec(text)?.[0].length ?? 1);
    yield { start, end };
    begin.lastIndex = end;
  }
}

/** The end of a string. A quotation mark after an odd number of backslashes is a part of the string. */
function stringEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let first = at;
    while (text[first - 1] === '\\') first--;
    if ((at - first) % 2 === 0) return at + 1;
  }
  return text.length;
}

/** The meaning of a token: a string without its escapes; a number as it is written and without an exponent. */
export function saidBy(token: string): { isNumber: boolean; spellings: readonly string[] } {
  if (token.startsWith('"')) return { isNumber: false, spellings: [JSON.parse(token) as string] };
  return { isNumber: true, spellings: spellingsOf(token) };
}

/** A number as it is written, and without an exponent. */
export function spellingsOf(written: string): readonly string[] {
  const plain = /[.eE]/.test(written) ? countedOut(Number(written)) : written;
  return plain === written ? [written] : [written, plain];
}

/** Writes a whole number without an exponent. */
function countedOut(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 1e30 ? BigInt(value).toString() : String(value);
}
