import type { ByteSource } from '../base/bytes.ts';

/**
 * How the body of a streamed reply ended.
 * - `sent`: the host has read it to its end, or the pipeline has broken it off
 * - `cancelled`: the client has left, or the host cancelled the body
 */
export type ReplyEnd = 'sent' | 'cancelled';

/** The body of a streamed reply. The reply carries its own end: whoever serves it listens here. */
export interface ReplyStream extends ByteSource {
  /** Is called once, when the stream ends. At once where it has ended already. One listener. */
  onEnd(listener: (end: ReplyEnd) => void): void;
  /**
   * Is called where the call is stopped while nobody reads: the host cuts the connection of a client that has stopped
   * reading, which would not notice. A later read rejects. One listener, the latest.
   */
  onCut?(listener: (error: unknown) => void): void;
}

/** A success, as an operation returns it to `http/edge`. */
export type OperationReply = {
  /** HTTP status. */
  status: number;
  /** Further response headers. */
  headers?: Record<string, string>;
} & (
  | { kind: 'json'; body: unknown }
  /** Server-sent events: complete frames in the client's format. Cancelling the stream stops the upstream. */
  | { kind: 'stream'; body: ReplyStream }
  /** A page or a file, complete in memory. */
  | { kind: 'file'; body: string | Uint8Array<ArrayBuffer>; contentType: string }
);
