import type { ByteSource } from '../base/bytes.ts';

/** A request to a provider. */
export interface TransportRequest {
  /** HTTP method. */
  method: 'GET' | 'POST';
  /** The complete address. */
  url: string;
  /** Lower-case names. */
  headers: Record<string, string>;
  /** The body as text; absent: none. */
  body?: string | Uint8Array;
  /** A signal whose abort closes the socket at once and rejects pending promises with `signal.reason`. */
  signal: AbortSignal;
  /** The limits for the response. */
  limits: TransportLimits;
  /** Called by a transport with `reportsSending`, before the first byte of the request leaves. */
  sending?(): void;
  /** false: the request is not sent again once it may have reached the server. Default true. */
  mayRepeat?: boolean;
}

/** Limits for a response: an upstream is not trusted. */
export interface TransportLimits {
  /** The most bytes of all response headers together. */
  headerBytes: number;
}

/** The response of a provider: its headers are there, its body is still to be read. */
export interface TransportResponse {
  /** HTTP status. */
  status: number;
  /** Lower-case names; repeated ones joined by ", ". */
  headers: Record<string, string>;
  /** The decompressed body. The receiver of the response must read the body to its end or cancel it. */
  body: ByteSource;
}

/**
 * One HTTP exchange. Redirects are not followed: a 3xx is a response like any other. Compressed responses (gzip,
 * deflate, br) are decompressed as they arrive, at most one buffer ahead of the reader.
 * @throws UpstreamError for a failed connection (reason `network`, status 502) and for headers beyond the limit
 *         (`bad_response`); the signal's own reason after an abort
 */
export interface Transport {
  /** Sends one request, and returns when the headers of the response are there. */
  send(request: TransportRequest): Promise<TransportResponse>;
  /** true: the transport needs only the methods of `StopSignal`, so `signal` may be one. That is cheaper. */
  takesStopSignal?: boolean;
  /** true: the transport calls `sending`. Any other transport counts as sending at once. */
  reportsSending?: boolean;
  /**
   * Opens a WebSocket to a provider, for the option `webSocket` of a provider. Absent: the transport opens none.
   * @throws UpstreamError where the connection or the handshake fails; the signal's own reason after an abort
   */
  connect?(request: SocketRequest, listener: SocketListener): Promise<UpstreamSocket>;
  /** Closes idle connections. */
  close?(): Promise<void>;
}

/** The handshake of a WebSocket to a provider. */
export interface SocketRequest {
  /** The complete address, `https` or `http`. */
  url: string;
  /** Lower-case names. */
  headers: Record<string, string>;
  /** A signal whose abort ends the handshake at once; it has no effect on an open connection. */
  signal: AbortSignal;
  /** The limits for the response to the handshake, and for each frame. */
  limits: TransportLimits & { frameBytes: number };
}

/** Learns what happens to a WebSocket. A provider may send frames before it was asked for anything. */
export interface SocketListener {
  /** Takes a text frame. */
  frame(text: string): void;
  /** The provider has answered a ping. */
  pong(): void;
  /** The connection is closed, for whatever reason; called once. @param error  the failure; null: it was closed in order */
  closed(error: unknown): void;
}

/** An open WebSocket to a provider. Nothing of it throws. */
export interface UpstreamSocket {
  /** Sends a text frame. */
  send(text: string): void;
  /** Sends a ping, which a provider answers by itself. */
  ping(): void;
  /** Reads nothing more from the provider until `resume`. */
  pause(): void;
  /** Reads on. */
  resume(): void;
  /** Closes the connection. @param isInOrder  true: with the frames of the protocol; false: at once */
  close(isInOrder: boolean): void;
}
