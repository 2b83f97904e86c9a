import 'reflect-metadata';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import type { Express } from 'express';
import type { FastifyInstance } from 'fastify';
import type Koa from 'koa';
import { expect, it } from 'vitest';
import type { Gateway } from '../../src/gateway.ts';
import { readAll, receive, send } from '../contract/adapters/client.ts';
import { examplesOf, writeExample } from './example-files.ts';

const [session = '', parsing = '', koa = '', continuing = '', upgrading = '', pages = '', plugin = '', ...rest] =
  examplesOf('docs/hosts.md');
const [nest = '', filter = '', stopping = '', probes = '', ...others] = rest;
const headers = { authorization: 'Bearer sk-change-me-please', origin: 'https://app.example' };
const chat = JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] });

async function shown<T>(name: string, code: string): Promise<T> {
  return import(/* @vite-ignore */ writeExample(`hosts-${name}`, code));
}

async function ask(server: Server, body: string, more: Record<string, string> = {}) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const answer = await receive(`http://127.0.0.1:${port}/v1/chat/completions`, {
    headers: { ...headers, ...more },
    body,
  });
  server.close();
  return answer;
}

it('docs/hosts.md shows no example that is not run here', () => {
  expect(others).toEqual([]);
});
it('docs/hosts.md shows how a server of your own answers a probe', async () => {
  const { app } = await shown<{ app: Express }>('probes', probes);
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/readyz`);
  expect([response.status, await response.json()]).toEqual([200, { isReady: true, reasons: [] }]);
  server.close().closeAllConnections();
});
it('docs/hosts.md shows how a session identifies the caller', async () => {
  const { app } = await shown<{ app: Express }>('session', session);
  const asked = async (cookie: string) =>
    (await ask(createServer(app), chat, { authorization: '', cookie, 'sec-fetch-site': 'same-origin' })).status;
  expect([await asked('session=1'), await asked('session=2')]).toEqual([200, 401]);
});
it('docs/hosts.md shows how the errors of express.json() become those of the gateway', async () => {
  const { app } = await shown<{ app: Express }>('parsing', parsing);
  expect((await ask(createServer(app), chat)).status).toBe(200);
  const { status, text } = await ask(createServer(app), '{');
  expect([status, JSON.parse(text).error.message]).toEqual([400, 'The body is not valid JSON']);
});
it('docs/hosts.md shows how the errors of a parser of Koa become those of the gateway', async () => {
  const { app } = await shown<{ app: Koa }>('koa', koa);
  app.silent = true;
  expect((await ask(createServer(app.callback()), chat, { 'content-type': 'application/json' })).status).toBe(200);
  const { status, text } = await ask(createServer(app.callback()), '{"a":', { 'content-type': 'application/json' });
  expect([status, JSON.parse(text).error.message]).toEqual([400, 'The body is not valid JSON']);
});
it('docs/hosts.md shows how the exceptions of the parser of Nest become errors of the gateway', async () => {
  const { app } = await shown<{ app: INestApplication }>('nest-filter', filter);
  await app.init();
  const { status, text } = await ask(app.getHttpServer(), '{"a":', { 'content-type': 'application/json' });
  expect([status, JSON.parse(text).error.message]).toEqual([400, 'The body is not valid JSON']);
  await app.close();
});
it('docs/hosts.md shows how a server listens for 100-continue', async () => {
  const { server } = await shown<{ server: Server }>('continuing', continuing);
  const expecting = { expect: '100-continue' };
  expect((await ask(server, chat, expecting)).status).toBe(200);
  const refused = await ask(server, chat, { ...expecting, authorization: 'Bearer wrong' });
  expect([refused.status, refused.headers.connection]).toEqual([401, 'close']);
});
it('docs/hosts.md shows how a server with its own WebSockets responds to a handshake for the gateway', async () => {
  const { server } = await shown<{ server: Server }>('upgrading', upgrading);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const handshake = { connection: 'Upgrade', upgrade: 'websocket' };
  const answer = await receive(`http://127.0.0.1:${port}/v1/responses`, { method: 'GET', headers: handshake });
  expect(answer).toMatchObject({ status: 426, whole: true, headers: { upgrade: 'HTTP/1.1' } });
  server.close();
});
it('docs/hosts.md shows how pages of other sites may ask', async () => {
  const { gateway } = await shown<{ gateway: Gateway }>('pages', pages);
  const response = await gateway.fetch('http://in-process/v1/models', { headers });
  expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, 'https://app.example']);
});
it('docs/hosts.md shows the gateway as a plugin of Fastify', async () => {
  const { app } = await shown<{ app: FastifyInstance }>('fastify', plugin);
  const { authorization } = headers;
  const sent = { method: 'POST' as const, url: '/v1/chat/completions', body: chat };
  const answer = await app.inject({ ...sent, headers: { authorization, 'content-type': 'application/json' } });
  expect(answer.statusCode).toBe(200);
  await app.close();
});
it('docs/hosts.md shows the gateway as middleware of Nest', async () => {
  const { app } = await shown<{ app: INestApplication }>('nest', nest);
  await app.init();
  expect((await ask(app.getHttpServer(), chat)).status).toBe(200);
  await app.close();
});

it('docs/hosts.md shows how a server stops after the open stream has come to its end', async () => {
  const code = stopping.replace("listen(3000, '127.0.0.1')", "listen(0, '127.0.0.1')");
  const { server, gateway, stop } = await shown<{ server: Server; gateway: Gateway; stop: () => Promise<void> }>(
    'stopping',
    code,
  );
  process.off('SIGTERM', stop);
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/chat/completions`;
  const body = JSON.stringify({
    model: 'sandbox/lorem',
    stream: true,
    sandbox: { tokens: 20 },
    messages: [{ role: 'user', content: 'Hi' }],
  });
  const response = await send(url, { headers, body }).response;
  const stopped = stop();
  const { text, whole } = await readAll(response);
  expect([whole, text.includes('[DONE]'), text.includes('"error"')]).toEqual([true, true, false]);
  await stopped;
  await expect(receive(url, { headers, body })).rejects.toThrow();
  await gateway.close();
});
it('docs/hosts.md says what becomes of a stream that is open when the gateway closes', async () => {
  const { gateway } = await shown<{ gateway: Gateway }>('sudden', pages);
  const body = JSON.stringify({
    model: 'sandbox/stall',
    stream: true,
    messages: [{ role: 'user', content: 'Hi' }],
  });
  const response = await gateway.fetch('http://in-process/v1/chat/completions', {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let text = decoder.decode((await reader.read()).value, { stream: true });
  await gateway.close();
  for (let part = await reader.read(); !part.done; part = await reader.read())
    text += decoder.decode(part.value, { stream: true });
  expect(text).toMatch(/"error"[\s\S]*\[DONE\]/);
});
