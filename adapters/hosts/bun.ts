import type { RequestHandler, SocketPeer, SocketSession } from '../../src/index.ts';
import { type HealthSource, healthHeaders, healthOf } from './health.ts';
import { findCaller, type WithCaller } from './shared/caller.ts';
import { isHandshake } from './shared/handshake.ts';

/** Options of `gatewayFetch`. */
export interface GatewayFetchOptions extends WithCaller<Request> {
  /** The path the gateway is mounted at, without a trailing slash. Default: the gateway's own. */
  basePath?: string;
}

/** The part of `Bun.serve`'s server that we use: a structural type, so that Bun's types are no dependency. */
export interface BunServer {
  /** The port that the server listens on. */
  port?: number | undefined;
  /** The host that the server listens on. */
  hostname?: string | undefined;
  /** Sets how long a request may be silent, in seconds; 0: for ever. */
  timeout(request: Request, seconds: number): void;
  /** Opens a WebSocket, where the server has handlers for it; false: it cannot. */
  upgrade?(request: Request, options: { data: BunSocketData; headers?: Record<string, string> }): boolean;
  /** Takes no more requests; `true`: ends those in flight, too. */
  stop(closeActiveConnections?: boolean): Promise<void>;
}

/** The `fetch` of `Bun.serve`. Of a request that became a WebSocket there is no response. */
export type BunFetch = (request: Request, server: BunServer) => Promise<Response | undefined>;

/** The session that a WebSocket of Bun carries. */
export interface BunSocketData {
  /** Begins the session. */
  open(peer: SocketPeer): SocketSession;
  /** The session, once it has begun. */
  session?: SocketSession;
  /** Settles when there is room for more: one for all that wait. */
  room?: { settled: Promise<void>; settle: () => void } | undefined;
}

/** The part of Bun's `ServerWebSocket` that we use. */
export interface BunWebSocket {
  /** As it was given to `upgrade`. */
  data: BunSocketData;
  /** Sends a frame. @returns -1: it waits, because the client reads slowly; 0: it was dropped */
  send(text: string): number;
  /** Closes the connection. */
  close(code: number, reason: string): void;
  /** Sends a ping. */
  ping(): void;
}

/**
 * The `fetch` of `Bun.serve`: `Bun.serve({ port: 8787, fetch: gatewayFetch(gateway) })`. With `websocket: gatewayWebSocket`
 * beside it, clients that speak Responses over a WebSocket are served too; without it, they are told to use HTTP.
 */
export function gatewayFetch(gateway: RequestHandler, options: GatewayFetchOptions = {}): BunFetch {
  return async (request, server) => {
    // Bun closes a connection when nothing was sent for 10 s. A model may think for longer.
    server.timeout(request, 0);
    const context = { basePath: options.basePath, caller: findCaller(options, request) };
    const asks = isHandshake(request.headers.get('upgrade')) && server.upgrade !== undefined;
    const upgrade = asks ? await gateway.upgrade?.(request, context) : undefined;
    if (upgrade?.response) return upgrade.response;
    if (upgrade?.response === null) {
      const { open, protocol } = upgrade;
      const headers = protocol === null ? {} : { headers: { 'sec-websocket-protocol': protocol } };
      if (server.upgrade?.(request, { data: { open }, ...headers })) return undefined;
    }
    return gateway.handle(request, context);
  };
}

/** The handlers of WebSockets, for `Bun.serve({ fetch: gatewayFetch(gateway), websocket: gatewayWebSocket })`. */
export const gatewayWebSocket = {
  /** The largest frame, in bytes: as large as the gateway's default for bodies. */
  maxPayloadLength: 32 * 1024 * 1024,
  /**
   * The most bytes that wait for a client that reads slowly, behind which Bun drops frames. Sixteen streams may wait, each with
   * one frame: the session itself sends no more before the client has read.
   */
  backpressureLimit: 1024 * 1024 * 1024,
  /** Begins the session. */
  open(socket: BunWebSocket): void {
    const { data } = socket;
    data.session = data.open({
      send(text) {
        const sent = socket.send(text);
        // Without one of its frames, a response would look whole that is not.
        if (sent === 0) socket.close(1011, 'A frame could not be sent');
        if (sent !== -1) return;
        data.room ??= newRoom();
        return data.room.settled;
      },
      close: (code, reason) => socket.close(code, reason),
      ping: () => socket.ping(),
    });
  },
  /** Passes a frame on. */
  message({ data }: BunWebSocket, frame: unknown): void {
    data.session?.message(frame);
  },
  /** Learns that the client has read. */
  drain({ data }: BunWebSocket): void {
    settle(data);
  },
  /** Learns that the client answers. */
  pong({ data }: BunWebSocket): void {
    data.session?.pong();
  },
  /** Learns that the connection is closed. */
  close({ data }: BunWebSocket): void {
    settle(data);
    data.session?.closed();
  },
};

function newRoom(): NonNullable<BunSocketData['room']> {
  const { promise: settled, resolve: settle } = Promise.withResolvers<void>();
  return { settled, settle };
}

function settle(data: BunSocketData): void {
  const { room } = data;
  data.room = undefined;
  room?.settle();
}

/** Options of `serve`. */
export interface ServeOptions extends GatewayFetchOptions {
  /** 0: any free port. Default 8787. */
  port?: number;
  /** The address to listen on. Default `127.0.0.1`, which only this machine can reach. */
  hostname?: string;
  /** The time in ms that `close` waits for open responses before it cuts them. Default 10,000. */
  drainMs?: number;
  /** false: `/healthz` and `/readyz` are paths like any other. Default true. */
  health?: boolean;
}

/** A server that `serve` has started. */
export interface RunningServer {
  /** The base URL for clients, mount path included, such as `http://127.0.0.1:8787/v1`. */
  url: string;
  /** The port that the server listens on. */
  port: number;
  /**
   * Accepts no new requests, lets open responses finish for `drainMs`, then cuts the others. The gateway stays open.
   */
  close(drainMs?: number): Promise<void>;
}

interface BunGlobal {
  serve(options: { port: number; hostname: string; fetch: BunFetch; websocket: typeof gatewayWebSocket }): BunServer;
}

/**
 * Serves the gateway on a port of its own, in Bun.
 * @throws  Error outside Bun; the error of `Bun.serve`, such as one with the code EADDRINUSE
 */
export function serve(gateway: RequestHandler & HealthSource, options: ServeOptions = {}): RunningServer {
  const { basePath = gateway.basePath ?? '/v1' } = options;
  const { port = 8787, hostname = '127.0.0.1', drainMs: defaultDrainMs = 10_000 } = options;
  const { Bun } = globalThis as { Bun?: BunGlobal };
  if (Bun === undefined) throw new Error('model-gateway/bun runs in Bun; in Node use serve of model-gateway/node');
  const fetchRequest = gatewayFetch(gateway, { ...options, basePath });
  let isStopping = false;
  const fetch: BunFetch = async (request, bun) => {
    const answer = options.health === false ? null : healthOf(gateway, new URL(request.url).pathname, isStopping);
    if (answer === null) return fetchRequest(request, bun);
    const { status, body } = await answer;
    return new Response(body, { status, headers: healthHeaders });
  };
  const sessions = new Set<SocketSession>();
  const websocket: typeof gatewayWebSocket = {
    ...gatewayWebSocket,
    open(socket) {
      gatewayWebSocket.open(socket);
      sessions.add(socket.data.session as SocketSession);
    },
    close(socket) {
      gatewayWebSocket.close(socket);
      sessions.delete(socket.data.session as SocketSession);
    },
  };
  const server = Bun.serve({ port, hostname, fetch, websocket });
  const host = hostname.includes(':') ? `[${hostname}]` : hostname;
  return {
    url: `http://${host}:${server.port}${basePath}`,
    port: server.port ?? port,
    async close(drainMs = defaultDrainMs) {
      isStopping = true;
      for (const session of sessions) session.drain();
      const timer = setTimeout(() => {
        for (const session of sessions) session.stop();
        void server.stop(true);
      }, drainMs);
      await server.stop();
      clearTimeout(timer);
    },
  };
}
