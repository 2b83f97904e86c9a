import type { ByteSource } from '../base/bytes.ts';

/**
 * The end of the body of a streamed reply.
 * - `sent`: the host has read it to its end, or the pipeline has broken it off
 * - `cancelled`: the client has left, or the host cancelled the body
 */
export type ReplyEnd = 'sent' | 'cancelled';

/** The body of a streamed reply. The reply carries its own end: the host that serves it listens here. */
export interface ReplyStream extends ByteSource {
  /**
   * Sets the listener, which is called once, when the stream ends, or at once where it has ended already. There is one
   * listener.
   */
  onEnd(listener: (end: ReplyEnd) => void): void;
  /**
   * Sets the listener, which is called where the call is stopped while nobody reads: the host then cuts the connection
   * of a client that has stopped reading, which would not notice. A later read rejects. There is one listener, the
   * latest.
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
