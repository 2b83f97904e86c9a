import type { ByteSource } from '../base/bytes.ts';

export interface TransportRequest {
  method: 'GET' | 'POST';
  url: string;
  /** Lower-case names. */
  headers: Record<string, string>;
  body?: string | Uint8Array;
  /** Aborting it closes the socket at once and rejects what is pending with `signal.reason`. */
  signal: AbortSignal;
  limits: TransportLimits;
}

/** What an upstream, which is not trusted, may send. */
export interface TransportLimits {
  /** All response headers together. */
  headerBytes: number;
}

export interface TransportResponse {
  status: number;
  /** Lower-case names; repeated ones joined by ", ". */
  headers: Record<string, string>;
  /** Decompressed. Whoever gets the response reads it to the end or cancels it. */
  body: ByteSource;
}

/**
 * One HTTP exchange. Redirects are not followed: a 3xx is an answer like any other. Compressed answers (gzip, deflate,
 * br) are decompressed as they arrive, never further ahead of the reader than one piece.
 * @throws UpstreamError for a failed connection (reason `network`, status 502) and for headers beyond the limit
 *         (`bad_response`); the signal's own reason after an abort
 */
export interface Transport {
  send(request: TransportRequest): Promise<TransportResponse>;
  /** true: what `StopSignal` offers is all it asks of a request's signal, and it may be given no more; cheaper. */
  takesStopSignal?: boolean;
  /** Closes idle connections. */
  close?(): Promise<void>;
}
