import { type ByteSource, joinBytes } from '../base/bytes.ts';
import { UpstreamError } from '../base/upstream-error.ts';

/** An answer with a success status whose body is none. */
export function badBody(message: string): UpstreamError {
  return new UpstreamError(message, { reason: 'bad_answer', status: 502 });
}

/** The content type is often wrong, so the bytes decide. JSON and HTML start unlike any stream of events. */
export function looksLikeStream(text: string): boolean {
  return /^\s*(?:data|event|id|retry)?\s*:/.test(text);
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
  let held: Uint8Array = new Uint8Array(0);
  let dropped = 0;
  while (held.length < longestFieldName && !saysWhatItIs(held)) {
    const piece = await source.read();
    if (piece === null) break;
    const joined = held.length === 0 ? piece : joinBytes([held, piece]);
    const start = startOfText(joined);
    held = joined.subarray(start);
    dropped += start;
    if (dropped > maxWhiteSpace) throw badBody('The provider sent nothing but white space.');
  }
  return {
    isStream: looksLikeStream(String.fromCharCode(...held.subarray(0, 2 * longestFieldName))),
    read() {
      if (held.length === 0) return source.read();
      const first = held;
      held = new Uint8Array(0);
      return Promise.resolve(first);
    },
    cancel: () => source.cancel(),
  };
}

/** A bracket or a colon. */
function saysWhatItIs(bytes: Uint8Array): boolean {
  return bytes
    .subarray(0, longestFieldName)
    .some((byte, at) => byte === 58 || (at === 0 && (byte === 123 || byte === 91 || byte === 60)));
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

/** Where JSON was asked: ends a stream of events with its sentinel, as the upstream may not. Any other body passes as it is. */
export function untilSentinel(source: ByteSource): ByteSource {
  const decoder = new TextDecoder('latin1');
  let tail: string | null = '';
  let isKnown = false;
  let isOver = false;
  return {
    async read() {
      if (isOver) return null;
      const piece = await source.read();
      if (piece === null || tail === null) return piece;
      if (!isKnown) {
        const head = (tail + decoder.decode(piece.subarray(0, 2 * longestFieldName))).trimStart();
        isKnown = looksLikeStream(head);
        // Fewer bytes than a field name has, or white space, do not tell yet.
        if (!isKnown) tail = head.length < longestFieldName && !/[{[<]/.test(head) ? head : null;
        if (!isKnown) return piece;
      }
      const text = tail + decoder.decode(piece);
      if (sentinel.test(text)) {
        isOver = true;
        source.cancel();
      }
      tail = text.slice(-sentinelBytes);
      return piece;
    },
    cancel: () => source.cancel(),
  };
}
