import type { ByteSource } from '../base/bytes.ts';
import type { StopSignal, StopSwitch } from '../base/stop.ts';

const stop = Symbol('model-gateway.stop');

export interface TransportRequest {
  method: 'GET' | 'POST';
  url: string;
  /** Lower-case names. */
  headers: Record<string, string>;
  body?: string | Uint8Array;
  /** Aborting it closes the socket at once and rejects what is pending with `signal.reason`. */
  signal: AbortSignal;
  limits: TransportLimits;
  /** The same as `signal`, where it comes from our own pipeline: cheaper. See `stopOf`. */
  [stop]?: StopSignal;
}

/** A request that `stopSwitch` stops; its `signal` is made only if a transport asks for it. */
export function stoppable(request: Omit<TransportRequest, 'signal'>, stopSwitch: StopSwitch): TransportRequest {
  const { method, url, headers, body, limits } = request;
  return {
    method,
    url,
    headers,
    body,
    limits,
    get signal() {
      return stopSwitch.signal;
    },
    [stop]: stopSwitch,
  };
}

/** What stops a request. */
export function stopOf(request: TransportRequest): StopSignal {
  return request[stop] ?? request.signal;
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
 *         (`bad_answer`); the signal's own reason after an abort
 */
export interface Transport {
  send(request: TransportRequest): Promise<TransportResponse>;
  /** Closes idle connections. */
  close?(): Promise<void>;
}
