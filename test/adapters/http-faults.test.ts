import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningServer, serve } from '../../adapters/hosts/node.ts';
import { createGateway, type Gateway } from '../../src/index.ts';

const key = 'sk-test-inference';
let gateway: Gateway;
let server: RunningServer;
beforeAll(async () => {
  gateway = createGateway({ providers: { sandbox: {} }, apiKeys: [{ key }] });
  server = await serve(gateway, { port: 0 });
});
afterAll(async () => {
  await server.close(0);
  await gateway.close();
});

/** Sends bytes as they are, and reads until the server closes the connection. */
async function exchange(...packets: string[]): Promise<string> {
  const socket = connect(server.port, '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('data', (more) => (text += more));
  const closed = once(socket, 'close');
  for (const packet of packets) socket.write(packet);
  await closed;
  return text;
}

/** The responses in a text: each with a length. */
function responsesIn(text: string): { status: number; headers: string; json: unknown }[] {
  const found = [];
  let rest = text;
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n');
    const headers = rest.slice(0, end);
    const length = Number(/content-length: (\d+)/i.exec(headers)?.[1]);
    const body = rest.slice(end + 4, end + 4 + length);
    found.push({ status: Number(headers.slice(9, 12)), headers, json: JSON.parse(body) });
    rest = rest.slice(end + 4 + length);
  }
  return found;
}

const body = JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] });
const head = (more = '') =>
  `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n${more}`;
const chat = `${head()}Content-Length: ${body.length}\r\n\r\n${body}`;

const cases: [name: string, packets: string[], status: number, message: RegExp][] = [
  ['headers that are too large', [`${head()}X-Big: ${'a'.repeat(40_000)}\r\n\r\n`], 431, /larger than \d+ bytes/],
  [
    'headers that never end',
    [head(), ...Array.from({ length: 400 }, (_, at) => `X-${at}: ${'a'.repeat(1_000)}\r\n`)],
    431,
    /larger than \d+ bytes/,
  ],
  ['an address that is too long', [`GET /${'a'.repeat(40_000)} HTTP/1.1\r\nHost: x\r\n\r\n`], 431, /larger than/],
  ['no HTTP at all', ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'], 400, /not valid HTTP/],
  ['a method that is none', ['FROB / HTTP/1.1\r\nHost: x\r\n\r\n'], 400, /not valid HTTP/],
  ['a header without a colon', ['GET / HTTP/1.1\r\nHost x\r\n\r\n'], 400, /not valid HTTP/],
  ['another version', ['GET / HTTP/9.9\r\nHost: x\r\n\r\n'], 400, /not valid HTTP/],
  ['no host', ['GET /v1/models HTTP/1.1\r\nAccept: */*\r\n\r\n'], 400, /Host is missing/],
  ['two lengths', [`${head()}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`], 400, /not valid HTTP/],
  [
    'a length beside chunks',
    [`${head()}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    400,
    /not valid HTTP/,
  ],
  ['a broken chunk', [`${head()}Transfer-Encoding: chunked\r\n\r\nzz\r\n`], 400, /not valid HTTP/],
  [
    'a chunk with too many extensions',
    [`${head()}Transfer-Encoding: chunked\r\n\r\n5;${'a'.repeat(20_000)}\r\n`],
    413,
    /extensions/,
  ],
  ['an expectation', [`${head()}Expect: 200-ok\r\nContent-Length: 2\r\n\r\n{}`], 417, /Expect/],
  ['a tunnel', ['CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n'], 405, /no proxy/],
];

describe('a server of its own', () => {
  it.each(cases)('answers %s in the error format, and closes', async (_, packets, status, message) => {
    const [response, ...more] = responsesIn(await exchange(...packets));
    expect(more).toEqual([]);
    expect(response?.status).toBe(status);
    expect(response?.headers.toLowerCase()).toContain('content-type: application/json');
    expect(response?.headers.toLowerCase()).toContain('connection: close');
    expect(response?.json).toMatchObject({ error: { code: status, message: expect.stringMatching(message) } });
    expect(JSON.stringify(response?.json)).not.toContain(key);
  });

  it('answers the whole request that came before a broken one first', async () => {
    const responses = responsesIn(await exchange(`${chat}FROB / HTTP/1.1\r\n\r\n`));
    expect(responses.map(({ status }) => status)).toEqual([200, 400]);
    expect(responses[0]?.json).toMatchObject({ choices: [{ message: { content: 'Hi' } }] });
  });

  it('cuts a client that goes on sending for ever', async () => {
    const socket = connect(server.port, '127.0.0.1').on('error', () => undefined);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write('FROB / HTTP/1.1\r\n\r\n');
    const packet = 'a'.repeat(64 * 1024);
    const send = (): void => {
      if (!socket.destroyed) socket.write(packet, () => setImmediate(send));
    };
    send();
    await closed;
    expect(socket.bytesWritten).toBeLessThan(64 * 1024 * 1024);
  });

  it('serves others meanwhile', async () => {
    const [, response] = await Promise.all([
      exchange('FROB / HTTP/1.1\r\n\r\n'),
      exchange(chat.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')),
    ]);
    expect(responsesIn(response)[0]?.status).toBe(200);
  });
});
