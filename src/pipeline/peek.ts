import { type ByteSource, joinBytes } from '../base/bytes.ts';
import { UpstreamError } from '../base/upstream-error.ts';

/** An answer with a success status whose body is none. */
export function badBody(message: string): UpstreamError {
  return new UpstreamError(message, { reason: 'bad_response', status: 502 });
}

/** The content type is often wrong, so the bytes decide. JSON and HTML start unlike any stream of events. */
export function looksLikeStream(text: string): boolean {
  return !isBracket(text.charCodeAt(0)) && /^\s*(?:data|event|id|retry)?\s*:/.test(text);
}

/** A source whose first bytes were looked at without taking them away. */
export interface Peeked extends ByteSource {
  isStream: boolean;
}

const longestFieldName = 'event:'.length;
/** More white space than this before an answer is a flood. */
const maxWhiteSpace = 64 * 1024;

/** Reads up to the first bytes that say what an answer is: a bracket or a field name. White space before it is dropped. */
export async function peek(source: ByteSource): Promise<Peeked> {
  let held: Uint8Array | null = await source.read();
  let dropped = 0;
  // The usual answer says it with its first byte.
  while (held !== null && !isBracket(held[0])) {
    const start = startOfText(held);
    if (start > 0) held = held.subarray(start);
    dropped += start;
    if (dropped > maxWhiteSpace) throw badBody('The provider sent nothing but white space.');
    if (saysWhatItIs(held)) break;
    const piece = await source.read();
    if (piece === null) break;
    held = joinBytes([held, piece]);
  }
  return {
    isStream:
      held !== null &&
      !isBracket(held[0]) &&
      looksLikeStream(String.fromCharCode(...held.subarray(0, 2 * longestFieldName))),
    read() {
      if (held === null || held.length === 0) return source.read();
      const first = held;
      held = null;
      return Promise.resolve(first);
    },
    cancel: () => source.cancel(),
  };
}

/** What JSON and HTML start with. */
function isBracket(byte: number | undefined): boolean {
  return byte === 123 || byte === 91 || byte === 60;
}

/** Enough bytes for a field name, or a bracket or a colon before. */
function saysWhatItIs(bytes: Uint8Array): boolean {
  return bytes.length >= longestFieldName || isBracket(bytes[0]) || bytes.includes(58);
}

/** Behind white space and byte-order marks. */
function startOfText(bytes: Uint8Array): number {
  let at = 0;
  for (;;) {
    const byte = bytes[at] ?? 0;
    if (byte === 32 || (byte >= 9 && byte <= 13)) at++;
    else if (byte === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf) at += 3;
    else return at;
  }
}

/** The sentinel on a line of its own. In JSON no line begins so: line ends inside its strings are escaped. */
const sentinel = /(?:^|[\r\n])data: ?\[DONE\]/;
const sentinelBytes = 'xdata: [DONE]'.length;

/**
 * Where JSON was asked: sees the pieces of an answer, and says true when they are a stream that has said its sentinel,
 * which its upstream may then not end.
 */
export function sentinelWatch(): (piece: Uint8Array) => boolean {
  let isJson: boolean | null = null;
  let decoder: TextDecoder | null = null;
  let tail = '';
  return (piece) => {
    if (isJson === null) {
      const first = piece[startOfText(piece)];
      if (first !== undefined) isJson = isBracket(first);
    }
    if (isJson === true) return false;
    decoder ??= new TextDecoder('latin1');
    const text = tail + decoder.decode(piece);
    tail = text.slice(-sentinelBytes);
    return sentinel.test(text);
  };
}
