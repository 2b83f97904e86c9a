/**
 * The compressions of a request's body, as `Content-Encoding` names them. `deflate` is with or without the header of
 * zlib.
 */
export type Coding = 'zstd' | 'br' | 'gzip' | 'deflate';

/**
 * The bytes of a body. `too_large`: more than the limit. `broken`: the data is damaged, cut, or goes on after its end.
 */
export type Inflated = Uint8Array | 'too_large' | 'broken';

/** Inflates the bodies of requests, as the runtime can. */
export interface Inflater {
  /** The codings that the runtime knows, the best first. */
  readonly codings: readonly Coding[];
  /**
   * Inflates a complete body, and stops as soon as the result would be longer than the limit.
   * @param limitBytes  the most bytes of the result
   */
  inflate(coding: Coding, bytes: Uint8Array, limitBytes: number): Promise<Inflated>;
}

/**
 * Tells whether `deflate` data begins with the header of zlib, as the standard requires. Some clients leave it out.
 * @see RFC 1950, 2.2: the first byte names the method, and both together are a multiple of 31
 */
export function hasZlibHeader([first = 0, second = 0]: Uint8Array): boolean {
  return (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0;
}
