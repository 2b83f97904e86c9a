/** Finds the ends of responses on one connection that carries one request at a time. */
export interface ResponseReader {
  /** @returns whether the response is complete with this piece. @throws Error for a status other than 200 */
  push(piece: Buffer): boolean;
  /** Keeps the pieces of the next response. @returns what gives them, head included */
  keep(): () => Buffer;
  /** Whole responses so far. */
  readonly requests: number;
  /** Of bodies, framing of chunks included. */
  readonly bytes: number;
  /** Of the latest whole body. */
  readonly latestBytes: number;
  /** Reads it took. */
  readonly pieces: number;
}

const headEnd = Buffer.from('\r\n\r\n');
const lastChunk = Buffer.from('\r\n0\r\n\r\n');

/**
 * A chunked body ends with its last chunk, which is looked for in the last bytes only: nothing follows it, since the
 * next request waits for it, and no event holds a carriage return.
 */
export function responseReader(): ResponseReader {
  let requests = 0;
  let bytes = 0;
  let latestBytes = 0;
  let started = 0;
  let pieces = 0;
  /** Bytes of the body to come; -1: chunked; null: within the head. */
  let left: number | null = null;
  let head: Buffer | null = null;
  let tail: Buffer = Buffer.alloc(0);
  let kept: Buffer[] | null = null;

  function push(piece: Buffer): boolean {
    pieces += 1;
    kept?.push(piece);
    const body = left === null ? readHead(piece) : piece;
    if (body === null || left === null) return false;
    bytes += body.length;
    if (!isComplete(body)) return false;
    requests += 1;
    latestBytes = bytes - started;
    started = bytes;
    left = null;
    return true;
  }

  function readHead(piece: Buffer): Buffer | null {
    const all = head === null ? piece : Buffer.concat([head, piece]);
    const end = all.indexOf(headEnd);
    head = end < 0 ? all : null;
    if (end < 0) return null;
    const text = all.latin1Slice(0, end);
    if (!text.startsWith('HTTP/1.1 200')) throw new Error(`unexpected answer: ${all.toString().slice(0, 1000)}`);
    const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
    left = length === undefined ? -1 : Number(length);
    // The line end of the head may be the one before an empty body's last chunk.
    tail = all.subarray(end + 2, end + 4);
    return all.subarray(end + 4);
  }

  function isComplete(body: Buffer): boolean {
    if (left !== -1) {
      left = (left as number) - body.length;
      return left === 0;
    }
    tail = (body.length >= lastChunk.length ? body : Buffer.concat([tail, body])).subarray(-lastChunk.length);
    return tail.equals(lastChunk);
  }

  return {
    push,
    keep() {
      const response: Buffer[] = [];
      kept = response;
      return () => {
        kept = null;
        return Buffer.concat(response);
      };
    },
    get requests() {
      return requests;
    },
    get bytes() {
      return bytes;
    },
    get latestBytes() {
      return latestBytes;
    },
    get pieces() {
      return pieces;
    },
  };
}
