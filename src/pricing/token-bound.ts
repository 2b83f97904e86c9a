import { hasLongRun, pieceEnd } from '../base/text/normal-form.ts';

/**
 * Upper bounds for the tokens of texts, JSON and media, for any model. We need no tokenizer: the tokenizers of models
 * (byte-level BPE, or word parts with a fallback to bytes) give every token at least one byte of its own. So a text has
 * at most as many tokens as bytes. But a text may grow before it reaches the tokenizer: by a normal form, and by
 * templates that write JSON into the prompt.
 */

/** The text of a request that may still be normalized, in UTF-16 units: normalizing takes 40 ms per million. */
export interface Effort {
  unitsLeft: number;
}

export function newEffort(): Effort {
  return { unitsLeft: 500_000 };
}

/** The largest growth of a character in UTF-8: U+FDFA becomes eighteen letters. */
const longestNormalForm = 11;

const encoder = new TextEncoder();
const blockUnits = 8_192;
let scratch: Uint8Array<ArrayBuffer> | null = null;

/** Encodes a text to UTF-8 in blocks. A surrogate pair that is cut by a block's end takes six bytes. */
function eachBlock(text: string, see: (bytes: Uint8Array, length: number) => void): void {
  // A UTF-16 unit has at most three bytes.
  scratch ??= new Uint8Array(3 * blockUnits);
  if (text.length <= blockUnits) {
    see(scratch, encoder.encodeInto(text, scratch).written);
    return;
  }
  for (let at = 0; at < text.length; at += blockUnits)
    see(scratch, encoder.encodeInto(text.slice(at, at + blockUnits), scratch).written);
}

function utf8Bytes(text: string): number {
  let bytes = 0;
  eachBlock(text, (_, length) => {
    bytes += length;
  });
  return bytes;
}

/**
 * The bound of a text. Some tokenizers first bring a text into the normal form NFC or NFKC, so the longest of the three
 * forms counts.
 */
export function textBound(text: string, effort: Effort): number {
  const bytes = utf8Bytes(text);
  // ASCII text is in every normal form.
  if (bytes === text.length) return bytes;
  if (text.length > effort.unitsLeft || hasLongRun(text)) return bytes * longestNormalForm;
  let compatible = 0;
  let composed = 0;
  for (let at = 0; at < text.length; ) {
    const end = pieceEnd(text, at);
    const piece = text.slice(at, end);
    const most = pieceBound(piece, effort);
    compatible += most.compatible;
    composed += most.composed;
    at = end;
  }
  return Math.max(bytes, compatible, composed);
}

/** The bytes of both normal forms. Some letters become eighteen, and the longer text is paid for, too. */
function pieceBound(piece: string, effort: Effort): { compatible: number; composed: number } {
  const bytes = utf8Bytes(piece);
  if (effort.unitsLeft < piece.length) {
    const most = bytes * longestNormalForm;
    return { compatible: most, composed: most };
  }
  effort.unitsLeft -= piece.length;
  const compatible = piece.normalize('NFKC');
  // Text in NFKC is also in NFC, and nearly every text is in NFKC.
  if (compatible === piece) return { compatible: bytes, composed: bytes };
  effort.unitsLeft -= 2 * compatible.length;
  const composed = piece.normalize('NFC');
  return { compatible: utf8Bytes(compatible), composed: composed === piece ? bytes : utf8Bytes(composed) };
}

/**
 * The bound of a text inside JSON: quotes, escapes, and all characters that an encoder may escape without need, such as
 * non-ASCII characters and those that matter in HTML.
 */
export function quotedBound(text: string, effort: Effort): number {
  escaped ??= escapedLengths();
  const lengths = escaped;
  const short = text.length <= shortText ? shortQuoted(text, lengths) : null;
  if (short !== null) return short;
  let plain = 0;
  let quoted = 2;
  eachBlock(text, (bytes, length) => {
    plain += length;
    for (let at = 0; at < length; at++) quoted += lengths[bytes[at] as number] as number;
  });
  // An escape sequence does not grow in a normal form; a plain character may.
  return plain === text.length ? quoted : quoted + textBound(text, effort) - plain;
}

/** Most texts in JSON are short, such as names. For them, calling the encoder would cost too much. */
const shortText = 48;

/** @returns null: the text is not all ASCII */
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

/** By first byte of a character in UTF-8: the length of the character's escape. */
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
 * Characters of the longest number in JSON: a sign, `0.00000` and 17 digits. With an exponent, a number has 24 at most.
 */
const longestNumber = 25;

/**
 * The bound of a value written as JSON, possibly indented. Each bracket and comma may be followed by a line break and
 * up to four spaces per level. Tokenizers take sixteen or more spaces as one token.
 */
export function jsonBound(value: unknown, effort: Effort, depth = 0): number {
  switch (typeof value) {
    case 'string':
      return quotedBound(value, effort);
    case 'number':
      return longestNumber;
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
    // The colon and a space.
    tokens +=
      separator + quotedBound(key, effort) + 2 + jsonBound((value as Record<string, unknown>)[key], effort, depth + 1);
  }
  return tokens;
}

/** A bracket or comma, a line break, and the spaces after it. */
function separatorBound(depth: number): number {
  return 3 + (depth >> 2);
}
