import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import type { UpstreamError } from '../../../src/base/http/upstream-error.ts';
import { proxiesOf } from '../../../src/transport/proxy-settings.ts';
import type { SocketListener, SocketRequest, Transport } from '../../../src/transport/transport.ts';
import { undiciTransport } from '../../../src/transport/undici.ts';
import { ofProvider, testProxy } from './proxy-server.ts';
import { selfSigned } from './raw-server.ts';

const secret = 'sk-never-in-clear-0123456789';
const trusted = getCACertificates('default');
const closing: (() => unknown)[] = [];

beforeAll(() => setDefaultCACertificates([...trusted, ofProvider.cert]));
afterAll(() => setDefaultCACertificates(trusted));
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

type Refuse = (socket: Duplex, request: IncomingMessage) => void;

/** A provider that opens WebSockets. */
async function server(serve: (socket: WebSocket) => void, tls?: { key: string; cert: string }, refuse?: Refuse) {
  const handshakes: IncomingMessage[] = [];
  const http = tls === undefined ? createHttpServer() : createHttpsServer(tls);
  const sockets = new WebSocketServer({ noServer: true });
  const taken = new Set<Duplex>();
  http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    taken.add(socket);
    handshakes.push(request);
    if (refuse)
      return refuse(
        socket.on('error', () => undefined),
        request,
      );
    sockets.handleUpgrade(request, socket, head, serve);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  closing.push(() => {
    for (const socket of taken) socket.destroy();
    http.closeAllConnections();
    return new Promise((resolve) => http.close(resolve));
  });
  return { port, url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}/v1/responses?a=1`, handshakes };
}

function listening() {
  const frames: string[] = [];
  const closed = Promise.withResolvers<unknown>();
  const framed: (() => void)[] = [];
  const listener: SocketListener & { pongs: number } = {
    pongs: 0,
    frame(text) {
      frames.push(text);
      for (const look of framed) look();
    },
    pong: () => void listener.pongs++,
    closed: closed.resolve,
  };
  const count = (wanted: number) =>
    new Promise<string[]>((resolve) => {
      const look = () => frames.length >= wanted && resolve(frames);
      framed.push(look);
      look();
    });
  return { listener, frames, count, closed: closed.promise };
}

const handshake = (url: string, more: Partial<SocketRequest> = {}): SocketRequest => ({
  url,
  headers: { authorization: `Bearer ${secret}` },
  signal: new AbortController().signal,
  limits: { headerBytes: 16_384, frameBytes: 1_000 },
  ...more,
});

function transport(...settings: Parameters<typeof undiciTransport>): Transport {
  const made = undiciTransport(...settings);
  closing.push(() => made.close?.());
  return made;
}

const connect = (request: SocketRequest, listener: SocketListener, over = transport()) =>
  (over.connect as NonNullable<Transport['connect']>)(request, listener);

const failure = (connecting: Promise<unknown>) =>
  connecting.then(
    () => Promise.reject(new Error('it was opened')),
    (error: UpstreamError) => error,
  );

describe('a WebSocket of the transport on Node', () => {
  it('sends and takes frames of text, with the headers of the request and without compression', async () => {
    const { url, handshakes } = await server((socket) =>
      socket.on('message', (data) => socket.send(`got ${data}, ünï`)),
    );
    const { listener, count } = listening();
    const socket = await connect(handshake(url), listener);
    socket.send('one');
    socket.send('two');
    expect(await count(2)).toEqual(['got one, ünï', 'got two, ünï']);
    const [{ headers, url: path } = {} as IncomingMessage] = handshakes;
    expect(path).toBe('/v1/responses?a=1');
    expect(headers).toMatchObject({ authorization: `Bearer ${secret}`, upgrade: 'websocket' });
    expect(headers).not.toHaveProperty('sec-websocket-extensions');
    socket.close(true);
  });

  it('tells when the provider closes it, in order and not', async () => {
    for (const close of ['close', 'terminate'] as const) {
      const { url } = await server((socket) => socket.on('message', () => socket[close]()));
      const { listener, closed } = listening();
      const socket = await connect(handshake(url), listener);
      socket.send('go');
      await closed;
      // Nothing of it throws.
      socket.send('more');
      socket.ping();
      socket.pause();
      socket.resume();
      socket.close(false);
    }
  });

  it('closes at once, which the provider sees', async () => {
    const seen = Promise.withResolvers<number>();
    const { url } = await server((socket) => socket.on('close', seen.resolve));
    const { listener, closed } = listening();
    (await connect(handshake(url), listener)).close(false);
    expect(await seen.promise).toBe(1006);
    await closed;
  });

  it('pings, and learns of the answer', async () => {
    const { url } = await server((socket) => socket.on('ping', () => socket.send('pinged')));
    const { listener, count } = listening();
    (await connect(handshake(url), listener)).ping();
    await count(1);
    expect(listener.pongs).toBe(1);
  });

  it('reads nothing while it is paused, so that the provider has to wait', async () => {
    let isStuck = false;
    const { url } = await server((socket) => {
      for (let frame = 0; frame < 20_000; frame++) socket.send('x'.repeat(900));
      isStuck = true;
    });
    const { listener, count, frames } = listening();
    const socket = await connect(handshake(url), listener);
    socket.pause();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(isStuck).toBe(true);
    expect(frames.length).toBeLessThan(5_000);
    socket.resume();
    expect(await count(20_000)).toHaveLength(20_000);
  });

  it.each([
    ['a frame that is too large', (socket: WebSocket) => socket.send('x'.repeat(1_001))],
    ['a frame of bytes', (socket: WebSocket) => socket.send(Buffer.from('abc'))],
  ])('is closed by %s, which is told', async (_, serve) => {
    const { url } = await server((socket) => socket.on('message', () => serve(socket)));
    const { listener, closed, frames } = listening();
    (await connect(handshake(url), listener)).send('go');
    expect(await closed).toMatchObject({ reason: 'bad_response', status: 502 });
    expect(frames).toEqual([]);
  });

  const answers =
    (head: string): Refuse =>
    (socket) =>
      void socket.end(`${head}\r\ncontent-length: 0\r\n\r\n`);
  it.each([
    ['an error', answers('HTTP/1.1 426 Upgrade Required'), '(426)'],
    ['a redirect', answers('HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/steal'), '(302)'],
    ['a success that is none', answers('HTTP/1.1 200 OK'), '(200)'],
    ['headers beyond the limit', answers(`HTTP/1.1 101 Switching\r\nx: ${'y'.repeat(20_000)}`), 'too large'],
    [
      'another key',
      answers('HTTP/1.1 101 Switching\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: no'),
      '',
    ],
    ['no HTTP', ((socket) => void socket.end('SSH-2.0\r\n')) as Refuse, ''],
    ['nothing, and a reset', ((socket) => void socket.destroy()) as Refuse, ''],
  ])('is not opened where the provider answers with %s, and the error tells no key', async (_, refuse, why) => {
    const { url, handshakes } = await server(() => undefined, undefined, refuse);
    const error = await failure(connect(handshake(url), listening().listener));
    expect(error).toMatchObject({ name: 'UpstreamError', status: 502 });
    expect(error.message).toContain(why);
    expect(error.message + error.failure).not.toContain(secret);
    expect(handshakes).toHaveLength(1);
  });

  it.each([
    ['a server that is not there', 'http://127.0.0.1:1/', 'connection refused'],
    ['another scheme', 'ftp://127.0.0.1/', 'neither http nor https'],
    ['a password in the address', 'http://u:p@127.0.0.1/', 'user name or password'],
  ])('is not opened to %s', async (_, url, why) => {
    expect((await failure(connect(handshake(url), listening().listener))).message).toContain(why);
  });

  it('is not opened with a header that cannot be sent, which is named without its value', async () => {
    const bad = handshake('http://127.0.0.1:1/', { headers: { authorization: `Bearer ${secret}\n` } });
    const error = await failure(connect(bad, listening().listener));
    expect(error.message).toContain('authorization');
    expect(error.message).not.toContain(secret);
  });

  it('ends a handshake at an abort, with its reason', async () => {
    const asked = Promise.withResolvers<Duplex>();
    const { url } = await server(() => undefined, undefined, asked.resolve);
    const stop = new AbortController();
    const connecting = failure(connect(handshake(url, { signal: stop.signal }), listening().listener));
    const socket = await asked.promise;
    const gone = new Promise((resolve) => socket.on('end', resolve).on('close', resolve));
    stop.abort(new Error('left'));
    expect((await connecting).message).toBe('left');
    socket.resume();
    await gone;
  });
});

describe('a WebSocket over TLS', () => {
  it('is not opened where nobody vouches for the certificate', async () => {
    const { url } = await server((socket) => socket.send('hello'), selfSigned);
    const error = await failure(connect(handshake(url), listening().listener));
    expect(error.message).toBe('the certificate of the provider was not accepted');
  });

  it.each([
    ['https', ofProvider, 'provider.test', 443],
    ['http', undefined, 'plain.test', 80],
  ] as const)('of an %s address goes through a tunnel of the proxy', async (scheme, tls, host, port) => {
    const own = await server((socket) => socket.on('message', (data) => socket.send(`${data}`)), tls);
    const proxy = await testProxy({ hosts: { [host]: own.port } });
    closing.push(() => proxy.close());
    const { listener, count } = listening();
    const over = transport(proxiesOf({ url: proxy.url, noProxy: [] }, {}));
    const socket = await connect(handshake(`${scheme}://${host}/v1/responses`), listener, over);
    socket.send('hi');
    expect(await count(1)).toEqual(['hi']);
    expect(proxy.asked).toEqual([`CONNECT ${host}:${port} HTTP/1.1`]);
    if (scheme === 'https') expect(proxy.seen()).not.toContain(secret);
    socket.close(false);
  });

  it('is not opened where the proxy refuses', async () => {
    const proxy = await testProxy({ hosts: {}, refusal: 'HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n' });
    closing.push(() => proxy.close());
    const over = transport(proxiesOf({ url: proxy.url, noProxy: [] }, {}));
    const error = await failure(connect(handshake('https://provider.test/'), listening().listener, over));
    expect(error.message).toContain('407');
  });
});
