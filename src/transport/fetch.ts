import type { ByteSource } from '../base/bytes.ts';
import { UpstreamError } from '../base/http/upstream-error.ts';
import { joinHeaders, withoutEncoding } from './headers.ts';
import { toUpstreamError } from './network-error.ts';
import { checkTarget } from './target.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';

/** Tells whether the transport of this runtime goes over the proxies that it is given: `fetch` has its own rules. */
export const takesProxies = false;
/** Tells whether the transport of this runtime opens WebSockets to providers: not all can set headers of a handshake. */
export const opensSockets = false;

/** The transport for runtimes that have no better one: the global `fetch`. */
export function defaultTransport(): Transport {
  // Looked up in each call, so that a `fetch` that a test or a host app replaced is used.
  return fetchTransport((input, init) => globalThis.fetch(input, init));
}

/**
 * A transport over any `fetch`. Where `fetch` cannot fulfil the contract, the rules of the runtime apply: header limits
 * are checked after the headers have arrived, the time-outs of the runtime stay in force, and `fetch` decompresses.
 * @param fetchImpl  called with `redirect: 'manual'` and the request's signal
 */
export function fetchTransport(fetchImpl: typeof fetch): Transport {
  return { send: (request) => send(fetchImpl, request) };
}

/**
 * We ask for uncompressed responses: streams are small, and latency counts. A browser ignores this header. Deno does
 * not get the header: Deno would then leave a compressed response to us, and some servers compress anyway.
 */
const uncompressed: Record<string, string> = 'Deno' in globalThis ? {} : { 'accept-encoding': 'identity' };

async function send(fetchImpl: typeof fetch, request: TransportRequest): Promise<TransportResponse> {
  const { signal } = request;
  if (signal.aborted) throw signal.reason;
  const { href } = checkTarget(request);
  const response = await untilAborted(
    fetchImpl(href, {
      method: request.method,
      headers: { ...uncompressed, ...request.headers },
      body: request.body as BodyInit | undefined,
      redirect: 'manual',
      signal,
    }),
    signal,
  );
  try {
    return readResponse(response, request);
  } catch (error) {
    discard(response);
    throw error;
  }
}

/** A `fetch` that ignores its signal must not make the caller wait. A late response is thrown away. */
function untilAborted(pending: Promise<Response>, signal: AbortSignal): Promise<Response> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    pending.then(
      (response) => {
        signal.removeEventListener('abort', onAbort);
        if (signal.aborted) discard(response);
        resolve(response);
      },
      (error: unknown) => {
        signal.removeEventListener('abort', onAbort);
        reject(signal.aborted ? signal.reason : toUpstreamError(error));
      },
    );
  });
}

function readResponse(response: Response, request: TransportRequest): TransportResponse {
  // Browsers hide a redirect that they may not follow: the response has no status and no headers.
  if (response.type === 'opaqueredirect' || response.status === 0) {
    throw new UpstreamError(
      'The provider responded with a redirect, and the gateway follows none: baseUrl of the provider has to be the address that serves the requests',
      { reason: 'bad_response', status: 502 },
    );
  }
  let headerBytes = 0;
  for (const [name, value] of response.headers) headerBytes += name.length + value.length;
  if (headerBytes > request.limits.headerBytes) {
    throw new UpstreamError('the headers of the response are too large', { reason: 'bad_response', status: 502 });
  }
  const headers = joinHeaders(response.headers);
  return {
    status: response.status,
    headers: headers['content-encoding'] === undefined ? headers : withoutEncoding(headers),
    body: response.body === null ? emptySource : streamSource(response.body, request.signal),
  };
}

const emptySource: ByteSource = { read: async () => null, cancel() {} };

function streamSource(stream: ReadableStream<Uint8Array>, signal: AbortSignal): ByteSource {
  const reader = stream.getReader();
  let rejectPending: ((reason: unknown) => void) | null = null;
  const onAbort = () => {
    rejectPending?.(signal.reason);
    release();
  };
  const release = () => {
    signal.removeEventListener('abort', onAbort);
    // Cancelling a stream that already failed rejects with the same failure. The reader has seen it.
    reader.cancel().catch(() => {});
  };
  signal.addEventListener('abort', onAbort, { once: true });
  return {
    read: () =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        rejectPending = reject;
        const next = () => {
          reader.read().then(
            ({ value, done }) => {
              if (!done && value.length === 0) return next();
              rejectPending = null;
              if (done) signal.removeEventListener('abort', onAbort);
              resolve(done ? null : value);
            },
            (error: unknown) => {
              signal.removeEventListener('abort', onAbort);
              reject(signal.aborted ? signal.reason : toUpstreamError(error));
            },
          );
        };
        next();
      }),
    cancel: release,
  };
}

function discard(response: Response): void {
  response.body?.cancel().catch(() => {});
}
