import { type IncomingMessage, type Server, ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import process from 'node:process';
import type { Duplex } from 'node:stream';
import { NodeRequest } from 'srvx/node';
import type { WebSocket } from 'ws';
import type { RequestHandler, SocketPeer, SocketSession, SocketUpgrade } from '../../src/index.ts';
import { findCaller, type WithCaller } from './shared/caller.ts';
import { isHandshake } from './shared/handshake.ts';
import { locate } from './shared/mount.ts';

/** Options of `gatewayUpgrade`. */
export interface GatewayUpgradeOptions extends WithCaller<IncomingMessage> {
  /** The path the gateway is mounted at, without a trailing slash. Default: the gateway's own. */
  basePath?: string;
}

/** A listener of the event `upgrade` of Node's servers. */
export type UpgradeListener = (req: IncomingMessage, socket: Duplex, head: Buffer) => void;

/**
 * Serves clients that speak Responses over a WebSocket, in every framework on top of Node's server:
 * `server.on('upgrade', gatewayUpgrade(gateway, { basePath: '/v1' }))`. Needs the package `ws`; without it, clients are told to
 * use HTTP (426). Connections for other paths are left to the other listeners of the app, and refused where there is none.
 */
export function gatewayUpgrade(gateway: RequestHandler, options: GatewayUpgradeOptions = {}): UpgradeListener {
  return listenerFor(gateway, options, new Set());
}

/** The open sessions of a server that stops in order. */
export type Sessions = Set<SocketSession>;

/** As `gatewayUpgrade`. @param sessions  holds every session while it is open */
export function listenerFor(
  gateway: RequestHandler,
  { basePath = gateway.basePath ?? '/v1', ...options }: GatewayUpgradeOptions,
  sessions: Sessions,
): UpgradeListener {
  return (req, socket, head) => {
    socket.on('error', nothing);
    const { url = '/' } = req;
    const isOurs = locate({ basePath }, { mountedAt: '', url, originalUrl: url }, undefined) !== undefined;
    if (!isOurs && serverOf(req).listenerCount('upgrade') > 1) return;
    if (!isHandshake(req.headers.upgrade)) return servePlainly(req, socket, head);
    const caller = findCaller(options, req);
    void answer(gateway, { basePath, caller }, req, socket, head, sessions).catch(() => socket.destroy());
  };
}

/** Tells whether a request is the handshake of a WebSocket that the gateway may open. */
export function asksForSocket({ url = '', headers }: IncomingMessage, basePath: string): boolean {
  const [path] = url.split('?', 1);
  return isHandshake(headers.upgrade) && path === `${basePath.replace(/\/$/, '')}/responses`;
}

async function answer(
  gateway: RequestHandler,
  context: Parameters<RequestHandler['handle']>[1],
  req: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  sessions: Sessions,
): Promise<void> {
  const request = new NodeRequest({ req });
  if (!URL.canParse(request.url)) return refuse(socket, new Response(null, { status: 400 }));
  const ws = gateway.upgrade === undefined ? null : await webSockets();
  // Without a session, the request is answered as one by HTTP: with 426, or with what is wrong about it.
  if (gateway.upgrade === undefined || ws === null) return refuse(socket, await gateway.handle(request, context));
  const upgrade = await gateway.upgrade(request, context);
  if (upgrade.response !== null) return refuse(socket, upgrade.response);
  if (socket.destroyed) return;
  const { protocol, maxFrameBytes } = upgrade;
  const server = new ws.WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: maxFrameBytes,
    handleProtocols: () => protocol ?? false,
  });
  server.handleUpgrade(req, socket, head, (connection) => attach(connection, socket, upgrade, sessions));
}

type Opening = Extract<SocketUpgrade, { response: null }>;

function attach(connection: WebSocket, socket: Duplex, { open }: Opening, sessions: Sessions): void {
  // One for all that wait: sixteen responses may be made at once.
  let room: Promise<void> | undefined;
  const peer: SocketPeer = {
    send(text) {
      if (connection.readyState !== connection.OPEN) return;
      connection.send(text);
      if (!socket.writableNeedDrain) return;
      room ??= drained(socket).finally(() => {
        room = undefined;
      });
      return room;
    },
    close: (code, reason) => connection.close(code, reason),
    ping: () => {
      if (connection.readyState === connection.OPEN) connection.ping();
    },
  };
  const session = open(peer);
  sessions.add(session);
  connection.on('message', (data, isBinary) => session.message(isBinary ? data : data.toString()));
  connection.on('pong', () => session.pong());
  // A frame that is too large, or no frame at all: `ws` closes the connection itself.
  connection.on('error', nothing);
  connection.on('close', () => {
    sessions.delete(session);
    session.closed();
  });
}

/** Settles when the socket has room again, or is closed. */
function drained(socket: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      socket.off('drain', go);
      socket.off('close', go);
      resolve();
    };
    socket.on('drain', go);
    socket.on('close', go);
  });
}

let loading: Promise<typeof import('ws') | null> | undefined;

/** @returns null: the app has no package `ws`, of which it is told once */
function webSockets(): Promise<typeof import('ws') | null> {
  loading ??= import('ws').catch(() => {
    process.emitWarning('Clients ask for WebSockets: install the package ws, or they use HTTP', 'ModelGateway');
    return null;
  });
  return loading;
}

/** Answers a handshake by HTTP, and closes the connection: Node has taken its parser away. */
async function refuse(socket: Duplex, response: Response): Promise<void> {
  const body = Buffer.from(await response.arrayBuffer());
  const headers = [...response.headers].filter(([name]) => !['connection', 'content-length'].includes(name));
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  const connection = response.headers.has('upgrade') ? 'close, upgrade' : 'close';
  const status = `HTTP/1.1 ${response.status} ${STATUS_CODES[response.status] ?? ''}`;
  const head = [status, ...lines, `connection: ${connection}`, `content-length: ${body.length}`, '', ''].join('\r\n');
  end(socket, Buffer.concat([Buffer.from(head), body]));
}

/**
 * Serves a request that offers another protocol, such as `h2c`, as if it had not: a server may ignore such an offer, and
 * Node does where nobody listens to `upgrade`.
 */
function servePlainly(req: IncomingMessage, socket: Duplex, head: Buffer): void {
  const server = serverOf(req);
  // Node has parsed the whole request, from the version on in which a server may choose what it upgrades.
  if ('shouldUpgradeCallback' in server) {
    const res = new ServerResponse(req);
    res.shouldKeepAlive = false;
    res.assignSocket(socket as Socket);
    res.once('finish', () => end(socket));
    server.emit('request', req, res);
    return;
  }
  // Before, its parser is gone: the request is given to a new one, without the offer.
  const lines = [`${req.method} ${req.url} HTTP/${req.httpVersion}`];
  const { rawHeaders } = req;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (!/^(?:upgrade|connection|http2-settings)$/i.test(name)) lines.push(`${name}: ${rawHeaders[at + 1]}`);
  }
  socket.off('error', nothing);
  server.emit('connection', socket);
  socket.emit('data', Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
}

/** Closes a connection that Node no longer looks after: a client that does not close its side would keep it open. */
function end(socket: Duplex, last?: Buffer): void {
  socket.once('finish', () => socket.destroy());
  socket.end(last);
}

function serverOf(req: IncomingMessage): Server {
  return (req.socket as Socket & { server: Server }).server;
}

function nothing(): void {}
