import type { ByteSource } from '../base/bytes.ts';

export interface TransportRequest {
  /** HTTP method. */
  method: 'GET' | 'POST';
  /** The complete address. */
  url: string;
  /** Lower-case names. */
  headers: Record<string, string>;
  /** The body as text; absent: none. */
  body?: string | Uint8Array;
  /** An abort closes the socket at once and rejects pending promises with `signal.reason`. */
  signal: AbortSignal;
  /** The most that the response may have. */
  limits: TransportLimits;
  /** Called by a transport with `reportsSending`, before the first byte of the request leaves. */
  sending?(): void;
  /** false: once it may have reached the server, the request is not sent again. Default true. */
  mayRepeat?: boolean;
}

/** Limits for a response: an upstream is not trusted. */
export interface TransportLimits {
  /** For all response headers together. */
  headerBytes: number;
}

export interface TransportResponse {
  /** HTTP status. */
  status: number;
  /** Lower-case names; repeated ones joined by ", ". */
  headers: Record<string, string>;
  /** Decompressed. The receiver of the response must read the body to its end or cancel it. */
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
  /** true: the transport calls `sending`. Any other is taken to send at once. */
  reportsSending?: boolean;
  /** Closes idle connections. */
  close?(): Promise<void>;
}
