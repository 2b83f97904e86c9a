/**
 * The most tokens that texts, JSON and media can become, whichever model reads them. No tokenizer is asked: the
 * tokenizers of models (byte-level BPE, or pieces with a fallback to bytes) give every token at least one byte of its
 * own, so that a text has at most as many tokens as bytes. What is left to watch is what happens to a text before it
 * reaches the tokenizer: normal forms, which may be longer, and the templates that write JSON into the prompt.
 */

/** How much of a request may still be brought into its normal forms, in UTF-16 units: it takes 40 ms per million. */
export interface Effort {
  unitsLeft: number;
}

export function newEffort(): Effort {
  return { unitsLeft: 1_000_000 };
}

/** No character grows more in UTF-8: U+FDFA becomes eighteen letters. */
const longestNormalForm = 11;

const encoder = new TextEncoder();
const pieceUnits = 8_192;
let scratch: Uint8Array<ArrayBuffer> | null = null;

/** Shows the text in UTF-8, piece by piece; a surrogate pair across a cut takes six bytes. */
function eachPiece(text: string, see: (bytes: Uint8Array, length: number) => void): void {
  // A UTF-16 unit is at most three bytes.
  scratch ??= new Uint8Array(3 * pieceUnits);
  if (text.length <= pieceUnits) {
    see(scratch, encoder.encodeInto(text, scratch).written);
    return;
  }
  for (let at = 0; at < text.length; at += pieceUnits)
    see(scratch, encoder.encodeInto(text.slice(at, at + pieceUnits), scratch).written);
}

function utf8Bytes(text: string): number {
  let bytes = 0;
  eachPiece(text, (_, length) => {
    bytes += length;
  });
  return bytes;
}

/** Some tokenizers bring a text into the normal form NFC or NFKC first: the longest of the three counts. */
export function textBound(text: string, effort: Effort): number {
  const bytes = utf8Bytes(text);
  // ASCII is in every normal form.
  if (bytes === text.length) return bytes;
  if (text.length > effort.unitsLeft) return bytes * longestNormalForm;
  effort.unitsLeft -= text.length;
  const compatible = text.normalize('NFKC');
  // What is in NFKC is in NFC, and nearly every text is.
  if (compatible === text) return bytes;
  const composed = text.normalize('NFC');
  return Math.max(bytes, utf8Bytes(compatible), composed === text ? 0 : utf8Bytes(composed));
}

/**
 * A text inside JSON: quotes, escapes, and whatever an encoder may escape though it need not, such as all that is not
 * ASCII and what HTML minds.
 */
export function quotedBound(text: string, effort: Effort): number {
  escaped ??= escapedLengths();
  const lengths = escaped;
  const short = text.length <= shortText ? shortQuoted(text, lengths) : null;
  if (short !== null) return short;
  let plain = 0;
  let quoted = 2;
  eachPiece(text, (bytes, length) => {
    plain += length;
    for (let at = 0; at < length; at++) quoted += lengths[bytes[at] as number] as number;
  });
  // What is escaped does not grow in its normal form, what is not does.
  return plain === text.length ? quoted : quoted + textBound(text, effort) - plain;
}

/** Names and the like are most of JSON; for them the encoder is not worth its call. */
const shortText = 48;

/** null: not all of it is ASCII. */
function shortQuoted(text: string, lengths: Uint8Array): number | null {
  let quoted = 2;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 0x80) return null;
    quoted += lengths[unit] as number;
  }
  return quoted;
}

let escaped: Uint8Array | null = null;

/** By byte of UTF-8: how long the character that begins with it becomes as an escape. */
function escapedLengths(): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => {
    if (byte < 0x20) return 6;
    if (byte < 0x80)
      return '"\\'.includes(String.fromCharCode(byte)) ? 2 : "&'<>".includes(String.fromCharCode(byte)) ? 6 : 1;
    if (byte < 0xc0) return 0;
    return byte < 0xf0 ? 6 : 12;
  });
}

/**
 * A value written as JSON, possibly indented. Every bracket and comma may be followed by a line break and, for each
 * level, up to four spaces, of which tokenizers take sixteen or more at once.
 */
export function jsonBound(value: unknown, effort: Effort, depth = 0): number {
  switch (typeof value) {
    case 'string':
      return quotedBound(value, effort);
    case 'number':
      return 24;
    case 'object':
      if (value === null) return 4;
      return Array.isArray(value) ? arrayBound(value, effort, depth) : objectBound(value, effort, depth);
    default:
      return 5;
  }
}

function arrayBound(items: readonly unknown[], effort: Effort, depth: number): number {
  const separator = separatorBound(depth);
  let tokens = 2 * separator;
  for (const item of items) tokens += separator + jsonBound(item, effort, depth + 1);
  return tokens;
}

function objectBound(value: object, effort: Effort, depth: number): number {
  const separator = separatorBound(depth);
  let tokens = 2 * separator;
  for (const key in value) {
    // A colon and a space.
    tokens +=
      separator + quotedBound(key, effort) + 2 + jsonBound((value as Record<string, unknown>)[key], effort, depth + 1);
  }
  return tokens;
}

/** A bracket or comma, a line break, and the spaces that follow it. */
function separatorBound(depth: number): number {
  return 3 + (depth >> 2);
}
