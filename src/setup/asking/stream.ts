import { GatewayError, kindOf } from '../../base/errors.ts';
import { EventFramer } from '../../base/http/sse.ts';
import type { ReplyStream } from '../../call/reply.ts';

/**
 * The chunks of a streamed response, in order. Leaving the loop or calling `return` stops the provider, and what was
 * used is paid for. A response that is neither read to its end nor left runs until its time limit.
 *
 * Reading throws where the response breaks off: a GatewayError, or the reason of the signal. So a loop that ends has
 * read a complete response.
 */
export interface CompletionStream<Chunk> extends AsyncIterableIterator<Chunk, undefined, undefined> {
  /** Id of the response, as in every chunk: `gen-…`. */
  readonly id: string;
  /** Response headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Reads the next chunk. Reads that are made at once get the chunks in order. */
  next(): Promise<IteratorResult<Chunk, undefined>>;
  /** Stops the provider where the stream has not ended. What was used is paid for. */
  return(): Promise<IteratorResult<Chunk, undefined>>;
  [Symbol.asyncIterator](): CompletionStream<Chunk>;
}

/** The meaning of an event in its wire format. */
export interface EventMeaning<Chunk> {
  /** Returns the error that breaks the response off; null: it goes on. */
  failure(event: Chunk): GatewayError | null;
  /** true: an event that reports a failure is for the reader as well. */
  showsFailure: boolean;
  /** Tells whether an event is the last one. Absent: `[DONE]` ends a stream. */
  isLast?(event: Chunk): boolean;
  /** true: a complete stream ends with `[DONE]`. false: one that does not fail is complete. */
  hasSentinel: boolean;
}

/** Events of the gateway itself are as long as they have to be. */
const anyLength = Number.POSITIVE_INFINITY;
const sentinel = '[DONE]';

/**
 * Reads server-sent events of the gateway as objects.
 * @param source  one event after the other is read, when the reader wants it
 */
export function completionStream<Chunk>(
  source: ReplyStream,
  headers: Readonly<Record<string, string>>,
  meaning: EventMeaning<Chunk>,
  signal: AbortSignal | undefined,
): CompletionStream<Chunk> {
  const framer = new EventFramer(anyLength);
  const done: IteratorResult<Chunk, undefined> = { done: true, value: undefined };
  /** true: nothing more is read. */
  let isOver = false;
  let failure: GatewayError | null = null;
  /** The latest read: a stream has one at a time. */
  let latest: Promise<unknown> = Promise.resolve();

  async function read(): Promise<IteratorResult<Chunk, undefined>> {
    if (failure !== null) {
      const thrown = failure;
      failure = null;
      throw thrown;
    }
    while (!isOver) {
      const event = framer.next() ? framer.read() : await more();
      if (event === null) continue;
      if (event.data === sentinel) return end(done);
      const chunk = JSON.parse(event.data) as Chunk;
      const broken = meaning.failure(chunk);
      if (broken === null) {
        const result: IteratorResult<Chunk, undefined> = { done: false, value: chunk };
        return meaning.isLast?.(chunk) === true ? await end(result) : result;
      }
      await end(done);
      if (!meaning.showsFailure) throw broken;
      failure = broken;
      return { done: false, value: chunk };
    }
    return done;
  }

  /** Reads what comes behind the last event, which is nothing: the source then knows that all was read. */
  async function end<Result>(result: Result): Promise<Result> {
    isOver = true;
    try {
      while ((await source.read()) !== null);
    } catch {
      // The last event has told how the response ended.
    }
    return result;
  }

  /** Reads on where no complete event is there. @returns null: look again */
  async function more(): Promise<null> {
    framer.release();
    let bytes: Uint8Array | null;
    try {
      bytes = await source.read();
    } catch (error) {
      isOver = true;
      throw signal?.aborted ? signal.reason : error;
    }
    if (bytes !== null) framer.push(bytes);
    else if (!isOver) {
      isOver = true;
      if (!meaning.hasSentinel) return null;
      throw new GatewayError('upstream_failed', 'The response was broken off');
    }
    return null;
  }

  const stream: CompletionStream<Chunk> = {
    id: headers['x-generation-id'] ?? '',
    headers,
    next() {
      const result = latest.then(read, read);
      latest = result.catch(() => undefined);
      return result;
    },
    async return() {
      failure = null;
      if (!isOver) source.cancel();
      isOver = true;
      return done;
    },
    [Symbol.asyncIterator]: () => stream,
  };
  return stream;
}

/** The error that a stream reports, as the GatewayError that it would have been. */
export function reportedError(
  {
    code,
    message,
    metadata,
  }: { code?: unknown; message: string; metadata?: Record<string, unknown> | null | undefined },
  more: Record<string, unknown> = {},
  route?: unknown,
): GatewayError {
  const { error_type: errorType, ...facts } = { ...metadata, ...more };
  return new GatewayError(kindOf(code, errorType), message, {
    ...(Object.keys(facts).length > 0 ? { metadata: facts } : {}),
    ...(typeof errorType === 'string' ? { errorType } : {}),
    route,
  });
}
