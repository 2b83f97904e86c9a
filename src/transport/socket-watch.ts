import { joinBytes } from '../base/bytes.ts';

/** What the watch needs of a `net.Socket` or `tls.TLSSocket`. */
export interface WatchedSocket {
  read(size?: number): unknown;
  write(...args: never[]): boolean;
  readonly errored: Error | null;
}

/** One connection, as seen by the exchange that is using it. */
export interface Connection {
  /** Requests sent over it so far, this one included. */
  requests: number;
  /** true once any byte has come back for the latest request. */
  answered: boolean;
  readonly socket: WatchedSocket;
}

export interface SocketWatch {
  /** Begins to watch a socket that has just been connected. */
  add(socket: WatchedSocket): void;
  /** To be called right after a request was written: the connection it was written to. */
  requestSent(): Connection | null;
}

/** More than this before the answer proper is no courtesy any more; undici then refuses the answer. */
const maxInformational = 100;
const maxInformationalBytes = 16 * 1024;
const statusClassAt = 'HTTP/1.1 '.length;
const digitOne = 0x31;

/**
 * Sees what undici does not tell: which connection a request went out on, whether that one had been used before, and
 * whether anything came back on it. It also removes informational answers (1xx): undici drops the connection on a
 * `100 Continue` that it did not ask for, though RFC 9110, section 15.2, obliges a client to read over it.
 */
export function socketWatch(): SocketWatch {
  let latest: Connection | null = null;
  return {
    add(socket) {
      const connection: Connection = { requests: 0, answered: true, socket };
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
        connection.answered = true;
        if (filtered !== connection.requests) {
          filtered = connection.requests;
          // The usual answer in one piece needs no filter.
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
        connection.answered = false;
      }
      return connection;
    },
  };
}

/** Takes the bytes of an answer in any pieces, gives them back without the informational answers in front. */
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
      if (kind === 'final' || rest.length > maxInformationalBytes) break;
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

/** `cut`: too few bytes to tell. A switch of protocols (101) is left to undici, which refuses it. */
function kindOf(bytes: Uint8Array): 'informational' | 'final' | 'cut' {
  const status = 'HTTP/1.';
  const length = Math.min(status.length, bytes.length);
  for (let at = 0; at < length; at++) if (bytes[at] !== status.charCodeAt(at)) return 'final';
  if (bytes.length > statusClassAt && bytes[statusClassAt] !== digitOne) return 'final';
  if (bytes.length < statusClassAt + 3) return 'cut';
  const isSwitch = bytes[statusClassAt + 1] === 0x30 && bytes[statusClassAt + 2] === digitOne;
  return isSwitch ? 'final' : 'informational';
}

/** The position behind the empty line; -1 when it has not come yet. */
function endOfHead(bytes: Uint8Array): number {
  for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, at + 1)) {
    if (bytes[at + 1] === 0x0a) return at + 2;
    if (bytes[at + 1] === 0x0d && bytes[at + 2] === 0x0a) return at + 3;
  }
  return -1;
}
