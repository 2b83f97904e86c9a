import { joinBytes } from '../base/bytes.ts';

/** The part of a `net.Socket` or `tls.TLSSocket` that the watch needs. */
export interface WatchedSocket {
  read(size?: number): unknown;
  write(...args: never[]): boolean;
  readonly errored: Error | null;
}

/** One connection, for the exchange that uses it. */
export interface Connection {
  /** The number of requests sent over the connection so far, this one included. */
  requests: number;
  /** true once any byte of a response to the latest request has arrived. */
  responded: boolean;
  readonly socket: WatchedSocket;
}

export interface SocketWatch {
  /** Begins to watch a socket that has just connected. */
  add(socket: WatchedSocket): void;
  /** Notes that a request was just written. @returns the connection that it was written to */
  requestSent(): Connection | null;
}

/**
 * The most informational responses before the final one. After more of them, undici sees them and refuses the response.
 */
const maxInformational = 100;
/** The longest informational response. Bytes after it in the same read do not count. */
const maxInformationalBytes = 16 * 1024;
const statusClassAt = 'HTTP/1.1 '.length;
const digitOne = 0x31;

/**
 * Finds out facts that undici does not report: which connection a request was sent on, whether the connection had been
 * used before, and whether any byte came back on it. The watch also removes informational responses (1xx). undici drops
 * the connection on a `100 Continue` that undici did not ask for, although RFC 9110, section 15.2, obliges a client to
 * skip it.
 */
export function socketWatch(): SocketWatch {
  let latest: Connection | null = null;
  return {
    add(socket) {
      const connection: Connection = { requests: 0, responded: true, socket };
      const write = socket.write;
      socket.write = (...args) => {
        latest = connection;
        return write.apply(socket, args);
      };
      const read = socket.read.bind(socket);
      let filter: ((chunk: Uint8Array) => Uint8Array | null) | null = null;
      let filtered = 0;
      socket.read = (size) => {
        const chunk = read(size);
        if (!(chunk instanceof Uint8Array)) return chunk;
        connection.responded = true;
        if (filtered !== connection.requests) {
          filtered = connection.requests;
          // The usual response begins with its complete status line and needs no filter.
          filter = chunk.length > statusClassAt && chunk[statusClassAt] !== digitOne ? null : informationalFilter();
        }
        return filter === null ? chunk : filter(chunk);
      };
    },
    requestSent() {
      const connection = latest;
      latest = null;
      if (connection !== null) {
        connection.requests++;
        connection.responded = false;
      }
      return connection;
    },
  };
}

/** Takes the bytes of a response, cut anywhere, and returns them without the informational responses before it. */
function informationalFilter(): (chunk: Uint8Array) => Uint8Array | null {
  let held: Uint8Array | null = null;
  let removed = 0;
  let passing = false;
  return (chunk) => {
    if (passing) return chunk;
    let rest = held === null ? chunk : joinBytes([held, chunk]);
    held = null;
    while (removed < maxInformational) {
      const kind = kindOf(rest);
      const end = kind === 'informational' ? endOfHead(rest) : -1;
      if (kind === 'final' || (end === -1 ? rest.length : end) > maxInformationalBytes) break;
      if (end === -1) {
        if (rest.length > 0) held = rest;
        return null;
      }
      removed++;
      rest = rest.subarray(end);
    }
    passing = true;
    return rest;
  };
}

/** `cut`: too few bytes to know. undici itself refuses a switch of protocols (101), so that one is `final`. */
function kindOf(bytes: Uint8Array): 'informational' | 'final' | 'cut' {
  const status = 'HTTP/1.';
  const length = Math.min(status.length, bytes.length);
  for (let at = 0; at < length; at++) if (bytes[at] !== status.charCodeAt(at)) return 'final';
  if (bytes.length > statusClassAt && bytes[statusClassAt] !== digitOne) return 'final';
  if (bytes.length < statusClassAt + 3) return 'cut';
  const isSwitch = bytes[statusClassAt + 1] === 0x30 && bytes[statusClassAt + 2] === digitOne;
  return isSwitch ? 'final' : 'informational';
}

/** The position after the empty line; -1 while that line has not arrived. */
function endOfHead(bytes: Uint8Array): number {
  for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, at + 1)) {
    if (bytes[at + 1] === 0x0a) return at + 2;
    if (bytes[at + 1] === 0x0d && bytes[at + 2] === 0x0a) return at + 3;
  }
  return -1;
}
