/** Compressions of a request's body, as `Content-Encoding` names them. `deflate` is with the header of zlib or without. */
export type Coding = 'zstd' | 'br' | 'gzip' | 'deflate';

/** The bytes of a body; or why there are none: more than the limit, or data that is damaged, cut or goes on too long. */
export type Inflated = Uint8Array | 'too_large' | 'broken';

/** What the runtime has to inflate the bodies of requests. */
export interface Inflater {
  /** The codings that the runtime knows, the best first. */
  readonly codings: readonly Coding[];
  /**
   * Inflates a complete body, and stops as soon as the result would be longer than the limit.
   * @param limitBytes  of the result
   */
  inflate(coding: Coding, bytes: Uint8Array, limitBytes: number): Promise<Inflated>;
}

/**
 * Whether `deflate` data begins with the header of zlib, as the standard has it. Some clients send the data without.
 * @see RFC 1950, 2.2: the first byte names the method, and both together are a multiple of 31
 */
export function hasZlibHeader([first = 0, second = 0]: Uint8Array): boolean {
  return (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0;
}
