import type { RequestHandler } from '../../src/index.ts';
import { findCaller, type WithCaller } from './shared/caller.ts';
import { isHandshake } from './shared/handshake.ts';
import { type ServerSocket, serveSocket } from './shared/web-socket.ts';

/** Options of `gatewayHandler`. */
export interface GatewayHandlerOptions extends WithCaller<Request> {
  /** The path the gateway is mounted at, without a trailing slash. Default: the gateway's own. */
  basePath?: string;
}

/** The handler of `Deno.serve`. */
export type DenoHandler = (request: Request) => Promise<Response>;

/** The part of the global `Deno` that we use: a structural type, so that Deno's types are no dependency. */
interface DenoGlobal {
  upgradeWebSocket?(request: Request, options: { idleTimeout?: number }): { socket: ServerSocket; response: Response };
}

/** The seconds after which Deno pings a client that is silent, and closes the connection where it does not answer. */
const idleSeconds = 30;

/**
 * The handler of `Deno.serve`: `Deno.serve(gatewayHandler(gateway))`. It also serves clients that speak Responses over a
 * WebSocket.
 */
export function gatewayHandler(gateway: RequestHandler, options: GatewayHandlerOptions = {}): DenoHandler {
  return async (request) => {
    const context = { basePath: options.basePath, caller: findCaller(options, request) };
    const { Deno: deno } = globalThis as { Deno?: DenoGlobal };
    const asks = isHandshake(request.headers.get('upgrade')) && deno?.upgradeWebSocket !== undefined;
    const upgrade = asks ? await gateway.upgrade?.(request, context) : undefined;
    if (upgrade === undefined) return gateway.handle(request, context);
    if (upgrade.response !== null) return upgrade.response;
    const { protocol } = upgrade;
    const opened = deno?.upgradeWebSocket?.(request, { idleTimeout: idleSeconds });
    if (opened === undefined) return gateway.handle(request, context);
    // Its own option finds the protocol only where the client has written a space after the comma.
    if (protocol !== null) opened.response.headers.set('sec-websocket-protocol', protocol);
    opened.socket.addEventListener('open', () => serveSocket(opened.socket, upgrade));
    return opened.response;
  };
}
