import type { Dispatcher } from 'undici';
import { UpstreamError } from '../base/upstream-error.ts';
import { joinHeaders } from './headers.ts';
import { codeOf, toUpstreamError } from './network-error.ts';
import { pieceBuffer } from './piece-buffer.ts';
import type { Connection, SocketWatch } from './socket-watch.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';

export interface Dispatchers {
  /** Keeps connections for the next request. */
  pooled: Dispatcher;
  /** Opens a new connection each time. */
  fresh: Dispatcher;
  watch: SocketWatch;
}

/**
 * One exchange over undici's `dispatch`, the layer below its `request`: the body is handed from the parser to the
 * reader without a Node stream between, and how much of an answer had come is known when a connection fails.
 *
 * A connection may die in the pool in the very moment it is chosen. When it had served a request before and not one
 * byte of an answer came back, the request goes out once more, on a new connection.
 * @param decoded  makes of an answer as it came one that is decompressed as it is read
 */
export function exchange(
  dispatchers: Dispatchers,
  request: TransportRequest,
  target: URL,
  decoded: (response: TransportResponse) => TransportResponse,
): Promise<TransportResponse> {
  return new Promise((resolve, reject) => {
    const { signal } = request;
    let controller: Dispatcher.DispatchController | null = null;
    let connection: Connection | null = null;
    let stopped = false;
    let repeated = false;

    const stop = () => {
      stopped = true;
      signal.removeEventListener('abort', onAbort);
      controller?.abort(stopReason());
    };
    const onAbort = () => {
      stop();
      reject(signal.reason);
      buffer.abort(signal.reason);
    };
    const fail = (error: UpstreamError) => {
      signal.removeEventListener('abort', onAbort);
      reject(error);
      buffer.fail(error);
    };
    const buffer = pieceBuffer(signal, () => controller?.resume(), stop);
    signal.addEventListener('abort', onAbort, { once: true });

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(started) {
        controller = started;
        // While it waited for a connection there was nothing to abort.
        if (stopped) started.abort(stopReason());
      },
      onRequestSent() {
        connection = dispatchers.watch.requestSent();
      },
      onResponseStart(_controller, status, headers) {
        if (status < 200) return;
        try {
          resolve(decoded({ status, headers: joinHeaders(Object.entries(headers)), body: buffer.source }));
        } catch (error) {
          reject(error);
        }
      },
      onResponseData(current, chunk) {
        if (!buffer.push(chunk)) current.pause();
      },
      onResponseEnd() {
        signal.removeEventListener('abort', onAbort);
        // undici takes a reset for the end of a body that has no declared length.
        const broken = connection?.socket.errored;
        if (broken) fail(toUpstreamError(broken));
        else buffer.end();
      },
      onResponseError(_controller, error) {
        if (stopped) return;
        if (!repeated && diedIdle(connection, error)) {
          repeated = true;
          controller = connection = null;
          dispatch(dispatchers.fresh);
        } else fail(toUpstreamError(error));
      },
    };
    const dispatch = (dispatcher: Dispatcher) => {
      dispatcher.dispatch(
        {
          origin: target.origin,
          path: target.pathname + target.search,
          method: request.method,
          headers: { 'accept-encoding': 'identity', ...request.headers },
          body: request.body,
        },
        handler,
      );
    };
    dispatch(dispatchers.pooled);
  });
}

const idleFailures: ReadonlySet<string | undefined> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

function diedIdle(connection: Connection | null, error: unknown): boolean {
  return connection !== null && connection.requests > 1 && !connection.answered && idleFailures.has(codeOf(error));
}

/** Only undici sees it. */
function stopReason(): UpstreamError {
  return new UpstreamError('no longer wanted', { reason: 'network', status: 502 });
}
