import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import process from 'node:process';
import type { RequestHandler } from '../../src/index.ts';
import { cutOpen, NodeExchange, respond } from './exchange.ts';
import { type HealthSource, healthHeaders, healthOf } from './health.ts';
import { answerFaults, lacksHost } from './http-faults.ts';
import { type ReferencePage, referencePage } from './reference.ts';
import { findCaller, type WithCaller } from './shared/caller.ts';
import { locate } from './shared/mount.ts';
import { parsedBody } from './shared/request-body.ts';
import { asksForSocket, listenerFor, type Sessions } from './upgrade.ts';

export { type GatewayUpgradeOptions, gatewayUpgrade, type UpgradeListener } from './upgrade.ts';

/** Options of `gatewayListener`. */
export interface GatewayListenerOptions extends WithCaller<IncomingMessage> {
  /** The path the gateway is mounted at, without a trailing slash. Default: the gateway's own. */
  basePath?: string;
}

/**
 * A listener for `http.createServer`: `createServer(gatewayListener(gateway)).listen(8787)`. Where something has read the
 * body before and has put it in `req.body`, as text, bytes or parsed, the handler takes it from there.
 */
export function gatewayListener(
  gateway: RequestHandler,
  options: GatewayListenerOptions = {},
): (req: IncomingMessage, res: ServerResponse) => void {
  return (req: IncomingMessage & { body?: unknown }, res) =>
    void respond(gateway, new NodeExchange(req, res), {
      basePath: options.basePath,
      body: parsedBody(req, req.body),
      caller: findCaller(options, req),
    });
}

/** Options of `serve`. */
export interface ServeOptions extends GatewayListenerOptions {
  /** 0: any free port. Default 8787. */
  port?: number;
  /** The address to listen on. Default `127.0.0.1`, which only this machine can reach. */
  hostname?: string;
  /** The time in ms that `close` waits for open responses before it cuts them. Default 10,000. */
  drainMs?: number;
  /**
   * The time in ms for which `close` first goes on taking requests, while `/readyz` reports that the server is
   * stopping: a load balancer has to notice. Default 0.
   */
  graceMs?: number;
  /** false: `/healthz` and `/readyz` are paths like any other. Default true. */
  health?: boolean;
  /**
   * true: `/reference` is a page that shows the interface, with Scalar: from the package `@scalar/api-reference` where the
   * project has it, else from jsdelivr.net. Default false.
   */
  reference?: boolean;
  /** A console, which is served at its own path beside the gateway: `consoleHandler(gateway)`. Default: none. */
  console?: RequestHandler;
  /** The time in ms for which an idle connection is kept. Default 65,000: longer than load balancers keep theirs. */
  keepAliveTimeoutMs?: number;
}

/** A server that `serve` has started. */
export interface RunningServer {
  /** The base URL for clients, mount path included, such as `http://127.0.0.1:8787/v1`. */
  url: string;
  /** The port that the server listens on. */
  port: number;
  /**
   * Accepts no new requests, lets open responses finish for `drainMs`, then cuts the others. Resolves when every
   * connection is closed. May be called again with a shorter time. The gateway itself stays open.
   */
  close(drainMs?: number): Promise<void>;
}

/**
 * Serves the gateway on a port of its own.
 * @throws  the error of `listen`, such as one with the code EADDRINUSE
 */
export async function serve(
  gateway: RequestHandler & HealthSource,
  options: ServeOptions = {},
): Promise<RunningServer> {
  const { basePath = gateway.basePath ?? '/v1' } = options;
  const { port = 8787, hostname = '127.0.0.1', drainMs: defaultDrainMs = 10_000 } = options;
  const handleRequest = gatewayListener(gateway, { ...options, basePath });
  const reference = options.reference === true ? referencePage(basePath, process.cwd()) : null;
  const { console } = options;
  const handleConsole = console && gatewayListener(console);
  let isStopping = false;
  const handle = (req: IncomingMessage, res: ServerResponse) => {
    if (lacksHost(req, res)) return;
    const url = req.url ?? '';
    const health = options.health === false ? null : healthOf(gateway, url, isStopping);
    if (health !== null) void health.then(({ status, body }) => res.writeHead(status, healthHeaders).end(body));
    else if (handleConsole && locate(console, { mountedAt: '', url, originalUrl: url }, undefined))
      handleConsole(req, res);
    else if (!showsPage(reference, req, res)) handleRequest(req, res);
  };
  // Node would answer a request without a host with an empty body: `handle` looks for the host instead.
  const settings = {
    keepAliveTimeout: options.keepAliveTimeoutMs ?? 65_000,
    requireHostHeader: false,
    // Any other handshake is a request like any other, on a connection that stays.
    shouldUpgradeCallback: (req: IncomingMessage) => asksForSocket(req, basePath),
  };
  const server = createServer(settings, handle);
  // A client that asks before it sends its body (`Expect: 100-continue`) hears first whether it may send one at all.
  server.on('checkContinue', handle);
  answerFaults(server);
  const sessions: Sessions = new Set();
  const drain = trackConnections(server, sessions);
  server.on('upgrade', listenerFor(gateway, { ...options, basePath }, sessions));
  await listen(server, port, hostname);
  const address = server.address() as AddressInfo;
  return {
    url: `http://${toUrlHost(address)}:${address.port}${basePath}`,
    port: address.port,
    async close(drainMs = defaultDrainMs) {
      const graceMs = isStopping || drainMs === 0 ? 0 : (options.graceMs ?? 0);
      isStopping = true;
      if (graceMs > 0) await new Promise((resolve) => setTimeout(resolve, graceMs));
      await drain(drainMs);
    },
  };
}

/** @returns false: the request is for something else */
function showsPage(
  reference: ReferencePage | null,
  { method, url = '' }: IncomingMessage,
  res: ServerResponse,
): boolean {
  if (reference === null || (method !== 'GET' && method !== 'HEAD')) return false;
  const answer = reference.answer(url);
  // Node leaves out the body of a HEAD.
  void answer?.then(({ status, headers, body }) => res.writeHead(status, headers).end(body));
  return answer !== null;
}

function listen(server: Server, port: number, hostname: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, hostname, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** An address that a client on this machine can use, also if the server listens on all addresses. */
function toUrlHost({ address, family }: AddressInfo): string {
  if (address === '0.0.0.0' || address === '::') return '127.0.0.1';
  return family === 'IPv6' ? `[${address}]` : address;
}

/** The time that a client has to read the error of its cut response. */
const lastWordsMs = 1_000;

/**
 * Knows the open responses of each connection and returns a function that ends the server in order. Node's own `close`
 * considers a connection idle once its response has ended, and cuts it, although the client may not have read it all.
 */
function trackConnections(server: Server, sessions: Sessions): (drainMs: number) => Promise<void> {
  const open = new Map<Socket, ServerResponse[]>();
  let closed: Promise<void> | undefined;
  server.on('connection', (socket) => {
    open.set(socket, []);
    socket.once('close', () => open.delete(socket));
  });
  const onRequest = ({ socket }: IncomingMessage, res: ServerResponse) => {
    const responses = open.get(socket) ?? [];
    responses.push(res);
    open.set(socket, responses);
    res.once('close', () => {
      responses.splice(responses.indexOf(res), 1);
      if (closed && responses.length === 0) socket.end();
    });
  };
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.on(event, onRequest);
  /** The connections that are WebSockets: their sessions close them, and Node does not know them any more. */
  const upgraded = new Set<Socket>();
  server.on('upgrade', ({ socket }) => {
    open.delete(socket);
    upgraded.add(socket);
    socket.once('close', () => upgraded.delete(socket));
  });
  return (drainMs) => {
    closed ??= new Promise((resolve) => {
      NetServer.prototype.close.call(server, () => {
        // This call only stops the timer that watches for slow requests.
        server.close();
        resolve();
      });
      for (const [socket, responses] of open) if (responses.length === 0) socket.destroy();
      for (const session of sessions) session.drain();
    });
    let timer = setTimeout(() => {
      for (const responses of open.values()) for (const res of [...responses]) cutOpen(res);
      for (const session of sessions) session.stop();
      timer = setTimeout(() => {
        server.closeAllConnections();
        for (const socket of upgraded) socket.destroy();
      }, lastWordsMs);
    }, drainMs);
    return closed.finally(() => clearTimeout(timer));
  };
}
