import type { Dispatcher } from 'undici';
import { UpstreamError } from '../base/http/upstream-error.ts';
import { ByteQueue, type Sender } from './byte-queue.ts';
import { plainHeaders } from './headers.ts';
import { codeOf, toUpstreamError } from './network-error.ts';
import { ProxyFailure } from './proxy-tunnel.ts';
import type { Connection, SocketWatch } from './socket-watch.ts';
import { checkHeaders, type Target } from './target.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';

export interface Dispatchers {
  /** Keeps connections to an origin for the next request. */
  pooled(origin: string): Dispatcher;
  /** Opens a new connection each time. */
  fresh: Dispatcher;
  watch: SocketWatch;
}

/** Makes a response that is decompressed while it is read. */
export type Decode = (response: TransportResponse) => TransportResponse;

/**
 * One exchange over undici's `dispatch`, the layer below undici's `request`. The parser hands the body to the reader
 * without a Node stream between them. When a connection fails, we know how much of the response had arrived.
 *
 * A connection may die in the pool in the very moment it is chosen. If the connection had served a request before, and
 * not one byte of a response came back, the request is sent once more, on a new connection, unless it must not be paid
 * for twice (`mayRepeat`).
 */
export function exchange(
  dispatchers: Dispatchers,
  request: TransportRequest,
  target: Target,
  decode: Decode,
): Promise<TransportResponse> {
  return new Promise((resolve, reject) => {
    new UndiciExchange(dispatchers, request, target, decode, resolve, reject).dispatch(
      dispatchers.pooled(target.origin),
    );
  });
}

/** A class instead of closures: ten closures took 2 KB for each request. */
class UndiciExchange implements Dispatcher.DispatchHandler, Sender {
  readonly #dispatchers: Dispatchers;
  readonly #signal: TransportRequest['signal'];
  /** null: its response has begun, so that it is not sent again. An open stream does not keep its body. */
  #request: TransportRequest | null;
  readonly #target: Target;
  readonly #decode: Decode;
  readonly #resolve: (response: TransportResponse) => void;
  readonly #reject: (error: unknown) => void;
  readonly #buffer: ByteQueue;
  readonly #onAbort: () => void;
  #controller: Dispatcher.DispatchController | null = null;
  #connection: Connection | null = null;
  #isStopped = false;
  #isRepeated = false;

  constructor(
    dispatchers: Dispatchers,
    request: TransportRequest,
    target: Target,
    decode: Decode,
    resolve: (response: TransportResponse) => void,
    reject: (error: unknown) => void,
  ) {
    this.#dispatchers = dispatchers;
    this.#request = request;
    this.#target = target;
    this.#decode = decode;
    this.#resolve = resolve;
    this.#reject = reject;
    const { signal } = request;
    this.#signal = signal;
    this.#buffer = new ByteQueue(signal, this);
    this.#onAbort = () => {
      this.stop();
      reject(signal.reason);
      this.#buffer.abort(signal.reason);
    };
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  dispatch(dispatcher: Dispatcher): void {
    const { method, headers, body } = this.#request as TransportRequest;
    const { origin, path, proxyHeaders } = this.#target;
    const list = headerList(headers);
    if (proxyHeaders !== undefined) list.push(...proxyHeaders);
    dispatcher.dispatch({ origin, path, method, headers: list, body }, this);
  }

  resume(): void {
    this.#controller?.resume();
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopListening();
    this.#controller?.abort(stopReason());
  }

  onRequestStart(started: Dispatcher.DispatchController): void {
    this.#controller = started;
    // The request may have been stopped while it waited for a connection. There was nothing to abort then.
    if (this.#isStopped) started.abort(stopReason());
    else this.#request?.sending?.();
  }

  onRequestSent(): void {
    this.#connection = this.#dispatchers.watch.requestSent();
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    this.#request = null;
    // Raw headers are parts of the packet that they came in: an open stream would keep it, 3 KB.
    if (Object.hasOwn(controller, 'rawHeaders')) controller.rawHeaders = null;
    if (status === 407 && this.#target.proxyHeaders !== undefined) {
      this.#refusedByProxy();
      return;
    }
    try {
      this.#resolve(this.#decode({ status, headers: plainHeaders(headers), body: this.#buffer }));
    } catch (error) {
      this.#reject(error);
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (!this.#buffer.push(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    this.#stopListening();
    // For a body without a declared length, undici reports a reset as the end of the body.
    const broken = this.#connection?.socket.errored;
    if (broken) this.#fail(toUpstreamError(broken));
    else this.#buffer.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#isStopped) return;
    const request = this.#request;
    if (!this.#isRepeated && request !== null && request.mayRepeat !== false && diedIdle(this.#connection, error)) {
      this.#isRepeated = true;
      this.#controller = this.#connection = null;
      this.dispatch(this.#dispatchers.fresh);
    } else this.#fail(codeOf(error) === 'UND_ERR_INVALID_ARG' ? this.#unsendable(error) : toUpstreamError(error));
  }

  #refusedByProxy(): void {
    this.stop();
    this.#fail(toUpstreamError(new ProxyFailure('PROXY_AUTHENTICATION')));
  }

  /** undici rejects a request with an invalid header, but does not say which header is invalid. */
  #unsendable(error: Error): UpstreamError {
    try {
      checkHeaders(this.#request?.headers ?? {});
    } catch (found) {
      return toUpstreamError(found);
    }
    return toUpstreamError(error);
  }

  #fail(error: UpstreamError): void {
    this.#stopListening();
    this.#reject(error);
    this.#buffer.fail(error);
  }

  #stopListening(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
  }
}

/** Names and values in turn: undici takes such a list without a copy, but looks through an object. */
function headerList(headers: TransportRequest['headers']): string[] {
  const list: string[] = [];
  for (const name in headers) list.push(name, headers[name] as string);
  if (headers['accept-encoding'] === undefined) list.push('accept-encoding', 'identity');
  return list;
}

const idleFailures: ReadonlySet<string | undefined> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

function diedIdle(connection: Connection | null, error: unknown): boolean {
  return connection !== null && connection.requests > 1 && !connection.responded && idleFailures.has(codeOf(error));
}

/** Only undici sees this error. */
function stopReason(): UpstreamError {
  return new UpstreamError('no longer wanted', { reason: 'network', status: 502 });
}
