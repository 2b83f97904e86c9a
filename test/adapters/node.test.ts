import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import {
  connect,
  createServer as createHttp2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { gatewayListener, serve } from '../../adapters/hosts/node.ts';
import { createGateway } from '../../src/gateway.ts';
import { keepAlive, nextPiece, readAll, receive, send } from '../contract/adapters/client.ts';
import { fakeGateway, floodPiece, floodPieces } from '../contract/adapters/fake-gateway.ts';
import { adapterContract } from '../contract/adapters/suite.ts';
import { hostListener } from './hosts.ts';

adapterContract('gatewayListener', {
  start: (gateway) => hostListener(gatewayListener(gateway), '/v1'),
});

adapterContract('serve below another path', {
  async start(gateway) {
    const server = await serve(gateway, { port: 0, basePath: '/api/llm', drainMs: 0 });
    return { baseUrl: server.url, close: () => server.close() };
  },
});

describe('a body that something before the gateway has had its hands on', () => {
  const cases: [string, (req: IncomingMessage & { rawBody?: Buffer }) => void | Promise<void>][] = [
    ['is wanted as text', (req) => void req.setEncoding('utf8')],
    ['was kept', (req) => keepBody(req)],
    ['is listened to', (req) => void req.on('data', () => undefined)],
  ];
  it.each(cases)('%s', async (_, before) => {
    const handle = gatewayListener(fakeGateway('sources'));
    const host = await hostListener(async (req, res) => {
      const pending = before(req);
      if (pending) await pending;
      handle(req, res);
    }, '/v1');
    const body = JSON.stringify({ text: 'é, 漢字' });
    const { text } = await receive(`${host.baseUrl}/echo`, { headers: { 'content-type': 'application/json' }, body });
    expect(JSON.parse(text).body).toEqual({ text: 'é, 漢字' });
    await host.close();
  });
});

describe('a body that something before gatewayListener has read', () => {
  const parsers: [string, (text: string) => unknown][] = [
    ['parsed', JSON.parse],
    ['as text', (text) => text],
    ['as a Buffer', (text) => Buffer.from(text)],
  ];
  const readBefore = (gateway: Parameters<typeof gatewayListener>[0], parse: (text: string) => unknown) => {
    const handle = gatewayListener(gateway);
    return hostListener(async (req: IncomingMessage & { body?: unknown }, res) => {
      let text = '';
      for await (const piece of req.setEncoding('utf8')) text += piece;
      req.body = parse(text);
      handle(req, res);
    }, '/v1');
  };
  it.each(parsers)('is taken from req.body: %s', async (_, parse) => {
    const host = await readBefore(fakeGateway('sources'), parse);
    const { text } = await receive(`${host.baseUrl}/echo`, { body: '{"text":"é, 漢字"}' });
    expect(JSON.parse(text)).toMatchObject({ handedOver: true, body: { text: 'é, 漢字' } });
    await host.close();
  });
  it('and has kept for itself is an error that says what to do, and no request that waits for ever', async () => {
    const gateway = createGateway({ providers: { sandbox: {} }, apiKeys: [{ key: 'sk-test-inference' }] });
    const host = await readBefore(gateway, () => undefined);
    const headers = { authorization: 'Bearer sk-test-inference' };
    const { status, text } = await receive(`${host.baseUrl}/chat/completions`, { headers, body: '{}' });
    expect([status, JSON.parse(text).error.message]).toEqual([500, expect.stringContaining('as req.body')]);
    expect((await receive(`${host.baseUrl}/models`, { method: 'GET', headers })).status).toBe(200);
    await host.close();
    await gateway.close();
  });
});

async function keepBody(req: IncomingMessage & { rawBody?: Buffer }): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of req) pieces.push(piece);
  req.rawBody = Buffer.concat(pieces);
}

describe('gatewayListener in an http2 server', () => {
  it('answers, streams, aborts, and resets the stream of a body that breaks', async () => {
    const gateway = fakeGateway('sources');
    // The compatibility layer of node:http2 hands out objects that act as those of node:http.
    const listener = gatewayListener(gateway) as unknown as (req: Http2ServerRequest, res: Http2ServerResponse) => void;
    const server = createHttp2Server(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const post = (path: string) => {
      const stream = client.request({ ':method': 'POST', ':path': path });
      stream.end('{"a":1}');
      return stream;
    };

    const [body] = (await once(post('/v1/echo'), 'data')) as [Buffer];
    expect(JSON.parse(body.toString())).toMatchObject({ path: '/v1/echo', body: { a: 1 } });

    const breaking = post('/v1/stream');
    const broken = await gateway.nextStream();
    broken.write('data: 1\n\n');
    await once(breaking, 'data');
    broken.fail();
    await expect(once(breaking, 'end')).rejects.toMatchObject({ code: 'ERR_HTTP2_STREAM_ERROR' });

    const leaving = post('/v1/stream');
    const left = await gateway.nextStream();
    left.write('data: 1\n\n');
    await once(leaving, 'data');
    leaving.close();
    await left.cancelled;
    expect(left.signal.aborted).toBe(true);

    client.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
});

describe('serve', () => {
  it('names the base URL and the port it got, for IPv6 as well', async () => {
    const v4 = await serve(fakeGateway('streams'), { port: 0 });
    expect(v4.url).toBe(`http://127.0.0.1:${v4.port}/v1`);
    await v4.close();
    const everywhere = await serve(fakeGateway('streams'), { port: 0, hostname: '0.0.0.0', basePath: '' });
    expect(everywhere.url).toBe(`http://127.0.0.1:${everywhere.port}`);
    await everywhere.close();
  });

  it('rejects when the port is taken', async () => {
    const first = await serve(fakeGateway('streams'), { port: 0 });
    await expect(serve(fakeGateway('streams'), { port: first.port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await first.close();
  });

  it('closes at once where nothing is open, idle connections included', async () => {
    const server = await serve(fakeGateway('streams'), { port: 0 });
    const agent = keepAlive();
    await receive(`${server.url}/echo`, { body: '{}', agent });
    await server.close();
    agent.destroy();
    await expect(receive(`${server.url}/echo`, { body: '{}' })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('lets an open stream finish before it closes, and accepts nothing more', async () => {
    const gateway = fakeGateway('sources');
    const server = await serve(gateway, { port: 0 });
    const agent = keepAlive();
    const { response } = send(`${server.url}/stream`, { body: '{}', agent });
    const stream = await gateway.nextStream();
    stream.write('data: 1\n\n');
    const received = await response;
    expect(await nextPiece(received)).toBe('data: 1\n\n');

    const closed = server.close();
    await expect(receive(`${server.url}/echo`, { body: '{}' })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    stream.write('data: 2\n\n');
    expect(await nextPiece(received)).toBe('data: 2\n\n');
    stream.end();
    expect(await readAll(received)).toMatchObject({ whole: true });
    await closed;
    agent.destroy();
  });

  it('does not cut a response that was ended but not yet read', async () => {
    const gateway = fakeGateway('sources');
    const server = await serve(gateway, { port: 0 });
    const { response } = send(`${server.url}/flood`, { body: '{}' });
    const received = await response;
    const closed = server.close();
    let bytes = 0;
    for await (const piece of received) bytes += (piece as Buffer).length;
    expect(bytes).toBe(floodPieces * floodPiece.length);
    await closed;
  });

  it('cuts what is still open when the time is up, or when it is closed again with less', async () => {
    const gateway = fakeGateway('sources');
    const server = await serve(gateway, { port: 0, drainMs: 60_000 });
    const { response } = send(`${server.url}/stream`, { body: '{}' });
    const stream = await gateway.nextStream();
    const received = await response;
    const closed = server.close();
    void server.close(0);
    await closed;
    await stream.cancelled;
    expect(stream.signal.aborted).toBe(true);
    expect(await readAll(received)).toMatchObject({ whole: false });
  });
});
