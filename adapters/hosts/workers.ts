import type { RequestHandler } from '../../src/index.ts';
import { findCaller, type WithCaller } from './shared/caller.ts';
import { isHandshake } from './shared/handshake.ts';
import { type ServerSocket, serveSocket } from './shared/web-socket.ts';

/** Options of `gatewayWorker`. */
export interface GatewayWorkerOptions extends WithCaller<Request> {
  /** The path the gateway is mounted at, without a trailing slash. Default: the gateway's own. */
  basePath?: string;
}

/** The part of the context of a request in a worker that we use. */
export interface WorkerContext {
  /** Keeps the worker alive for work behind the response. */
  waitUntil(work: Promise<unknown>): void;
}

/** The default export of a worker. */
export interface GatewayWorker<Env> {
  /** Serves a request. */
  fetch(request: Request, env: Env, context: WorkerContext): Promise<Response>;
}

/** The gateway of a worker: `createGateway` returns one. */
export interface WorkerGateway extends RequestHandler {
  /** Writes what waits to be written of requests that have ended. */
  flush(): Promise<void>;
}

/** The end of a WebSocket that the runtime gives to the client, and the one that stays here. */
type WebSocketPair = new () => { 0: object; 1: ServerSocket & { accept(): void } };

/**
 * A gateway as a worker of workerd, such as one of Cloudflare: `export default gatewayWorker(gateway)`. Whatever a request
 * leaves to be written, such as its booking and its record, is written before the worker may be stopped.
 * @param gateway  one in module scope, or a function that makes it from the bindings of the worker, called once; a console
 *                 is served in the same way
 */
export function gatewayWorker<Env = unknown>(
  gateway: WorkerGateway | ((env: Env) => WorkerGateway),
  options: GatewayWorkerOptions = {},
): GatewayWorker<Env> {
  let made: WorkerGateway | null = null;
  const gatewayOf = (env: Env): WorkerGateway => {
    // A console is a function as well, and has `handle`.
    made ??= 'handle' in gateway ? gateway : gateway(env);
    return made;
  };
  return {
    async fetch(request, env, worker) {
      const serving = gatewayOf(env);
      const context = { basePath: options.basePath, caller: findCaller(options, request) };
      const { WebSocketPair } = globalThis as { WebSocketPair?: WebSocketPair };
      if (isHandshake(request.headers.get('upgrade')) && WebSocketPair !== undefined && serving.upgrade !== undefined) {
        const upgrade = await serving.upgrade(request, context);
        if (upgrade.response !== null) return upgrade.response;
        const { 0: client, 1: socket } = new WebSocketPair();
        socket.accept();
        worker.waitUntil(new Promise<void>((resolve) => serveSocket(socket, upgrade, resolve)).then(serving.flush));
        const headers = upgrade.protocol === null ? {} : { 'sec-websocket-protocol': upgrade.protocol };
        return new Response(null, { status: 101, headers, webSocket: client } as ResponseInit);
      }
      const response = await serving.handle(request, context);
      const { body } = response;
      if (body === null) {
        worker.waitUntil(serving.flush());
        return response;
      }
      const { read, ended } = untilRead(body);
      worker.waitUntil(ended.then(serving.flush));
      return new Response(read, response);
    },
  };
}

/** A body, and the time at which it was read to its end, or was let go of. */
function untilRead(body: ReadableStream<Uint8Array>): { read: ReadableStream<Uint8Array>; ended: Promise<void> } {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const reader = body.getReader();
  const read = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          controller.close();
        } catch (error) {
          controller.error(error);
        }
        end();
      },
      async cancel(reason) {
        // The runtime stops the request once its client has left: what is booked now must be written first.
        await reader.cancel(reason).catch(() => undefined);
        end();
      },
    },
    { highWaterMark: 0 },
  );
  return { read, ended };
}
