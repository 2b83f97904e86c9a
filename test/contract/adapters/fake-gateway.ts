import { type ByteSource, streamSource } from '../../../src/base/bytes.ts';
import type { HandleContext, RequestHandler } from '../../../src/index.ts';

/** A streamed response in the hands of the test. */
export interface OpenStream {
  /** Of the request that the response belongs to. */
  signal: AbortSignal;
  /** Sends a piece. */
  write(text: string): void;
  end(): void;
  /** Breaks the body, as an upstream that fails after its first event. */
  fail(): void;
  /** Resolves with the time at which the adapter cancelled the body. */
  cancelled: Promise<number>;
}

/** A gateway that answers by path, so that an adapter shows in the response what it passed on. */
export interface FakeGateway extends RequestHandler {
  /** The next request to /stream, or to /hang (whose response never comes: `write` and `end` do nothing). */
  nextStream(): Promise<OpenStream>;
  /** Pieces of 64 KiB that were pulled from /flood. */
  floodPulls: number;
}

export const floodPieces = 1024;
export const floodPiece = new Uint8Array(64 * 1024).fill(120);

const encoder = new TextEncoder();

/**
 * @param naming  whether body streams name the source they pull from; an adapter may then read that instead. With
 *   `sources`, bodies are also read by the host where it offers to
 */
export function fakeGateway(naming: 'streams' | 'sources'): FakeGateway {
  const opened: OpenStream[] = [];
  const waiting: ((stream: OpenStream) => void)[] = [];
  const open = (stream: OpenStream) => {
    const waiter = waiting.shift();
    if (waiter) waiter(stream);
    else opened.push(stream);
  };
  const toStream = (source: ByteSource): ReadableStream<Uint8Array> => {
    const stream = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const piece = await source.read();
          if (piece === null) controller.close();
          else controller.enqueue(piece);
        },
        cancel: () => source.cancel(),
      },
      { highWaterMark: 0 },
    );
    return naming === 'sources' ? Object.assign(stream, { [streamSource]: source }) : stream;
  };

  const gateway: FakeGateway = {
    floodPulls: 0,
    nextStream() {
      const stream = opened.shift();
      return stream ? Promise.resolve(stream) : new Promise((resolve) => waiting.push(resolve));
    },
    async handle(request, context: HandleContext = {}) {
      const { basePath = '/v1', Response: HostResponse = Response } = context;
      const url = new URL(request.url);
      const json = (body: unknown, status = 200, headers: Record<string, string> = {}) =>
        new HostResponse(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } });
      if (context.path !== undefined && context.path !== url.pathname)
        return json({ error: { message: `the host says ${context.path}, the URL ${url.pathname}` } }, 500);
      const inside = url.pathname === basePath || url.pathname.startsWith(`${basePath}/`);
      const path = inside ? url.pathname.slice(basePath.length) : `outside ${basePath}: ${url.pathname}`;
      const { signal } = request;

      if (request.method === 'OPTIONS') return new HostResponse(null, { status: 204, headers: { allow: 'POST' } });
      if (path === '/echo' && request.method === 'HEAD') {
        return new HostResponse(null, { headers: { 'content-type': 'application/json', 'content-length': '42' } });
      }
      if (path === '/echo' && request.method === 'POST') {
        const read = naming === 'sources' ? context.readText : undefined;
        return new HostResponse(
          JSON.stringify(await describe(request, { ...context, readText: read }, url, basePath)),
          {
            headers: [
              ['content-type', 'application/json'],
              ['x-request-id', 'req-1'],
              ['set-cookie', 'a=1'],
              ['set-cookie', 'b=2'],
            ],
          },
        );
      }
      if (path === '/hang') {
        const { stream } = scripted(signal);
        open(stream);
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        return json({ error: { message: 'left' } }, 499);
      }
      if (path === '/stream' || path === '/bad-stream-header') {
        const { stream, source } = scripted(signal);
        open(stream);
        const headers = { 'content-type': path === '/stream' ? 'text/event-stream' : 'line\nbreak' };
        try {
          return new HostResponse(toStream(source), { headers });
        } catch (error) {
          // The standard class refuses the header here; srvx's leaves that to the adapter, which then holds a body.
          source.cancel();
          throw error;
        }
      }
      if (path === '/flood') {
        const source: ByteSource = {
          read: async () => (gateway.floodPulls++ < floodPieces ? floodPiece : null),
          cancel: () => {},
        };
        return new HostResponse(toStream(source), { headers: { 'content-type': 'application/octet-stream' } });
      }
      if (path === '/bad-header') return json({}, 200, { 'x-bad': 'line\nbreak' });
      if (path === '/echo') return json({ error: { message: 'use POST' } }, 405, { allow: 'POST' });
      return json({ error: { message: `nothing at ${path}` } }, 404);
    },
  };
  return gateway;
}

async function describe(request: Request, context: HandleContext, url: URL, basePath: string) {
  const { body, readText = (_, done, failed) => void request.text().then(done, failed), beforeBody } = context;
  beforeBody?.();
  const parsed = body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array);
  const text = body instanceof Uint8Array ? new TextDecoder().decode(body) : body;
  return {
    basePath,
    path: url.pathname,
    search: url.search,
    header: request.headers.get('x-asked'),
    authorization: request.headers.get('authorization'),
    host: url.host,
    handedOver: body !== undefined,
    body: parsed
      ? body
      : JSON.parse(
          typeof text === 'string'
            ? text
            : String(await new Promise<string | Uint8Array>((done, failed) => readText(1e9, done, failed))),
        ),
  };
}

function scripted(signal: AbortSignal): { stream: OpenStream; source: ByteSource } {
  const steps: (Uint8Array | null | Error)[] = [];
  let waiting: { resolve(piece: Uint8Array | null): void; reject(error: Error): void } | undefined;
  const cancelled = Promise.withResolvers<number>();
  const advance = () => {
    const step = steps[0];
    if (waiting === undefined || step === undefined) return;
    const { resolve, reject } = waiting;
    waiting = undefined;
    steps.shift();
    if (step instanceof Error) reject(step);
    else resolve(step);
  };
  const push = (step: Uint8Array | null | Error) => {
    steps.push(step);
    advance();
  };
  const stream: OpenStream = {
    signal,
    write: (text) => push(encoder.encode(text)),
    end: () => push(null),
    fail: () => push(new Error('the upstream broke off')),
    cancelled: cancelled.promise,
  };
  const source: ByteSource = {
    read: () =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        advance();
      }),
    cancel() {
      cancelled.resolve(performance.now());
      push(null);
    },
  };
  return { stream, source };
}
