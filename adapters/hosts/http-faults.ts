import { type IncomingMessage, maxHeaderSize, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

/** A response that Node itself would send with another body than the interface's. */
interface Fault {
  status: number;
  message: string;
  errorType: string;
  /** Further header lines. */
  headers?: Record<string, string>;
}

/** The bytes after which a client that goes on sending after its response is cut, and the time for that. */
const mostDiscardedBytes = 1024 * 1024;
const lingerMs = 2_000;

/** The faults by Node's error of a connection; other errors are requests that are no HTTP. */
const faults: Readonly<Record<string, Fault>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    message: `The headers of the request are larger than ${maxHeaderSize} bytes; send fewer or shorter ones`,
    errorType: 'invalid_request',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: 413,
    message: 'The chunk extensions of the body are too large; send chunks without extensions',
    errorType: 'payload_too_large',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    message: 'The request did not arrive in time; send its headers and its body without a pause',
    errorType: 'timeout',
  },
};

/**
 * Responds in the error format of the interface to requests that Node's parser refuses, and to an expectation that the
 * server does not meet.
 */
export function answerFaults(server: Server): void {
  const answered = new WeakSet<Duplex>();
  server.on('clientError', (error: NodeJS.ErrnoException & { reason?: string }, socket) => {
    // The client goes on sending, and every packet is another error.
    if (answered.has(socket)) return;
    answered.add(socket);
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy(error);
    else afterResponses(socket, () => refuse(socket, faults[error.code ?? ''] ?? malformed(error.reason)));
  });
  server.on('checkExpectation', (_req: IncomingMessage, res: ServerResponse) =>
    answerFault(res, {
      status: 417,
      message: 'The header Expect asks for what this server does not do; send Expect: 100-continue, or leave it out',
      errorType: 'invalid_request',
    }),
  );
  server.on('connect', (_req: IncomingMessage, socket: Duplex) =>
    refuse(socket, {
      status: 405,
      message: 'This server is no proxy: it has no method CONNECT',
      errorType: 'invalid_request',
      headers: { allow: 'GET, POST, PUT, PATCH, DELETE, OPTIONS' },
    }),
  );
}

/** Tells whether a request names no host, which HTTP/1.1 demands. It then gets its response here. */
export function lacksHost({ httpVersion, headers }: IncomingMessage, res: ServerResponse): boolean {
  if (httpVersion !== '1.1' || headers.host !== undefined) return false;
  answerFault(res, malformed('the header Host is missing'));
  return true;
}

/** @param reason  in the parser's words, which hold nothing of the request */
function malformed(reason: string | undefined): Fault {
  return {
    status: 400,
    message: `The request is not valid HTTP/1.1${reason === undefined ? '' : `: ${reason}`}`,
    errorType: 'invalid_request',
  };
}

function answerFault(res: ServerResponse, fault: Fault): void {
  const body = bodyOf(fault);
  res.writeHead(fault.status, headersOf(fault, body)).end(body);
}

/**
 * Waits for the response to an earlier request on the same connection. Where the response is to the faulty request
 * itself, whose body is broken, and has not begun, the fault is its response.
 */
function afterResponses(socket: Duplex, then: () => void): void {
  const open = (socket as { _httpMessage?: ServerResponse | null })._httpMessage;
  const isOver = !open || open.writableFinished;
  if (isOver || (!open.req.complete && !open.headersSent)) then();
  else if (!open.req.complete) socket.destroy();
  else open.once('close', () => void (socket.writable ? then() : socket.destroy()));
}

function refuse(socket: Duplex & { bytesRead?: number }, fault: Fault): void {
  const body = bodyOf(fault);
  const headers = Object.entries(headersOf(fault, body)).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.on('error', () => socket.destroy());
  socket.end(`HTTP/1.1 ${fault.status} ${STATUS_CODES[fault.status]}\r\n${headers.join('')}\r\n${body}`);
  // With bytes unread, closing now could take the response from the client.
  const most = (socket.bytesRead ?? 0) + mostDiscardedBytes;
  socket.on('data', () => {
    if ((socket.bytesRead ?? 0) > most) socket.destroy();
  });
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('end', () => socket.destroy()).once('close', () => clearTimeout(timer));
}

function bodyOf({ status, message, errorType }: Fault): string {
  return JSON.stringify({ error: { code: status, message, metadata: { error_type: errorType } } });
}

function headersOf({ headers }: Fault, body: string): Record<string, string> {
  return {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'cache-control': 'no-store',
    connection: 'close',
    ...headers,
  };
}
