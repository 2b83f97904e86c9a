import type { ByteSource } from '../base/bytes.ts';
import { UpstreamError } from '../base/upstream-error.ts';
import { joinHeaders, withoutEncoding } from './headers.ts';
import { toUpstreamError } from './network-error.ts';
import { checkTarget } from './target.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';

/** The transport of every runtime without a better one: the global `fetch`. */
export function defaultTransport(): Transport {
  // Looked up per call, so that a test's or a host's replacement is seen.
  return fetchTransport((input, init) => globalThis.fetch(input, init));
}

/**
 * A transport over any `fetch`. Where it cannot do what the contract asks, the runtime's own rules hold: header limits
 * are checked after the headers came, time-outs of the runtime stay in force, and decompression is `fetch`'s own.
 * @param fetchImpl  called with `redirect: 'manual'` and the request's signal
 */
export function fetchTransport(fetchImpl: typeof fetch): Transport {
  return { send: (request) => send(fetchImpl, request) };
}

/**
 * Streams are small and latency counts, so uncompressed is asked for; a browser ignores this. Deno takes it to mean that
 * we would decompress ourselves, also what comes compressed all the same.
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

/** A `fetch` that ignores its signal must not keep the caller waiting; its late answer is thrown away. */
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
  // Browsers hide a redirect that they were told not to follow: no status, no headers.
  if (response.type === 'opaqueredirect' || response.status === 0) {
    throw new UpstreamError('the provider answered with a redirect', { reason: 'bad_response', status: 502 });
  }
  let headerBytes = 0;
  for (const [name, value] of response.headers) headerBytes += name.length + value.length;
  if (headerBytes > request.limits.headerBytes) {
    throw new UpstreamError('the headers of the answer are too large', { reason: 'bad_response', status: 502 });
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
    // Cancelling a stream that already failed rejects with that failure, which its reader has seen.
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
