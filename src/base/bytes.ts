/** Bytes that arrive over time. The reader pulls one buffer at a time. */
export interface ByteSource {
  /** The next buffer, never empty; null at the end. Rejects with UpstreamError, or with the reason of an abort. */
  read(): Promise<Uint8Array | null>;
  /**
   * All the bytes that are left, where the source has already received its end, so that the reader need not wait for
   * them; may be empty. null: more bytes are to come, or the source will fail. Sources that cannot know this leave the
   * method out. Must not be called while a read is pending.
   */
  rest?(): Uint8Array | null;
  /** true: the reader has read all bytes and need not call `read` again to see the end. false or absent: not known. */
  readonly isOver?: boolean;
  /** Stops the source and frees what it holds, such as the socket. Safe to call at any time and more than once. */
  cancel(): void;
}

/** Joins buffers into one. A single buffer is returned itself, not a copy. */
export function joinBytes(buffers: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const [first] = buffers;
  if (first && buffers.length === 1) return first as Uint8Array<ArrayBuffer>;
  let size = 0;
  for (const buffer of buffers) size += buffer.length;
  const joined = new Uint8Array(size);
  let at = 0;
  for (const buffer of buffers) {
    joined.set(buffer, at);
    at += buffer.length;
  }
  return joined;
}

/** The number of bytes of a text in UTF-8. Does not encode the text. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    // Each half of a surrogate pair counts 2 bytes: the pair has 4 in UTF-8.
    if (code > 0x7f) bytes += code > 0x7ff && (code < 0xd800 || code > 0xdfff) ? 2 : 1;
  }
  return bytes;
}

/**
 * A body stream may store the source that it pulls from under this key: `stream[streamSource] = source`. An adapter
 * that finds a source reads and cancels the source and does not touch the stream. This saves the cost that web streams
 * have per buffer. The symbol is registered, because two copies of the package may be loaded.
 */
export const streamSource: unique symbol = Symbol.for('model-gateway.streamSource');
