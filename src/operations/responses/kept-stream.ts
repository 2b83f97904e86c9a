import type { ReplyEnd, ReplyStream } from '../../call/reply.ts';

/**
 * The stream of a response that is to be kept. The last event waits until it is known whether the response is kept.
 */
export class KeptStream implements ReplyStream {
  readonly #inner: ReplyStream;
  readonly #last: () => Promise<Uint8Array> | null;
  /** The last bytes; null: the inner stream has not ended, or nothing is to be kept. */
  #closing: Promise<Uint8Array> | null = null;
  #isOver = false;
  #end: ReplyEnd | null = null;
  #listener: ((end: ReplyEnd) => void) | null = null;
  readonly onCut?: (listener: (error: unknown) => void) => void;

  /** @param last  called once the inner stream has ended: the bytes that follow; null: none */
  constructor(inner: ReplyStream, last: () => Promise<Uint8Array> | null) {
    this.#inner = inner;
    this.#last = last;
    if (inner.onCut) this.onCut = (listener) => inner.onCut?.(listener);
    inner.onEnd((end) => this.#ended(end));
  }

  onEnd(listener: (end: ReplyEnd) => void): void {
    if (this.#end !== null) listener(this.#end);
    else this.#listener = listener;
  }

  async read(): Promise<Uint8Array | null> {
    if (this.#isOver) return null;
    const bytes = await this.#inner.read();
    if (bytes !== null) return bytes;
    this.#isOver = true;
    return this.#closing;
  }

  cancel(): void {
    this.#isOver = true;
    if (this.#closing === null) this.#inner.cancel();
    // What is complete is kept, though its client does not read the end.
    else this.#finish('cancelled');
  }

  #ended(end: ReplyEnd): void {
    this.#closing = end === 'sent' ? this.#last() : null;
    if (this.#closing === null) this.#finish(end);
    else void this.#closing.then(() => this.#finish('sent'));
  }

  #finish(end: ReplyEnd): void {
    if (this.#end !== null) return;
    this.#end = end;
    this.#listener?.(end);
  }
}
