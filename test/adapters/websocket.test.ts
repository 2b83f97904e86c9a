import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import process from 'node:process';
import express from 'express';
import fastify from 'fastify';
import Koa from 'koa';
import OpenAI from 'openai';
import { ResponsesWS } from 'openai/resources/responses/ws';
import { afterEach, describe, expect, it, vi } from 'vitest';
import WebSocket from 'ws';
import { gatewayFetch, gatewayWebSocket } from '../../adapters/hosts/bun.ts';
import { gatewayMiddleware as expressMiddleware } from '../../adapters/hosts/express.ts';
import { gatewayPlugin } from '../../adapters/hosts/fastify.ts';
import { gatewayMiddleware as koaMiddleware } from '../../adapters/hosts/koa.ts';
import { gatewayListener, gatewayUpgrade, serve } from '../../adapters/hosts/node.ts';
import { createGateway, type Gateway } from '../../src/index.ts';
import { testKey } from '../support/gateway.ts';
import { chunk, type HttpUpstream, httpUpstream, sse } from '../support/upstream.ts';

const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function newGateway(options: object = {}): Gateway {
  const gateway = createGateway({ providers: { sandbox: {} }, apiKeys: [{ key: testKey }], ...options });
  closing.push(() => gateway.close());
  return gateway;
}

async function listening(server: ReturnType<typeof createServer>): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

const hosts: Record<string, (gateway: Gateway) => Promise<string>> = {
  serve: async (gateway) => {
    const server = await serve(gateway, { port: 0 });
    closing.push(() => server.close(0));
    return server.url;
  },
  'node:http': (gateway) => listening(createServer(gatewayListener(gateway)).on('upgrade', gatewayUpgrade(gateway))),
  Express: (gateway) =>
    listening(createServer(express().use('/v1', expressMiddleware(gateway))).on('upgrade', gatewayUpgrade(gateway))),
  Koa: (gateway) =>
    listening(createServer(new Koa().use(koaMiddleware(gateway)).callback()).on('upgrade', gatewayUpgrade(gateway))),
  Fastify: async (gateway) => {
    const app = fastify().register(gatewayPlugin(gateway), { prefix: '/v1' });
    app.server.on('upgrade', gatewayUpgrade(gateway));
    closing.push(() => app.close());
    return `${await app.listen({ port: 0, host: '127.0.0.1' })}/v1`;
  },
};

async function open(url: string, headers: Record<string, string> = { authorization: `Bearer ${testKey}` }) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/responses`, { headers });
  closing.push(() => socket.terminate());
  await once(socket, 'open');
  return socket;
}

/** The events of one turn. */
async function turn(socket: WebSocket, fields: object) {
  const events: { type: string; response: { id: string; output: unknown[] } }[] = [];
  const done = new Promise<void>((resolve) => {
    const listen = (data: unknown) => {
      events.push(JSON.parse(String(data)));
      if (!/completed$|failed$|incomplete$|^error$/.test(events.at(-1)?.type ?? '')) return;
      socket.off('message', listen);
      resolve();
    };
    socket.on('message', listen);
  });
  socket.send(JSON.stringify({ type: 'response.create', model: 'sandbox/echo', ...fields }));
  await done;
  return events;
}

describe.each(Object.entries(hosts))('Responses over a WebSocket: %s', (_, start) => {
  it('serves the client of the SDK, turn after turn, beside requests by HTTP', async () => {
    const baseURL = await start(newGateway());
    const client = new OpenAI({ baseURL, apiKey: testKey });
    const socket = new ResponsesWS(client);
    closing.push(() => socket.close());
    const completed = () =>
      new Promise<{ id: string; text: string }>((resolve, reject) => {
        socket.once('response.completed', ({ response }) => {
          const [item] = response.output;
          const [part] = item?.type === 'message' ? item.content : [];
          resolve({ id: response.id, text: part?.type === 'output_text' ? part.text : '' });
        });
        socket.once('error', reject);
      });
    const first = completed();
    socket.send({ type: 'response.create', model: 'sandbox/echo', input: 'Hello over the socket', store: false });
    const { id, text } = await first;
    expect(text).toBe('Hello over the socket');
    const next = completed();
    socket.send({ type: 'response.create', model: 'sandbox/echo', input: 'Again', previous_response_id: id });
    expect((await next).text).toBe('Again');
    expect((await client.responses.create({ model: 'sandbox/echo', input: 'By HTTP' })).output_text).toBe('By HTTP');
  });

  it('refuses by HTTP who may not, and what is no such path', async () => {
    const url = await start(newGateway());
    const statusOf = async (address: string, headers: Record<string, string>) => {
      const socket = new WebSocket(address.replace('http', 'ws'), { headers });
      const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
      response.resume();
      return response.statusCode;
    };
    const withKey = { authorization: `Bearer ${testKey}` };
    expect(await statusOf(`${url}/responses`, {})).toBe(401);
    expect(await statusOf(`${url}/responses`, { authorization: 'Bearer wrong' })).toBe(401);
    expect(await statusOf(`${url}/chat/completions`, withKey)).toBe(426);
    expect(await statusOf(`${url}/nothing`, withKey)).toBe(404);
  });

  it('ignores offers of other protocols, and serves the request', async () => {
    const url = await start(newGateway());
    const asked = request(`${url}/responses`, {
      method: 'POST',
      headers: {
        connection: 'Upgrade, HTTP2-Settings',
        upgrade: 'h2c',
        'http2-settings': 'AAMAAABkAAQAAP__',
        authorization: `Bearer ${testKey}`,
        'content-type': 'application/json',
      },
    });
    asked.end(JSON.stringify({ model: 'sandbox/echo', input: 'Hi' }));
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    const pieces: Buffer[] = [];
    for await (const piece of response) pieces.push(piece as Buffer);
    expect([response.statusCode, JSON.parse(String(Buffer.concat(pieces))).status]).toEqual([200, 'completed']);
  });

  it('gives a browser its subprotocol, without its key', async () => {
    const url = await start(newGateway());
    const address = `${url.replace('http', 'ws')}/responses`;
    const socket = new WebSocket(address, [`openai-insecure-api-key.${testKey}`, 'openai-beta.responses.v1']);
    closing.push(() => socket.terminate());
    await once(socket, 'open');
    expect(socket.protocol).toBe('openai-beta.responses.v1');
    expect((await turn(socket, { input: 'Hi' })).at(-1)?.type).toBe('response.completed');
  });
});

describe('A client of a WebSocket that leaves', () => {
  it.each(['terminate', 'close'] as const)('by %s aborts what the provider is sending', async (how) => {
    const upstream: HttpUpstream = await httpUpstream();
    closing.push(() => upstream.close());
    upstream.always({ body: [sse(chunk({ content: 'Hel' })), { hangs: true }] });
    const gateway = newGateway({
      providers: { up: { baseUrl: upstream.url, apiKey: 'sk-up-0123456789' } },
      models: [{ slug: 'acme/fast', endpoints: [{ provider: 'up', model: 'm' }] }],
    });
    const socket = await open((await hosts.serve?.(gateway)) as string);
    socket.send(JSON.stringify({ type: 'response.create', model: 'acme/fast', input: 'Hi' }));
    await once(socket, 'message');
    socket[how]();
    await (await upstream.request(0)).cut;
    await vi.waitFor(() => expect(gateway.state()).toMatchObject({ requestsInFlight: 0, holds: 0 }));
  });
});

describe('A server that stops', () => {
  it('closes idle sockets at once, and busy ones after their response', async () => {
    const upstream: HttpUpstream = await httpUpstream();
    closing.push(() => upstream.close());
    let release: () => void = () => undefined;
    const until = new Promise<void>((resolve) => {
      release = resolve;
    });
    upstream.always({
      body: [sse(chunk({ content: 'Hel' })), { until }, sse(chunk({ content: 'lo' }), chunk({}, 'stop'), '[DONE]')],
    });
    const gateway = newGateway({
      providers: { up: { baseUrl: upstream.url, apiKey: 'sk-up-0123456789' } },
      models: [{ slug: 'acme/fast', endpoints: [{ provider: 'up', model: 'm' }] }],
    });
    const server = await serve(gateway, { port: 0 });
    const idle = await open(server.url);
    const busy = await open(server.url);
    busy.send(JSON.stringify({ type: 'response.create', model: 'acme/fast', input: 'Hi' }));
    await once(busy, 'message');
    const left = once(idle, 'close');
    const stopped = server.close(5_000);
    expect((await left)[0]).toBe(1001);
    const types: string[] = [];
    busy.on('message', (data) => types.push(JSON.parse(String(data)).type));
    release();
    expect((await once(busy, 'close'))[0]).toBe(1001);
    expect(types.at(-1)).toBe('response.completed');
    await stopped;
  });
});

it('A server that stops waits for no client that keeps its side open, served or refused', async () => {
  const server = await serve(newGateway(), { port: 0 });
  const handshake = async (authorization: string) => {
    const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
    closing.push(() => socket.destroy());
    socket.on('error', () => undefined);
    const lines = [
      'GET /v1/responses HTTP/1.1',
      'Host: x',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      `Authorization: ${authorization}`,
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    return String((await once(socket, 'data'))[0]).slice(9, 12);
  };
  expect([await handshake(`Bearer ${testKey}`), await handshake('Bearer wrong')]).toEqual(['101', '401']);
  const startMs = performance.now();
  await server.close(0);
  // A client has a second to read last words; `ws` itself would wait for thirty.
  expect(performance.now() - startMs).toBeLessThan(10_000);
});

it('A listener for upgrades leaves other paths to the other listeners of the app', async () => {
  const gateway = newGateway();
  const server = createServer(gatewayListener(gateway)).on('upgrade', gatewayUpgrade(gateway));
  server.on('upgrade', (req, socket) => {
    if (req.url === '/own') socket.end('HTTP/1.1 418 Mine\r\n\r\n');
  });
  const { port } = new URL(await listening(server));
  const socket = connect(Number(port), '127.0.0.1');
  closing.push(() => socket.destroy());
  socket.write('GET /own HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  expect(String((await once(socket, 'data'))[0])).toContain('418 Mine');
});

it('A client that reads nothing for a while gets all of many responses then, in every stream', async () => {
  const upstream: HttpUpstream = await httpUpstream();
  closing.push(() => upstream.close());
  upstream.always({ body: [sse(chunk({ content: 'x'.repeat(400_000) }), chunk({}, 'stop'), '[DONE]')] });
  const gateway = newGateway({
    providers: { up: { baseUrl: upstream.url, apiKey: 'sk-up-0123456789' } },
    models: [{ slug: 'acme/fast', endpoints: [{ provider: 'up', model: 'm' }] }],
  });
  const socket = await open((await hosts.serve?.(gateway)) as string);
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => void warnings.push(warning);
  process.on('warning', onWarning);
  socket.pause();
  const ended = new Set<string>();
  const all = new Promise<void>((resolve) => {
    socket.on('message', (data) => {
      const { type, stream_id: id } = JSON.parse(String(data));
      if (type === 'response.completed') ended.add(id);
      if (ended.size === 16) resolve();
    });
  });
  for (let at = 0; at < 16; at++)
    socket.send(JSON.stringify({ type: 'response.create', model: 'acme/fast', input: 'Hi', stream_id: `s${at}` }));
  // Most are being made, and wait for the client.
  await upstream.request(15);
  expect(gateway.state().requestsInFlight).toBeGreaterThan(8);
  socket.resume();
  await all;
  process.off('warning', onWarning);
  expect(warnings).toEqual([]);
});

describe('gatewayFetch of Bun', () => {
  const asked = () =>
    new Request('http://h/v1/responses', { headers: { upgrade: 'websocket', authorization: `Bearer ${testKey}` } });
  const bun = { timeout: () => undefined, stop: async () => undefined };

  it('opens a session where the server has handlers, and tells to use HTTP where not', async () => {
    const fetch = gatewayFetch(newGateway());
    expect((await fetch(asked(), bun))?.status).toBe(426);
    expect((await fetch(asked(), { ...bun, upgrade: () => false }))?.status).toBe(426);
    const sent: string[] = [];
    const done = new Promise<void>((resolve) => {
      const upgrade: NonNullable<Parameters<typeof fetch>[1]['upgrade']> = (_, { data }) => {
        const socket = {
          data,
          send(text: string) {
            sent.push(JSON.parse(text).type);
            if (sent.at(-1) === 'response.completed') resolve();
            // It waits: Bun calls `drain` later.
            setImmediate(() => gatewayWebSocket.drain(socket));
            return -1;
          },
          close: () => undefined,
          ping: () => undefined,
        };
        gatewayWebSocket.open(socket);
        gatewayWebSocket.message(
          socket,
          JSON.stringify({ type: 'response.create', model: 'sandbox/echo', input: 'Hi' }),
        );
        return true;
      };
      void fetch(asked(), { ...bun, upgrade }).then((response) => expect(response).toBeUndefined());
    });
    await done;
    expect(sent[0]).toBe('response.created');
  });

  it('loses no frame in silence: what Bun would drop has room, and a frame that it drops ends the connection', async () => {
    // Sixteen streams may wait for a client, each with a frame that is as large as its request.
    expect(gatewayWebSocket.backpressureLimit).toBeGreaterThan(16 * gatewayWebSocket.maxPayloadLength);
    const fetch = gatewayFetch(newGateway());
    const closed = await new Promise<[number, string]>((resolve) => {
      const upgrade: NonNullable<Parameters<typeof fetch>[1]['upgrade']> = (_, { data }) => {
        const socket = {
          data,
          send: () => 0,
          close: (code: number, reason: string) => {
            resolve([code, reason]);
            gatewayWebSocket.close(socket);
          },
          ping: () => undefined,
        };
        gatewayWebSocket.open(socket);
        gatewayWebSocket.message(
          socket,
          JSON.stringify({ type: 'response.create', model: 'sandbox/echo', input: 'Hi' }),
        );
        return true;
      };
      void fetch(asked(), { ...bun, upgrade });
    });
    expect(closed).toEqual([1011, 'A frame could not be sent']);
  });
});
