import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Http2Stream } from 'node:http2';
import { FastResponse, NodeRequest } from 'srvx/node';
import type { HandleContext, RequestHandler } from '../../src/index.ts';
import { awaitsContinue, discardRest, isConsumed, isUntouched, readText } from './shared/request-body.ts';

/**
 * A request and its response, from node:http or a framework on top of it. It lives while the provider thinks, so it is
 * a class: docs/performance.md, "Classes instead of literals".
 */
export class NodeExchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** The complete path and query, if a framework has shortened `req.url`. */
  readonly url: string | undefined;
  /** true: the response is known, so the rest of the body is not needed. */
  isAnswered = false;

  constructor(req: IncomingMessage, res: ServerResponse, url?: string) {
    this.req = req;
    this.res = res;
    this.url = url;
  }
}

/**
 * Responds to one node:http request with the gateway. When the client leaves, the request's signal is aborted and the
 * body of the response is cancelled. When the client reads slowly, sending waits.
 * @returns  settles, and never rejects, when the response has been handed to the socket or the client has left
 */
export async function respond(gateway: RequestHandler, exchange: NodeExchange, context: HandleContext): Promise<void> {
  const { req, res } = exchange;
  try {
    const response = await gateway.handle(toRequest(exchange), {
      ...context,
      bodyFailure: context.bodyFailure ?? (context.body === undefined && isConsumed(req) ? 'consumed' : undefined),
      path: plainPathOf(exchange),
      readText: isUntouched(req) ? (limit, done, failed) => readText(exchange, limit, done, failed) : undefined,
      beforeBody: awaitsContinue(exchange) ? () => res.writeContinue() : undefined,
      Response: fastResponse,
      onLeave: (callback, cut) => onLeave(exchange, callback, cut),
    });
    exchange.isAnswered = true;
    const isUnasked = awaitsContinue(exchange);
    if (!req.complete) discardRest(exchange);
    // Not awaited, so that the response and the context of the request are let go while a stream is open.
    return send(res, response, isUnasked);
  } catch {
    // The gateway turns its own failures into responses. Errors here mean a status or a header that cannot be sent.
    if (res.headersSent) cut(res);
    else writeHead(res, 500, ['content-length', '0']).end();
  }
}

/** Paths that every URL parser leaves unchanged. */
const plainPath = /^\/[a-z\d/_-]*$/i;

/** @returns undefined: the path must be taken from the request's URL, for which srvx also has to parse the host */
function plainPathOf({ req, url = req.url ?? '' }: NodeExchange): string | undefined {
  return plainPath.test(url) ? url : undefined;
}

const cutBy = Symbol('cut');
type Cuttable = ServerResponse & { [cutBy]?: (() => void) | null };

/** Ends an open response for a server that stops: a stream says so to its client, and the record that it was cut. */
export function cutOpen(res: ServerResponse): void {
  (res as Cuttable)[cutBy]?.();
}

/** Calls back when the connection closes before the response has ended. */
function onLeave({ req, res }: NodeExchange, callback: () => void, cut: () => void): () => void {
  (res as Cuttable)[cutBy] = cut;
  const onClose = () => {
    if (req.errored || !res.writableEnded) callback();
  };
  if (res.destroyed || req.aborted || req.errored || (req.destroyed && !req.complete)) onClose();
  else res.on('close', onClose);
  return () => {
    (res as Cuttable)[cutBy] = null;
    res.off('close', onClose);
  };
}

/** Keeps the given body, so that JSON reaches the socket without a web stream between. */
const fastResponse = FastResponse as unknown as typeof Response;

function toRequest({ req, res, url }: NodeExchange): Request {
  const request: Request = new NodeRequest({ req, res });
  const shortened = req.url;
  if (url === undefined || url === shortened) return request;
  // srvx reads `req.url` at the first use of the request's URL, and keeps the result.
  req.url = url;
  void request.url;
  req.url = shortened;
  return request;
}

/**
 * @param isLast  true: the connection is closed, because nobody knows whether the client will still send its body
 * @returns  for a stream, a promise that settles when the stream has been handed to the socket
 */
function send(res: ServerResponse, response: Response, isLast: boolean): void | Promise<void> {
  const { status, headers, body } = takeApart(response);
  if (isLast) headers.push('connection', 'close');
  const buffers = body instanceof ReadableStream ? buffersOf(body) : undefined;
  try {
    if (!res.destroyed) writeHead(res, status, headers);
  } catch (error) {
    buffers?.cancel();
    throw error;
  }
  if (buffers === undefined) res.end(body ?? undefined);
  else if (!res.destroyed && res.req.method !== 'HEAD') return pump(buffers, res);
  else {
    buffers.cancel();
    res.end();
  }
}

interface Head {
  status: number;
  /** Names and values in turn. */
  headers: string[];
}

function takeApart(response: Response): Head & { body: unknown } {
  if ('_toNodeResponse' in response) return (response as FastResponse)._toNodeResponse();
  const headers: string[] = [];
  for (const pair of response.headers) headers.push(...pair);
  return { status: response.status, headers, body: response.body };
}

function writeHead(res: ServerResponse, status: number, headers: string[]): ServerResponse {
  keepVary(res, headers);
  if (res.writeHead === ServerResponse.prototype.writeHead) return res.writeHead(status, headers);
  // Middleware may have replaced `writeHead`, as compression does, and may not support the flat list.
  res.statusCode = status;
  const values = new Map<string, string[]>();
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const [name = '', value = ''] = headers.slice(i, i + 2);
    values.set(name, [...(values.get(name) ?? []), value]);
  }
  for (const [name, list] of values) res.setHeader(name, list.length === 1 ? (list[0] ?? '') : list);
  return res;
}

/** Middleware before the gateway may have said what else a response varies by. */
function keepVary(res: ServerResponse, headers: string[]): void {
  const before = res.getHeader('vary');
  const at = before === undefined ? -1 : headers.indexOf('vary');
  if (at >= 0) headers[at + 1] = `${before}, ${headers[at + 1]}`;
}

/** Gives the buffers of a body one at a time; null at the end. */
interface Buffers {
  read(): Promise<Uint8Array | null>;
  cancel(): void;
  /** Calls back when the gateway gives up on a client that does not read. Absent: the next read fails. */
  onCut?(listener: () => void): void;
}

/** The registered symbol of `streamSource` in src/base/bytes.ts. */
const streamSource = Symbol.for('model-gateway.streamSource');

/** Reading the source of a stream saves 0.4 µs per buffer, compared to the stream: a third of a response. */
function buffersOf(stream: ReadableStream<Uint8Array> & { [streamSource]?: Buffers }): Buffers {
  const source = stream[streamSource];
  if (source !== undefined && !stream.locked) return source;
  const reader = stream.getReader();
  return {
    read: () => reader.read().then(({ done, value }) => (done ? null : value)),
    cancel: () => void reader.cancel().catch(nothing),
    // The stream of a web Response fails while nobody reads.
    onCut: (listener) => void reader.closed.catch(listener),
  };
}

/** Compression middleware adds `flush`, and holds back bytes until it is called. */
type Writable = ServerResponse & { flush?: () => void };

async function pump(buffers: Buffers, res: Writable): Promise<void> {
  const leave = () => buffers.cancel();
  res.once('close', leave);
  // A client that does not read is waited for no longer.
  buffers.onCut?.(() => cut(res));
  // The client learns at once that a slow request was accepted. For a quick one, headers and first buffer go together.
  let early: NodeJS.Immediate | null = setImmediate(() => {
    res.flushHeaders();
    res.flush?.();
  });
  try {
    for (;;) {
      const buffer = await buffers.read();
      if (early !== null) clearImmediate(early);
      early = null;
      if (buffer === null || res.destroyed) break;
      const hasRoom = res.write(buffer);
      res.flush?.();
      if (!hasRoom) await drained(res);
    }
    if (!res.destroyed) res.end();
  } catch {
    cut(res);
  } finally {
    if (early !== null) clearImmediate(early);
    res.off('close', leave);
  }
}

function drained(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      res.off('close', go);
      resolve();
    };
    res.once('drain', go);
    res.once('close', go);
  });
}

/** HTTP/2's INTERNAL_ERROR. Without a code, a destroyed stream would look complete. */
const internalError = 2;

/** Closes the connection in such a way that the client cannot take the sent bytes for the complete response. */
function cut(res: ServerResponse & { stream?: Partial<Http2Stream> }): void {
  // In an http2 server, `res` is the compatibility object.
  if (res.stream?.close) res.stream.close(internalError);
  // HTTP/1.0 has no chunks: there, a regular end of the connection means the end of the response.
  else if (res.req.httpVersion === '1.0') res.socket?.resetAndDestroy();
  else res.destroy();
}

function nothing(): void {}
