/** Finds the ends of messages (requests or responses) on a connection with one message at a time. */
export interface MessageReader {
  /** @returns whether the message is complete with this chunk. @throws Error for an unexpected start line */
  push(chunk: Buffer): boolean;
  /** Starts to keep bytes. @returns a function that returns the bytes since then, head included, and stops keeping */
  keep(): () => Buffer;
  /** Number of complete messages. */
  readonly messages: number;
  /** Bytes of bodies, chunk framing included. */
  readonly bytes: number;
  /** Bytes of the latest complete body. */
  readonly latestBytes: number;
  /** Number of socket reads. */
  readonly reads: number;
}

const headEnd = Buffer.from('\r\n\r\n');
const lastChunk = Buffer.from('\r\n0\r\n\r\n');

/**
 * Creates a reader. It looks for the last chunk of a chunked body only in the last bytes. That is enough: the next
 * message is sent only after the body's end, and no event and no JSON text holds a carriage return.
 * @param startsWith  required start of the start line
 */
export function messageReader(startsWith: string): MessageReader {
  let messages = 0;
  let bytes = 0;
  let latestBytes = 0;
  let started = 0;
  let reads = 0;
  /** Remaining bytes of the body; -1: the body is chunked; null: the head is not complete. */
  let left: number | null = null;
  let head: Buffer | null = null;
  let tail: Buffer = Buffer.alloc(0);
  let kept: Buffer[] | null = null;

  function push(chunk: Buffer): boolean {
    reads += 1;
    kept?.push(chunk);
    const body = left === null ? readHead(chunk) : chunk;
    if (body === null || left === null) return false;
    bytes += body.length;
    if (!isComplete(body)) return false;
    messages += 1;
    latestBytes = bytes - started;
    started = bytes;
    left = null;
    return true;
  }

  function readHead(chunk: Buffer): Buffer | null {
    const all = head === null ? chunk : Buffer.concat([head, chunk]);
    const end = all.indexOf(headEnd);
    head = end < 0 ? all : null;
    if (end < 0) return null;
    const text = all.toString('latin1', 0, end);
    if (!text.startsWith(startsWith)) throw new Error(`unexpected message: ${all.toString().slice(0, 1000)}`);
    const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
    left = length === undefined ? -1 : Number(length);
    // An empty chunked body begins with its last chunk; the line end before that chunk is then the head's.
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
    get reads() {
      return reads;
    },
  };
}
