/** Bytes that arrive over time, pulled one piece at a time. */
export interface ByteSource {
  /** The next piece, never empty; null at the end. Rejects with UpstreamError, or with the reason of an abort. */
  read(): Promise<Uint8Array | null>;
  /**
   * All that is left, where it has arrived to its end, so that nobody need wait for what is here; may be empty. null: it
   * has not, or will fail. Absent: not known. Not while a read is pending.
   */
  rest?(): Uint8Array | null;
  /** true: all of it was read, so that nobody need read on to learn that. Else, or absent: not known. */
  readonly isOver?: boolean;
  /** Stops the source and frees what it holds, such as the socket. Safe to call at any time and more than once. */
  cancel(): void;
}

/** The pieces as one; a single piece is itself, not a copy. */
export function joinBytes(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const [first] = pieces;
  if (first && pieces.length === 1) return first as Uint8Array<ArrayBuffer>;
  let size = 0;
  for (const piece of pieces) size += piece.length;
  const joined = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}

/** Bytes of a text in UTF-8, without encoding it. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    // The two halves of a surrogate pair are four bytes together.
    if (code > 0x7f) bytes += code > 0x7ff && (code < 0xd800 || code > 0xdfff) ? 2 : 1;
  }
  return bytes;
}

/**
 * Under this key a body stream may name the source it pulls from: `stream[streamSource] = source`. An adapter that
 * finds one reads and cancels the source and leaves the stream alone, which saves what web streams cost per piece.
 * A registered symbol: two copies of the package may be loaded.
 */
export const streamSource: unique symbol = Symbol.for('model-gateway.streamSource');
