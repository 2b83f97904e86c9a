import type { GatewayError } from '../base/errors.ts';
import type { Caller } from '../call/call.ts';
import type { Reply } from '../call/reply.ts';

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
    return new ResponseOf(reply.body, { status, headers: streamHeaders });
  }
  return new ResponseOf(isHead ? null : JSON.stringify(reply.body), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  });
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
