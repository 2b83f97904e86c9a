import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** The part of a `NodeExchange` that is needed here. */
interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly isAnswered: boolean;
}

/**
 * The bytes of a body that are read and dropped after its response was sent. Many clients read a response only once
 * they have sent their request, and a connection that is closed before may take the response with it.
 */
const maxDiscardedBytes = 64 * 1024 * 1024;

/** Tells whether no code has read the body, or has begun to. */
export function isUntouched(req: IncomingMessage & { rawBody?: unknown }): boolean {
  const { readableFlowing, readableEncoding, readableDidRead, destroyed, rawBody, httpVersionMajor } = req;
  const isPlain = httpVersionMajor === 1 && readableEncoding === null && rawBody === undefined;
  return isPlain && readableFlowing === null && !readableDidRead && !destroyed;
}

/** Tells whether other code has read a body, so that nothing is left: waiting for it would never end. */
export function isConsumed(req: IncomingMessage & { rawBody?: unknown }): boolean {
  const { readableDidRead, readableEnded, rawBody, headers } = req;
  // srvx reads what was kept as `rawBody`.
  if ((!readableDidRead && !readableEnded) || rawBody !== undefined) return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** The body of a body parser; undefined: the body has still to be read. */
export function parsedBody(req: IncomingMessage, body: unknown): unknown {
  // Some parsers set `{}` without reading the body. The body counts as parsed only if the stream was read.
  return req.readableDidRead || req.readableEnded ? body : undefined;
}

/**
 * Reads a body until it is longer than the limit. srvx can read the body of any request. Therefore it listens for more
 * events and takes twice as long, and it closes the connection of a body that it stops reading.
 */
export function readText(
  exchange: Exchange,
  limitBytes: number,
  done: (text: string | Uint8Array) => void,
  failed: (error: unknown) => void,
): void {
  const { req } = exchange;
  let body: Buffer | null = null;
  let further: Buffer[] | null = null;
  let size = 0;
  let waiting: { done: typeof done; failed: typeof failed } | null = { done, failed };
  /** The request keeps its listeners for as long as its response is open. They let go of the bytes, and of who waits for them. */
  const settle = (mayBeText: boolean) => {
    const bytes = body === null || further === null ? (body ?? Buffer.alloc(0)) : Buffer.concat([body, ...further]);
    const given = waiting;
    body = further = waiting = null;
    given?.done(mayBeText && isUtf8(bytes) ? bytes.toString() : bytes);
  };
  req.on('data', (buffer: Buffer) => {
    // A request that has its response, such as a 408, needs no body.
    if (exchange.isAnswered || size > limitBytes) return;
    size += buffer.length;
    if (body === null) body = buffer;
    else if (further === null) further = [buffer];
    else further.push(buffer);
    if (size > limitBytes) settle(false);
  });
  req.on('error', (error) => waiting?.failed(error));
  req.on('end', () => {
    if (!exchange.isAnswered && size <= limitBytes) settle(true);
  });
}

/**
 * Takes what a client goes on sending after its response, so that it reads the response and the connection stays
 * usable.
 */
export function discardRest({ req }: Exchange): void {
  let size = 0;
  req.on('data', (buffer: Buffer) => {
    size += buffer.length;
    if (size > maxDiscardedBytes) req.socket.destroy();
  });
  req.resume();
}

/**
 * Tells whether the client still waits for permission to send its body. Node gives it, unless the server listens for
 * `checkContinue`.
 */
export function awaitsContinue({ req, res }: Exchange): boolean {
  const { expect } = req.headers;
  if (expect === undefined || req.httpVersion !== '1.1' || !/\b100-continue\b/i.test(expect)) return false;
  return (res as { _sent100?: boolean })._sent100 !== true && !res.headersSent && req.readableLength === 0;
}
