import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  answer,
  type Connection,
  chunk,
  chunkedHead,
  lastChunk,
  rawServer,
  writePieces,
} from '../contract/transport/raw-server.ts';
import { done, resultOf, stop, text, usageEvent, usual } from '../support/hostile.ts';
import {
  type Attack,
  attack,
  expectFreed,
  expectQuiet,
  memoryNow,
  networks,
  timersNow,
  until,
} from '../support/hostile-upstream.ts';
import { readSaidStream } from '../support/recordings.ts';

// Bound by the machine, which may have other things to do.
vi.setConfig({ testTimeout: 30_000 });

const result = JSON.stringify(resultOf());
const stream = text('Hel') + text('lo') + stop + usageEvent(usual) + done;

/** What is sent for a request that asked for JSON or for a stream; the connection is then left open. */
type Scripted = (connection: Connection, wantsStream: boolean) => void;

const plain = (wantsStream: boolean) =>
  wantsStream ? Buffer.from(`${chunkedHead()}${chunk(stream)}${lastChunk}`) : answer(result);
const write =
  (bytes: string | Uint8Array): Scripted =>
  ({ socket }) =>
    void socket.write(bytes);
const writeAndEnd =
  (bytes: string | Uint8Array): Scripted =>
  ({ socket }) =>
    void socket.end(bytes);

const flood = ({ socket }: Connection, head: string, piece: string) => {
  socket.write(head);
  const more = () => {
    while (!socket.destroyed && socket.write(piece));
    if (!socket.destroyed) socket.once('drain', more);
  };
  more();
};

/** Answers that are none. */
const failing: [name: string, script: Scripted][] = [
  [
    'headers without end',
    (connection) => flood(connection, 'HTTP/1.1 200 OK\r\n', 'x-more: '.padEnd(1000, 'x').concat('\r\n')),
  ],
  ['one header without end', (connection) => flood(connection, 'HTTP/1.1 200 OK\r\nx-more: ', 'x'.repeat(1000))],
  [
    'ten thousand headers',
    write(`HTTP/1.1 200 OK\r\n${Array.from({ length: 10_000 }, (_, at) => `x-${at}: y\r\n`).join('')}\r\n`),
  ],
  ['no HTTP', write('SSH-2.0-OpenSSH_9.6\r\n')],
  ['bytes at random', write(Uint8Array.from({ length: 500 }, (_, at) => (at * 131 + 7) % 256))],
  ['nothing, and closes', ({ socket }) => void socket.end()],
  ['nothing, and resets', ({ socket }) => void socket.resetAndDestroy()],
  ['half a status line', writeAndEnd('HTTP/1.1 20')],
  ['half its headers', writeAndEnd('HTTP/1.1 200 OK\r\ncontent-type: appl')],
  ['headers alone', writeAndEnd('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n')],
  [
    'a switch of protocols',
    write('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n'),
  ],
  ['a chunk size that is none', write(`${chunkedHead()}zz\r\nxx\r\n`)],
  ['a chunk size beyond numbers', write(`${chunkedHead()}fffffffffffffffff\r\nxx\r\n`)],
  ['a negative chunk size', write(`${chunkedHead()}-5\r\nxx\r\n`)],
  ['a chunk that is longer than it says', write(`${chunkedHead()}2\r\nxxxxxxxx\r\n`)],
  ['a negative length', write('HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n{}')],
  ['two lengths', write(`HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 500\r\n\r\n${result}`)],
  [
    'a length that is too short',
    (connection, wantsStream) =>
      void connection.socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n${wantsStream ? stream : result}`),
  ],
  [
    'a length that is too long',
    (connection, wantsStream) =>
      void connection.socket.end(`HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n${wantsStream ? text('') : result}`),
  ],
  ['a coding nobody asked for', write(`HTTP/1.1 200 OK\r\ncontent-encoding: zstd-9\r\ncontent-length: 3\r\n\r\nxyz`)],
  ['gzip that is none', write(answer(result, { 'content-encoding': 'gzip' }))],
  [
    'gzip that is cut',
    (connection, wantsStream) =>
      void connection.socket.write(
        answer(gzipSync(wantsStream ? stream : result).subarray(0, 25), { 'content-encoding': 'gzip' }),
      ),
  ],
  ['204', write('HTTP/1.1 204 No Content\r\n\r\n')],
  ['304', write('HTTP/1.1 304 Not Modified\r\n\r\n')],
];

/** Answers that are odd, but say what was asked. */
const odd: [name: string, script: Scripted][] = [
  [
    '100 Continue first',
    ({ socket }, wantsStream) =>
      void socket.write(Buffer.concat([Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'), plain(wantsStream)])),
  ],
  [
    '103 Early Hints first, in pieces',
    ({ socket }, wantsStream) =>
      void writePieces(socket, ['HTTP/1.1 103 Early', ' Hints\r\nlink: </a>\r\n\r', '\n', plain(wantsStream)]),
  ],
  [
    'HTTP/1.0 without a length',
    ({ socket }, wantsStream) => void socket.end(`HTTP/1.0 200 OK\r\n\r\n${wantsStream ? stream : result}`),
  ],
  [
    'HTTP/1.1 without a length',
    ({ socket }, wantsStream) =>
      void socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${wantsStream ? stream : result}`),
  ],
  [
    'no content type',
    ({ socket }, wantsStream) => void socket.end(`HTTP/1.1 200 OK\r\n\r\n${wantsStream ? stream : result}`),
  ],
  [
    'the other content type',
    ({ socket }, wantsStream) =>
      void socket.write(
        answer(wantsStream ? stream : result, {
          'content-type': wantsStream ? 'application/json' : 'text/event-stream',
        }),
      ),
  ],
  [
    'a content type of HTML',
    ({ socket }, wantsStream) =>
      void socket.write(answer(wantsStream ? stream : result, { 'content-type': 'text/html; charset=iso-8859-1' })),
  ],
  [
    'two content types',
    ({ socket }, wantsStream) =>
      void socket.end(
        `HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-type: application/json\r\n\r\n${wantsStream ? stream : result}`,
      ),
  ],
  ['JSON where a stream was asked', write(answer(result))],
  ['a stream where JSON was asked', write(`${chunkedHead()}${chunk(stream)}${lastChunk}`)],
  [
    'gzip',
    ({ socket }, wantsStream) =>
      void socket.write(answer(gzipSync(wantsStream ? stream : result), { 'content-encoding': 'gzip' })),
  ],
  [
    'deflate',
    ({ socket }, wantsStream) =>
      void socket.write(answer(deflateSync(wantsStream ? stream : result), { 'content-encoding': 'deflate' })),
  ],
  [
    'br',
    ({ socket }, wantsStream) =>
      void socket.write(answer(brotliCompressSync(wantsStream ? stream : result), { 'content-encoding': 'br' })),
  ],
  [
    'one byte per packet',
    ({ socket }, wantsStream) =>
      void writePieces(
        socket,
        [...plain(wantsStream)].map((byte) => Uint8Array.of(byte)),
      ),
  ],
  [
    'a thousand informational bytes in pieces',
    ({ socket }, wantsStream) =>
      void writePieces(socket, [
        ...Array.from({ length: 20 }, () => 'HTTP/1.1 102 Processing\r\nx: y\r\n\r\n'),
        plain(wantsStream),
      ]),
  ],
];

/**
 * undici uses a connection again only after a turn of the event loop, so requests without a pause take turns on two.
 */
const idlePerTest = 2;

/** The global fetch drops a connection on a 100 Continue that it did not ask for. */
const oddOver = (network: string) =>
  network === 'fetch' ? odd.filter(([name]) => name !== '100 Continue first') : odd;

let current: Attack | null = null;
let timers = 0;
let bytes = 0;

beforeAll(() => {
  bytes = memoryNow();
});

beforeEach(() => {
  timers = timersNow();
});

afterAll(async () => {
  // Code that was compiled and results that are reported take some.
  await expectFreed(bytes, 40e6);
});

afterEach(async () => {
  await current?.close();
  current = null;
});

async function under(script: Scripted, options = {}): Promise<Attack> {
  current = await attack((connection, { body }) => script(connection, JSON.parse(body).stream === true), options);
  return current;
}

describe.each(networks)('over %s, an upstream that sends', (network, options) => {
  it.each(failing)('%s gives a 502, and its connection is closed', async (name, script) => {
    const { post, server, records } = await under(script, options);
    for (const wantsStream of [false, true]) {
      const { status, text: body } = await post({ stream: wantsStream });
      expect([wantsStream, status], body).toEqual([wantsStream, 502]);
      expect(JSON.parse(body).error).toMatchObject({ code: 502, message: expect.stringMatching(/^.{5,300}$/) });
      expect(body).not.toContain('127.0.0.1');
    }
    expect(records.map(({ outcome, costNanoUsd }) => [outcome, costNanoUsd])).toEqual([
      ['failed', 0],
      ['failed', 0],
    ]);
    await expectQuiet(timers, server, /^[23]04$|coding|gzip/.test(name) ? idlePerTest : 0);
  });

  it.each(oddOver(network))('%s is answered as if nothing were odd', async (_, script) => {
    const { post, server, records } = await under(script, options);
    for (let turn = 0; turn < 2; turn++) {
      const whole = await post();
      expect(whole.status, whole.text).toBe(200);
      expect(JSON.parse(whole.text)).toMatchObject({
        choices: [{ message: { content: 'Hello' }, finish_reason: 'stop' }],
        usage: { total_tokens: 15 },
      });
      const streamed = await post({ stream: true });
      expect(streamed.status, streamed.text).toBe(200);
      expect(readSaidStream(streamed.text)).toMatchObject({
        choices: { 0: { content: 'Hello', finish: 'stop' } },
        usage: { total_tokens: 15 },
        usageCount: 1,
        isDone: true,
        error: null,
      });
    }
    expect(records.every(({ outcome }) => outcome === 'ok')).toBe(true);
    await expectQuiet(timers, server, idlePerTest);
  });

  it('a redirect reaches nobody else, and gives a 502', async () => {
    let contacted = 0;
    const other = await rawServer(({ socket }) => {
      contacted++;
      socket.write(answer(result));
    });
    try {
      let redirect: [status: number, location: string] = [301, ''];
      const { post, server } = await under(
        ({ socket }) => void socket.write(answer(result, { location: redirect[1] }, `${redirect[0]} Moved`)),
        { ...options, health: { failuresToCooldown: 1000 } },
      );
      let sent = 0;
      for (const status of [301, 302, 303, 307, 308]) {
        for (const location of [
          other.url,
          `//127.0.0.1:${other.port}/`,
          '/v1/chat/completions',
          'file:///etc/passwd',
          '',
        ]) {
          redirect = [status, location];
          const { status: shown, headers, text: body } = await post({ stream: ++sent % 2 === 0 });
          expect([status, location, shown]).toEqual([status, location, 502]);
          expect(headers.get('location')).toBeNull();
          expect(body).not.toContain(String(other.port));
        }
      }
      expect(server.connections.reduce((sum, { requests }) => sum + requests, 0)).toBe(sent);
      expect([contacted, other.connections.length]).toEqual([0, 0]);
    } finally {
      await other.close();
    }
  });

  it('headers of its own has none of them passed on', async () => {
    const own = {
      'set-cookie': 'session=secret',
      'x-secret': 'secret',
      server: 'hidden/1.0',
      'x-powered-by': 'hidden',
      location: 'http://127.0.0.1/secret',
      'x-request-id': 'req_secret',
      'openai-organization': 'org-secret',
      'openai-processing-ms': '5',
      'cf-ray': 'secret',
      'x-ratelimit-limit-requests': '99',
      'x-ratelimit-remaining': '9',
      'x-generation-id': 'gen-secret',
      'cache-control': 'public, max-age=999',
      etag: '"secret"',
      'access-control-allow-origin': '*',
      'strict-transport-security': 'max-age=1',
      link: '<secret>',
      'alt-svc': 'h3="secret:443"',
      'www-authenticate': 'Basic realm="secret"',
      'proxy-authenticate': 'Basic',
      'retry-after': '7',
      'content-disposition': 'attachment',
      refresh: '0; url=http://secret',
    };
    const allowed = new Set([
      'content-type',
      'cache-control',
      'x-accel-buffering',
      'x-generation-id',
      'retry-after',
      'content-length',
    ]);
    for (const [status, body] of [
      ['200 OK', result],
      ['200 OK', stream],
      ['429 Slow', '{"error":{"message":"slow"}}'],
      ['500 Bad', 'x'],
      ['401 No', '{}'],
    ] as const) {
      const { post, close } = await under(({ socket }) => void socket.write(answer(body, own, status)), {
        ...options,
        retry: { maxAttempts: 1 },
      });
      for (const wantsStream of [false, true]) {
        const { headers, text: shown } = await post({ stream: wantsStream });
        expect([...headers.keys()].filter((name) => !allowed.has(name))).toEqual([]);
        expect(`${[...headers.values()].join()}${shown}`).not.toMatch(/secret|hidden|max-age|attachment/);
      }
      await close();
    }
  });

  it('an answer and closes has the next request served all the same', async () => {
    const { post, server } = await under((connection, wantsStream) => {
      connection.socket.write(plain(wantsStream));
      connection.socket.end();
    }, options);
    for (let turn = 0; turn < 4; turn++) {
      const { status } = await post({ stream: turn % 2 === 1 });
      expect(status).toBe(200);
      await until(
        () => server.connections.every(({ socket }) => socket.destroyed),
        'the server has closed its idle connection',
      );
    }
    await expectQuiet(timers, server);
  });

  it('an answer, and dies with the next request, has that one served all the same', async () => {
    const { post, server } = await under(
      (connection, wantsStream) => {
        if (connection.requests > 1) connection.socket.destroy();
        else connection.socket.write(plain(wantsStream));
      },
      { ...options, retry: { maxAttempts: 4, attemptsPerEndpoint: 4, baseDelayMs: 0 } },
    );
    for (let turn = 0; turn < 4; turn++) expect((await post()).status).toBe(200);
    await expectQuiet(timers, server, idlePerTest);
  });
});
