/**
 * Streams in lock-step: the provider writes a chunk only when the client has read the one before, as a model does that is
 * slower than its readers. Provider and client are one process, so one tells the other.
 */

/** Continues a stream, by the mark of its request. */
const waiting = new Map<string, () => void>();

/** The part of the requests that marks each connection: every server passes it on. */
export const markedUser = 'customer-4711';

/** The mark of a connection, as long as `markedUser`. */
export function markOf(connection: number): string {
  return `customer-${String(connection).padStart(4, '0')}`;
}

/** The mark in bytes of a request; null: there is none, such as in the first part of one that was cut. */
export function markIn(bytes: Buffer): string | null {
  const at = bytes.indexOf('customer-');
  return at < 0 ? null : bytes.toString('latin1', at, at + markedUser.length);
}

/** The provider waits until the client has read. */
export function onRead(mark: string, next: () => void): void {
  waiting.set(mark, next);
}

/** The end of a chunk that ends an event, and of a response: a server may end it before the provider has. */
const chunkEnd = Buffer.from('\n\r\n');

/** Reads the response on a connection: where its bytes end a chunk, the next one comes. */
export function readerInStep(mark: string): (bytes: Buffer) => void {
  let tail: Buffer = Buffer.alloc(0);
  return (bytes) => {
    tail = (bytes.length >= chunkEnd.length ? bytes : Buffer.concat([tail, bytes])).subarray(-chunkEnd.length);
    if (!tail.equals(chunkEnd)) return;
    const next = waiting.get(mark);
    waiting.delete(mark);
    next?.();
  };
}
