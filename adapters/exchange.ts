import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Http2Stream } from 'node:http2';
import { FastResponse, NodeRequest } from 'srvx/node';
import type { HandleContext, RequestHandler } from '../src/index.ts';

/**
 * A request and its response as node:http, and whatever is built on it, hands them out. A class, since it lives for as
 * long as the provider thinks: see `Sent` in src/pipeline/attempt/outgoing.ts.
 */
export class NodeExchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** The whole path and query, where a framework has shortened `req.url`. */
  readonly url: string | undefined;

  constructor(req: IncomingMessage, res: ServerResponse, url?: string) {
    this.req = req;
    this.res = res;
    this.url = url;
  }
}

/**
 * Answers one node:http request through the gateway. The client leaving aborts the request's signal and cancels the
 * response's body; a client that reads slowly is waited for.
 * @returns  settles, and never rejects, when the response has been handed to the socket or the client has left
 */
export async function answer(gateway: RequestHandler, exchange: NodeExchange, context: HandleContext): Promise<void> {
  const { res } = exchange;
  try {
    const response = await gateway.handle(toRequest(exchange), {
      ...context,
      path: plainPathOf(exchange),
      readText: isUntouched(exchange.req) ? (done, failed) => readText(exchange.req, done, failed) : undefined,
      Response: fastResponse,
      onLeave: (callback) => onLeave(exchange, callback),
    });
    const sending = send(res, response);
    if (sending) await sending;
  } catch {
    // The gateway answers its own failures; what arrives here is a status or a header that cannot be sent.
    if (res.headersSent) cut(res);
    else writeHead(res, 500, ['content-length', '0']).end();
  }
}

/** What no URL parser would change. */
const plainPath = /^\/[a-z\d/_-]*$/i;

/** undefined: to be found in the request's URL, for which srvx has to look at the host as well. */
function plainPathOf({ req, url = req.url ?? '' }: NodeExchange): string | undefined {
  return plainPath.test(url) ? url : undefined;
}

/** Nobody has read of the body, or prepared to. */
function isUntouched(req: IncomingMessage & { rawBody?: unknown }): boolean {
  const { readableFlowing, readableEncoding, readableDidRead, destroyed, rawBody, httpVersionMajor } = req;
  const isPlain = httpVersionMajor === 1 && readableEncoding === null && rawBody === undefined;
  return isPlain && readableFlowing === null && !readableDidRead && !destroyed;
}

/** srvx, which reads the body of any request, has more to listen for, and takes twice as long. */
function readText(req: IncomingMessage, done: (text: string) => void, failed: (error: unknown) => void): void {
  let body: Buffer | null = null;
  let further: Buffer[] | null = null;
  req.on('data', (piece: Buffer) => {
    if (body === null) body = piece;
    else if (further === null) further = [piece];
    else further.push(piece);
  });
  req.on('error', failed);
  req.on('end', () =>
    done(body === null ? '' : (further === null ? body : Buffer.concat([body, ...further])).toString()),
  );
}

/** Calls back when the connection closes before the response was ended. */
function onLeave({ req, res }: NodeExchange, callback: () => void): () => void {
  const onClose = () => {
    if (req.errored || !res.writableEnded) callback();
  };
  if (res.destroyed || req.aborted || req.errored || (req.destroyed && !req.complete)) onClose();
  else res.on('close', onClose);
  return () => res.off('close', onClose);
}

/** Keeps its body as it was given, so that JSON reaches the socket without a web stream in between. */
const fastResponse = FastResponse as unknown as typeof Response;

function toRequest({ req, res, url }: NodeExchange): Request {
  const request: Request = new NodeRequest({ req, res });
  const shortened = req.url;
  if (url === undefined || url === shortened) return request;
  // srvx reads `req.url` when the request's URL is first asked for, and keeps what it read.
  req.url = url;
  void request.url;
  req.url = shortened;
  return request;
}

/** @returns  for a stream, a promise that settles when it has been handed to the socket */
function send(res: ServerResponse, response: Response): void | Promise<void> {
  const { status, headers, body } = takeApart(response);
  const pieces = body instanceof ReadableStream ? piecesOf(body) : undefined;
  try {
    if (!res.destroyed) writeHead(res, status, headers);
  } catch (error) {
    pieces?.cancel();
    throw error;
  }
  if (pieces === undefined) res.end(body ?? undefined);
  else if (!res.destroyed && res.req.method !== 'HEAD') return pump(pieces, res);
  else {
    pieces.cancel();
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
  if (res.writeHead === ServerResponse.prototype.writeHead) return res.writeHead(status, headers);
  // Middleware that replaced `writeHead`, as compression does, need not know the flat list.
  res.statusCode = status;
  const values = new Map<string, string[]>();
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const [name = '', value = ''] = headers.slice(i, i + 2);
    values.set(name, [...(values.get(name) ?? []), value]);
  }
  for (const [name, list] of values) res.setHeader(name, list.length === 1 ? (list[0] ?? '') : list);
  return res;
}

/** What a body gives, one piece at a time; null at the end. */
interface Pieces {
  read(): Promise<Uint8Array | null>;
  cancel(): void;
}

/** The registered symbol of `streamSource` in src/base/bytes.ts. */
const streamSource = Symbol.for('model-gateway.streamSource');

/** Reading the source behind a stream measured 0.4 µs less per piece than reading the stream: a third of a response. */
function piecesOf(stream: ReadableStream<Uint8Array> & { [streamSource]?: Pieces }): Pieces {
  const source = stream[streamSource];
  if (source !== undefined && !stream.locked) return source;
  const reader = stream.getReader();
  return {
    read: () => reader.read().then(({ done, value }) => (done ? null : value)),
    cancel: () => void reader.cancel().catch(nothing),
  };
}

/** `flush` is what compression middleware adds: it holds back what is not flushed. */
type Writable = ServerResponse & { flush?: () => void };

async function pump(pieces: Pieces, res: Writable): Promise<void> {
  const leave = () => pieces.cancel();
  res.once('close', leave);
  // A client learns at once that a slow request was accepted; the headers of a quick one travel with its first piece.
  const early = setImmediate(() => {
    res.flushHeaders();
    res.flush?.();
  });
  try {
    for (;;) {
      const piece = await pieces.read();
      clearImmediate(early);
      if (piece === null || res.destroyed) break;
      const hasRoom = res.write(piece);
      res.flush?.();
      if (!hasRoom) await drained(res);
    }
    if (!res.destroyed) res.end();
  } catch {
    cut(res);
  } finally {
    clearImmediate(early);
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

/** HTTP/2's INTERNAL_ERROR: without a code, a stream that is destroyed ends in good order. */
const internalError = 2;

/** Ends the connection so that what was sent cannot be taken for the whole response. */
function cut(res: ServerResponse & { stream?: Partial<Http2Stream> }): void {
  // In an http2 server, `res` is what that hands out for compatibility.
  if (res.stream?.close) res.stream.close(internalError);
  // HTTP/1.0 knows no chunks: there, an orderly end of the connection is the end of the response.
  else if (res.req.httpVersion === '1.0') res.socket?.resetAndDestroy();
  else res.destroy();
}

function nothing(): void {}
