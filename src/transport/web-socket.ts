import type { ClientRequestArgs } from 'node:http';
import type { Duplex } from 'node:stream';
import type { buildConnector } from 'undici';
import type { ClientOptions, WebSocket } from 'ws';
import { UpstreamError } from '../base/http/upstream-error.ts';
import { toUpstreamError } from './network-error.ts';
import { checkTarget } from './target.ts';
import type { SocketListener, SocketRequest, UpstreamSocket } from './transport.ts';

/**
 * Opens a WebSocket by the package `ws`, over a connection of the connector that requests use. No compression is offered,
 * and no redirect is followed.
 * @throws UpstreamError `network`; the signal's own reason after an abort
 */
export async function openSocket(
  request: SocketRequest,
  listener: SocketListener,
  connector: buildConnector.connector,
): Promise<UpstreamSocket> {
  const { url, headers, signal, limits } = request;
  const target = checkTarget({ url, headers });
  const ws = await loadWs();
  if (ws === null) throw failed('the package ws is not installed');
  signal.throwIfAborted();
  const options: ClientOptions & ClientRequestArgs = {
    headers,
    perMessageDeflate: false,
    maxPayload: limits.frameBytes,
    maxHeaderSize: limits.headerBytes,
    createConnection: (_, connected) => {
      connectTo(new URL(target.origin), connector, connected as Connected);
      return undefined as never;
    },
  };
  return opened(new ws.WebSocket(target.href.replace(/^http/, 'ws'), options), signal, listener);
}

/** The name is not a literal in the import: a host app that bundles us without WebSockets need not install `ws`. */
const optional: string = 'ws';

/** Loads the package; null: it is not installed. */
async function loadWs(): Promise<typeof import('ws') | null> {
  try {
    return await import(/* webpackIgnore: true */ /* @vite-ignore */ optional);
  } catch {
    return null;
  }
}

type Connected = (error: Error | null, socket?: Duplex) => void;

function connectTo({ protocol, hostname, host, port }: URL, connector: buildConnector.connector, connected: Connected) {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  connector({ protocol, hostname: bare, host, port }, (...[error, socket]) => {
    if (error !== null) connected(error);
    else connected(null, socket as Duplex);
  });
}

function opened(socket: WebSocket, signal: AbortSignal, listener: SocketListener): Promise<UpstreamSocket> {
  return new Promise((resolve, reject) => {
    let failure: unknown = null;
    let isOpen = false;
    const onAbort = () => {
      reject(signal.reason);
      socket.terminate();
    };
    signal.addEventListener('abort', onAbort, { once: true });
    const fail = (error: UpstreamError) => {
      failure ??= error;
      signal.removeEventListener('abort', onAbort);
      if (!isOpen) reject(error);
    };
    socket.on('error', (error: Error & { code?: string }) =>
      fail(error.code?.startsWith('WS_ERR_') ? badFrame(error.code) : toUpstreamError(error)),
    );
    socket.on('unexpected-response', (request, { statusCode }) => {
      fail(failed(`the provider refused the WebSocket (${statusCode})`));
      request.destroy();
    });
    socket.on('open', () => {
      signal.removeEventListener('abort', onAbort);
      isOpen = true;
      resolve(overWs(socket));
    });
    socket.on('message', (data, isBinary) => {
      if (!isBinary) return listener.frame(data.toString());
      fail(badFrame('BINARY'));
      socket.terminate();
    });
    socket.on('pong', () => listener.pong());
    socket.on('close', () => {
      if (isOpen) listener.closed(failure);
    });
  });
}

function overWs(socket: WebSocket): UpstreamSocket {
  const ifOpen = (act: () => void) => {
    if (socket.readyState === socket.OPEN) act();
  };
  return {
    // A failure to write closes the connection, which tells of it.
    send: (text) => ifOpen(() => socket.send(text, () => undefined)),
    ping: () => ifOpen(() => socket.ping()),
    pause: () => ifOpen(() => socket.pause()),
    resume: () => ifOpen(() => socket.resume()),
    close: (isInOrder) => (isInOrder ? socket.close(1000) : socket.terminate()),
  };
}

function failed(message: string): UpstreamError {
  return new UpstreamError(message, { reason: 'network', status: 502, isUnsent: true });
}

/** @param code  of `ws`, such as `WS_ERR_UNSUPPORTED_MESSAGE_LENGTH` */
function badFrame(code: string): UpstreamError {
  const message = 'the provider sent what is no frame of text, or one that is too large';
  const failure = `${message} (${code})`;
  return new UpstreamError(message, { reason: 'bad_response', status: 502, providerCode: code, failure });
}
