/** Finds the ends of requests, or of responses, on a connection that carries one at a time. */
export interface MessageReader {
  /** @returns whether the message is complete with this piece. @throws Error for an unexpected start line */
  push(piece: Buffer): boolean;
  /** Keeps the pieces of the next message. @returns what gives them, head included */
  keep(): () => Buffer;
  /** Whole messages so far. */
  readonly messages: number;
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
 * @param startsWith  what the start line has to begin with
 *
 * A chunked body ends with its last chunk, which is looked for in the last bytes only: nothing follows it, since the
 * next message waits for it, and no event and no JSON text holds a carriage return.
 */
export function messageReader(startsWith: string): MessageReader {
  let messages = 0;
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
    messages += 1;
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
    const text = all.toString('latin1', 0, end);
    if (!text.startsWith(startsWith)) throw new Error(`unexpected message: ${all.toString().slice(0, 1000)}`);
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
      const message: Buffer[] = [];
      kept = message;
      return () => {
        kept = null;
        return Buffer.concat(message);
      };
    },
    get messages() {
      return messages;
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
