import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGateway, type Gateway } from '../../src/index.ts';
import { keepAlive, readAll, receive } from '../contract/adapters/client.ts';
import type { Host } from '../contract/adapters/suite.ts';
import { checkError } from '../support/answer.ts';
import { otherHosts } from './edge-hosts.ts';
import { readingHosts } from './reading-hosts.ts';

const key = 'sk-test-inference';
const handshake = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

describe.each(Object.entries({ ...readingHosts, ...otherHosts }))('A WebSocket handshake: %s', (_, start) => {
  let host: Host;
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = createGateway({ providers: { sandbox: {} }, apiKeys: [{ key }] });
    host = await start(gateway);
  });
  afterAll(async () => {
    await host.close();
    await gateway.close();
  });
  const path = () => `${host.baseUrl}/chat/completions`;

  it('is told to use HTTP, with and without a key, and may do so on the same connection', async () => {
    const agent = keepAlive();
    const ports = new Set<number | undefined>();
    for (const headers of [handshake, { ...handshake, authorization: `Bearer ${key}` }]) {
      const asked = request(path(), { headers, agent }).end();
      const [response] = (await once(asked, 'response')) as [IncomingMessage];
      ports.add(response.socket.localPort);
      const { status, text, whole } = await readAll(response);
      expect([status, whole, response.headers.upgrade]).toEqual([426, true, 'HTTP/1.1']);
      expect(response.headers.connection?.toLowerCase()).toContain('upgrade');
      checkError(426, JSON.parse(text));
    }
    const body = JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] });
    const next = await receive(path(), { headers: { authorization: `Bearer ${key}` }, body, agent });
    expect([next.status, ports.size]).toEqual([200, 1]);
    agent.destroy();
  });

  it('of a client that sends frames without waiting does no harm', async () => {
    const { hostname, port, pathname } = new URL(path());
    const socket = connect(Number(port), hostname);
    const lines = Object.entries(handshake).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`GET ${pathname} HTTP/1.1\r\nHost: x\r\n${lines.join('')}\r\n`);
    socket.write(Uint8Array.of(0x81, 0x82, 1, 2, 3, 4, 0x49, 0x6b));
    const [received] = await once(socket, 'data');
    expect(String(received)).toMatch(/^HTTP\/1\.1 426 /);
    socket.on('error', () => undefined).destroy();
    expect((await receive(path(), { method: 'GET' })).status).toBe(405);
  });

  it('is not what a plain GET is', async () => {
    const plain = await receive(path(), { method: 'GET', headers: { authorization: `Bearer ${key}` } });
    expect([plain.status, plain.headers.allow]).toEqual([405, 'POST, OPTIONS']);
    const offered = await receive(path(), { method: 'GET', headers: { connection: 'Upgrade', upgrade: 'h2c' } });
    expect(offered.status).toBe(405);
  });
});
