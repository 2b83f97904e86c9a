import { streamSource } from '../base/bytes.ts';
import type { GatewayError } from '../base/errors.ts';
import { stringifyExact } from '../base/exact-json.ts';
import type { Caller } from '../call/call.ts';
import type { WireFormat } from '../call/native.ts';
import type { OperationReply, ReplyStream } from '../call/reply.ts';
import { envelopes } from './envelopes.ts';

export type ResponseClass = typeof Response;

/**
 * A response is for its caller alone: even listings show what the caller's keys and credentials reach. An operation of
 * the host app may set another value.
 */
const noStore = 'no-store';

/** Makes the response of a success. A host's own Response class avoids a stream for JSON. */
export function respond(reply: OperationReply, isHead: boolean, ResponseOf: ResponseClass): Response {
  const { status, headers } = reply;
  if (reply.kind === 'stream') {
    if (isHead) reply.body.cancel();
    const streamHeaders = {
      'content-type': 'text/event-stream',
      'cache-control': `${noStore}, no-transform`,
      'x-accel-buffering': 'no',
      ...headers,
    };
    return new ResponseOf(isHead ? null : readable(reply.body), { status, headers: streamHeaders });
  }
  if (reply.kind === 'file')
    return new ResponseOf(isHead ? null : reply.body, { status, headers: headersOf(reply.contentType, headers) });
  return new ResponseOf(isHead ? null : stringifyExact(reply.body as object), {
    status,
    headers: headersOf('application/json', headers),
  });
}

/** @param own  headers of the operation; one of the host app may write their names in any case */
function headersOf(contentType: string, own: OperationReply['headers']): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': contentType, 'cache-control': noStore };
  for (const name in own) headers[name.toLowerCase()] = own[name] as string;
  return headers;
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

/**
 * Makes the response of an error, in the envelope of the wire format that the request speaks.
 * @param nowMs  epoch ms
 */
export function respondError(
  error: GatewayError,
  caller: Caller | null,
  { brand, wire, nowMs }: { brand: string; wire: WireFormat; nowMs: number },
  isHead: boolean,
  ResponseOf: ResponseClass,
): Response {
  const { status, retryAfterMs, route } = error;
  const envelope = envelopes[wire];
  const body = {
    ...envelope.error(error),
    ...(route === undefined ? {} : { [`${brand}_metadata`]: route }),
    ...(caller?.userId ? { user_id: caller.userId } : {}),
  };
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'cache-control': noStore,
    ...(retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) }),
    ...error.headers,
    ...envelope.errorHeaders?.(error),
  };
  return new ResponseOf(isHead ? null : JSON.stringify(body), {
    status,
    headers: envelope.headers?.(headers, nowMs) ?? headers,
  });
}
