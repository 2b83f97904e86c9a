import { streamSource } from '../base/bytes.ts';
import type { GatewayError } from '../base/errors.ts';
import type { Caller } from '../call/call.ts';
import type { Reply, ReplyStream } from '../call/reply.ts';

export type ResponseClass = typeof Response;

/** A success as a response. A web Response of a host's own class spares it a stream for JSON. */
export function respond(reply: Reply, isHead: boolean, ResponseOf: ResponseClass): Response {
  const { status, headers } = reply;
  if (reply.kind === 'stream') {
    const streamHeaders = {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      ...headers,
    };
    return new ResponseOf(readable(reply.body), { status, headers: streamHeaders });
  }
  if (reply.kind === 'file') {
    const fileHeaders = { 'content-type': reply.contentType, ...headers };
    return new ResponseOf(isHead ? null : reply.body, { status, headers: fileHeaders });
  }
  return new ResponseOf(isHead ? null : JSON.stringify(reply.body), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  });
}

/** One hop, nothing buffered ahead. The stream names its source, which an adapter may read instead. */
function readable(source: ReplyStream): ReadableStream<Uint8Array> {
  const stream = new ReadableStream<Uint8Array>(
    {
      start: (controller) => source.onCut?.((error) => controller.error(error)),
      async pull(controller) {
        const bytes = await source.read();
        if (bytes === null) controller.close();
        else controller.enqueue(bytes);
      },
      cancel: () => source.cancel(),
    },
    { highWaterMark: 0 },
  );
  return Object.assign(stream, { [streamSource]: source });
}

/** The error envelope. */
export function respondError(
  error: GatewayError,
  caller: Caller | null,
  brand: string,
  isHead: boolean,
  ResponseOf: ResponseClass,
): Response {
  const { status, message, metadata, errorType, retryAfterMs, headers, route } = error;
  const body = {
    error: { code: status, message, ...(status === 500 ? {} : { metadata: { error_type: errorType, ...metadata } }) },
    ...(route === undefined ? {} : { [`${brand}_metadata`]: route }),
    ...(caller?.userId ? { user_id: caller.userId } : {}),
  };
  return new ResponseOf(isHead ? null : JSON.stringify(body), {
    status,
    headers: {
      'content-type': 'application/json',
      ...(retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) }),
      ...headers,
    },
  });
}
