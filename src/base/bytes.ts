/** Bytes that arrive over time, pulled one piece at a time. */
export interface ByteSource {
  /** The next piece, never empty; null at the end. Rejects with UpstreamError, or with the reason of an abort. */
  read(): Promise<Uint8Array | null>;
  /** Stops the source and frees what it holds, such as the socket. Safe to call at any time and more than once. */
  cancel(): void;
}
