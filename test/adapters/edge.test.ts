import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createGateway, type Gateway } from '../../src/index.ts';
import { keepAlive, readAll, receive, send } from '../contract/adapters/client.ts';
import type { Host } from '../contract/adapters/suite.ts';
import { checkError } from '../support/answer.ts';
import { edgeHosts, otherHosts } from './edge-hosts.ts';

const key = 'sk-test-inference';
const bearer = { authorization: `Bearer ${key}` };
const chat = JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] });
const app = 'https://app.example';

function open(options: Partial<Parameters<typeof createGateway>[0]> = {}): Gateway {
  return createGateway({
    providers: { sandbox: {} },
    apiKeys: [{ key }],
    limits: { bodyBytes: 200_000 },
    cors: { origins: [app] },
    ...options,
  });
}

const errorOf = (status: number, text: string) => {
  const json = JSON.parse(text);
  checkError(status, json);
  return json.error.message as string;
};

/** Starts a gateway in a host for each test. @returns where to ask it for a completion */
function hosted(start: (gateway: Gateway) => Promise<Host>): () => string {
  let host: Host;
  let gateway: Gateway;
  beforeEach(async () => {
    gateway = open();
    host = await start(gateway);
  });
  afterEach(async () => {
    await host.close();
    await gateway.close();
  });
  return () => `${host.baseUrl}/chat/completions`;
}

describe.each(Object.entries({ ...edgeHosts, ...otherHosts }))('%s', (name, start) => {
  const url = hosted(start);

  it('answers a preflight without a key, and lets the page read JSON, streams and errors', async () => {
    const preflight = await receive(url(), {
      method: 'OPTIONS',
      headers: {
        origin: app,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,x-stainless-os',
      },
    });
    expect(preflight).toMatchObject({
      status: 204,
      text: '',
      headers: { 'access-control-allow-origin': app, 'access-control-allow-methods': 'POST, OPTIONS' },
    });
    expect(preflight.headers['access-control-allow-headers']?.split(', ')).toEqual(
      expect.arrayContaining(['authorization', 'x-stainless-os']),
    );
    const streamed = JSON.stringify({ ...JSON.parse(chat), stream: true });
    for (const [headers, body, status] of [
      [bearer, chat, 200],
      [bearer, streamed, 200],
      [{}, chat, 401],
    ] as const) {
      const answer = await receive(url(), { headers: { ...headers, origin: app }, body });
      expect(answer).toMatchObject({ status, whole: true, headers: { 'access-control-allow-origin': app } });
      expect(answer.headers.vary).toBe('Origin');
      expect(answer.headers['cache-control']).toContain('no-store');
      const foreign = await receive(url(), { headers: { ...headers, origin: 'https://evil.example' }, body });
      expect([foreign.status, foreign.headers['access-control-allow-origin']]).toEqual([status, undefined]);
    }
  });

  it('takes a body as curl -d declares it', async () => {
    const headers = { ...bearer, 'content-type': 'application/x-www-form-urlencoded' };
    // A body parser for forms would take it for one.
    const { status, text } = await receive(url(), { headers, body: chat });
    if (name === 'Koa after a body parser') expect([status, errorOf(415, text)]).toEqual([415, expect.any(String)]);
    else expect(status).toBe(200);
  });

  it('keeps the connection when it has refused a small body', async () => {
    const agent = keepAlive();
    const ports = new Set<number | undefined>();
    const refused: [Record<string, string>, number][] = [
      [{}, 401],
      [{ ...bearer, 'content-type': 'text/plain' }, 415],
      [bearer, 200],
    ];
    for (const [headers, status] of refused) {
      const response = await send(url(), { headers, body: chat, agent }).response;
      ports.add(response.socket.localPort);
      expect(await readAll(response)).toMatchObject({ status, whole: true });
    }
    expect(ports.size).toBe(1);
    agent.destroy();
  });
});

describe.each(Object.entries(edgeHosts))('%s', (_, start) => {
  const url = hosted(start);

  it('refuses what is not UTF-8, with and without a declared length', async () => {
    const body = Buffer.from(chat.replace('Hi', 'é'), 'latin1');
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }] as Record<string, string>[]) {
      const { status, text } = await receive(url(), { headers: { ...bearer, ...headers }, body });
      expect([status, errorOf(400, text)]).toEqual([400, 'The body is not valid UTF-8']);
    }
    expect((await receive(url(), { headers: bearer, body: `\ufeff${chat}` })).status).toBe(200);
  });

  it.each<[string, number, Record<string, string>]>([
    ['without a key', 401, { 'content-type': 'application/json' }],
    ['of another type', 415, { ...bearer, 'content-type': 'text/plain' }],
    ['of an unknown coding', 415, { ...bearer, 'content-type': 'application/json', 'content-encoding': 'compress' }],
    ['too large, and compressed', 413, { ...bearer, 'content-type': 'application/json', 'content-encoding': 'gzip' }],
    ['too large', 413, { ...bearer, 'content-type': 'application/json' }],
  ])(
    'answers a body %s at once, while the client goes on writing, and keeps the connection',
    async (_, status, headers) => {
      const agent = keepAlive();
      for (const length of [{ 'content-length': '1000000' }, { 'transfer-encoding': 'chunked' }] as Record<
        string,
        string
      >[]) {
        const { sent, response } = send(url(), { headers: { ...headers, ...length }, bodyFollows: true, agent });
        const piece = Buffer.alloc(100_000, 32);
        for (let n = 0; n < 3; n++) sent.write(piece);
        const received = await response;
        const { localPort } = received.socket;
        const answer = readAll(received);
        for (let n = 3; n < 10; n++) sent.write(piece);
        sent.end();
        expect((await answer).whole).toBe(true);
        errorOf(status, (await answer).text);
        const next = await send(url(), { headers: bearer, body: chat, agent }).response;
        expect([next.socket.localPort, (await readAll(next)).status]).toEqual([localPort, 200]);
      }
      agent.destroy();
    },
  );

  it('closes the connection of a client that never ends a refused body', async () => {
    const socket = await post(url(), 'Transfer-Encoding: chunked\r\n');
    const piece = `100000\r\n${' '.repeat(0x100000)}\r\n`;
    let received = '';
    let goOn = () => {};
    socket.on('data', (data) => {
      received += data;
    });
    socket.on('error', () => undefined);
    socket.on('drain', () => goOn()).on('close', () => goOn());
    let sentBytes = 0;
    while (!socket.closed && sentBytes < 1e9) {
      sentBytes += piece.length;
      if (socket.write(piece) || socket.closed) continue;
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
    }
    expect(received).toMatch(/^HTTP\/1\.1 401 /);
    expect(socket.closed).toBe(true);
    expect(sentBytes).toBeLessThan(200e6);
  });

  it('asks for the body after it knows who sends it, and only then', async () => {
    const length = `Content-Length: ${chat.length}\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n`;
    const allowed = await post(url(), `${length}Authorization: Bearer ${key}\r\n`);
    expect(await nextHead(allowed)).toMatch(/^HTTP\/1\.1 100 /);
    allowed.write(chat);
    expect(await nextHead(allowed)).toMatch(/^HTTP\/1\.1 200 /);
    allowed.destroy();
    const large = length.replace(/\d+/, '1000000');
    for (const [headers, status] of [
      [length, 401],
      [`${length}Authorization: Bearer ${key}\r\nContent-Encoding: compress\r\n`, 415],
      [`${large}Authorization: Bearer ${key}\r\n`, 413],
    ] as const) {
      const refused = await post(url(), headers);
      const head = await nextHead(refused);
      expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      // Whatever it sent next could be taken for the body that it was not asked for.
      expect(head).toMatch(/^connection: close\r$/im);
      if (!refused.closed) await once(refused, 'close');
    }
  });

  it('keeps nothing of a body that goes on after its time is up', async () => {
    const headers = `Content-Length: 100000\r\nContent-Type: application/json\r\nAuthorization: Bearer ${key}\r\n`;
    const socket = await post(url(), `${headers}X-Service-Timeout-Ms: 50\r\n`);
    socket.write(' '.repeat(50_000));
    expect(await nextHead(socket)).toMatch(/^HTTP\/1\.1 408 /);
    socket.write(' '.repeat(50_000));
    socket.write(`GET /v1/nothing HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(await nextHead(socket)).toMatch(/^HTTP\/1\.1 404 /);
    socket.destroy();
  });
});

describe('a body that the parser of the host refused', () => {
  const hosts = Object.entries(otherHosts).filter(([name]) => name.startsWith('Express'));
  it.each(hosts)('has the error of the gateway: %s', async (_, start) => {
    const gateway = open();
    const host = await start(gateway);
    const post = (headers: Record<string, string>, body: string | Uint8Array) =>
      receive(`${host.baseUrl}/chat/completions`, { headers: { origin: app, ...headers }, body });
    const malformed = await post(bearer, '{"model":');
    expect([malformed.status, errorOf(400, malformed.text)]).toEqual([400, 'The body is not valid JSON']);
    expect(malformed.headers['access-control-allow-origin']).toBe(app);
    const large = await post(bearer, JSON.stringify({ text: ' '.repeat(150_000) }));
    expect([large.status, errorOf(413, large.text)]).toEqual([413, 'The body is larger than this server takes']);
    for (const odd of [
      { 'content-encoding': 'x-odd' },
      { 'content-type': 'application/json; charset=x-odd' },
    ] as Record<string, string>[]) {
      const { status, text } = await post({ ...bearer, ...odd }, chat);
      expect([status, errorOf(415, text)]).toEqual([415, expect.stringMatching(/does not take|not taken here/)]);
    }
    // Who it is comes first, as always.
    expect((await post({}, '{"model":')).status).toBe(401);
    await host.close();
    await gateway.close();
  });
});

/** Sends the head of a POST, and leaves the body to the test. */
async function post(address: string, headers: string): Promise<Socket> {
  const { hostname, port, pathname, host } = new URL(address);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.write(`POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\n${headers}\r\n`);
  return socket;
}

/** The next piece that arrives. */
async function nextHead(socket: Socket): Promise<string> {
  return String((await once(socket, 'data'))[0]);
}
