import {
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  deflateRawSync,
  deflateSync,
  gzipSync,
} from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { isLongRun } from '../../support/runs.ts';
import { answer, chunk, chunkedHead, lastChunk, writePieces } from './raw-server.ts';
import { type Bench, type Oddities, readAll, rejection } from './suite.ts';

const text = 'Grüße, 世界 👋🏽, '.repeat(40);

export function answerPromises(bench: Bench, oddities: Oddities): void {
  describe('answers', () => {
    it('gives status, lower-case headers and the body', async () => {
      const { url } = await bench.serve(({ socket }, { head, body }) => {
        socket.write(answer(JSON.stringify({ head, body }), { 'X-Custom-Header': 'a b' }, '201 Created'));
      });
      const response = await bench.send(`${url}?a=1&b=%20`);
      const seen = JSON.parse((await readAll(response.body)).toString()) as { head: string; body: string };
      expect(response.status).toBe(201);
      expect(response.headers).toMatchObject({ 'content-type': 'application/json', 'x-custom-header': 'a b' });
      expect(seen.body).toBe('{"model":"acme/fast"}');
      expect(seen.head).toMatch(/^POST \/v1\/chat\/completions\?a=1&b=%20 HTTP\/1\.1\r\n/);
      expect(seen.head).toMatch(/^accept-encoding: identity$/im);
      expect(seen.head).toMatch(/^authorization: Bearer sk-test-0123456789$/im);
    });

    it('sends bytes as they are, and a GET without a body', async () => {
      const { url } = await bench.serve(({ socket }, { head, body }) => {
        socket.write(answer(`${head.slice(0, 4)}|${body}`));
      });
      const posted = await bench.send(url, { body: new TextEncoder().encode('…bytes') });
      expect((await readAll(posted.body)).toString()).toBe('POST|…bytes');
      const got = await bench.send(url, { method: 'GET', body: undefined });
      expect((await readAll(got.body)).toString()).toBe('GET |');
    });

    it.each(['content-length: 0\r\n', 'transfer-encoding: chunked\r\n'])(
      'ends an empty body at once: %j',
      async (line) => {
        const { url } = await bench.serve(({ socket }) => {
          socket.write(`HTTP/1.1 200 OK\r\n${line}\r\n${line.startsWith('t') ? lastChunk : ''}`);
        });
        const { body } = await bench.send(url);
        expect(await body.read()).toBeNull();
        expect(await body.read()).toBeNull();
      },
    );

    it('reads an answer that comes a byte at a time', async () => {
      const whole = Buffer.concat([
        Buffer.from(chunkedHead()),
        chunk('data: é\n\n'),
        chunk('data: [DONE]'),
        Buffer.from(lastChunk),
      ]);
      const { url } = await bench.serve(
        ({ socket }) =>
          void writePieces(
            socket,
            [...whole].map((byte) => Buffer.of(byte)),
          ),
      );
      const { body } = await bench.send(url);
      expect((await readAll(body)).toString()).toBe('data: é\n\ndata: [DONE]');
    });

    it('hands over each piece as it comes, not at the end', async () => {
      const server = await bench.serve(({ socket }) => void socket.write(chunkedHead()));
      const { body } = await bench.send(server.url);
      const { socket } = server.connections[0]!;
      for (const piece of ['data: 1\n\n', 'data: 2\n\n', 'data: 3\n\n']) {
        socket.write(chunk(piece));
        expect(Buffer.from((await body.read())!).toString()).toBe(piece);
      }
      socket.write(lastChunk);
      expect(await body.read()).toBeNull();
    });

    it('keeps characters whole that packets cut', async () => {
      const bytes = Buffer.from(text);
      const pieces = Array.from({ length: bytes.length }, (_, at) => chunk(bytes.subarray(at, at + 1)));
      const { url } = await bench.serve(({ socket }) => {
        socket.write(chunkedHead());
        void writePieces(socket, [...pieces, lastChunk]);
      });
      expect((await readAll((await bench.send(url)).body)).toString()).toBe(text);
    });

    it.each([1, 8])('reads a body of %i MB', async (megabytes) => {
      const body = Buffer.alloc(megabytes * 1024 * 1024, '0123456789abcdef');
      const { url } = await bench.serve(({ socket }) => socket.write(answer(body)));
      expect((await readAll((await bench.send(url)).body)).equals(body)).toBe(true);
    });

    it('reads a body that ends with the connection', async () => {
      const { url } = await bench.serve(({ socket }) => socket.end(`HTTP/1.0 200 OK\r\n\r\n${text}`));
      expect((await readAll((await bench.send(url)).body)).toString()).toBe(text);
    });

    it.each([301, 302, 303, 307, 308])('does not follow a redirect with %i', async (status) => {
      const { url, connections } = await bench.serve(({ socket }) => {
        socket.write(answer('{}', { location: '/elsewhere' }, `${status} Moved`));
      });
      const response = await bench.send(url);
      expect([response.status, response.headers.location]).toEqual([status, '/elsewhere']);
      await readAll(response.body);
      expect(connections.map(({ requests }) => requests)).toEqual([1]);
    });

    it.each([204, 304])('gives %i without a body', async (status) => {
      const { url } = await bench.serve(({ socket }) => socket.write(`HTTP/1.1 ${status} None\r\n\r\n`));
      const response = await bench.send(url);
      expect([response.status, await response.body.read()]).toEqual([status, null]);
    });

    it('joins repeated headers, and survives names that objects have', async () => {
      const { url } = await bench.serve(({ socket }) => {
        socket.write(
          'HTTP/1.1 200 OK\r\nX-Thing: a\r\nset-cookie: a=1\r\nx-thing: b\r\nset-cookie: b=2\r\n' +
            '__proto__: x\r\nconstructor: y\r\ncontent-length: 0\r\n\r\n',
        );
      });
      const { headers } = await bench.send(url);
      expect(headers['x-thing']).toBe('a, b');
      expect(headers['set-cookie']).toBe('a=1, b=2');
      expect(headers.constructor).toBe('y');
      expect(Object.getPrototypeOf(headers)).toBe(Object.prototype);
    });

    it.each(['102 Processing', '103 Early Hints'])('reads over %s', async (status) => {
      const { url } = await bench.serve(({ socket }) => {
        void writePieces(socket, [
          `HTTP/1.1 ${status}\r\nlink: </a>\r\n\r\n`,
          `HTTP/1.1 ${status}\r\n\r\n`,
          answer('{"ok":1}'),
        ]);
      });
      const response = await bench.send(url);
      expect([response.status, response.headers.link]).toEqual([200, undefined]);
      expect((await readAll(response.body)).toString()).toBe('{"ok":1}');
    });

    it.runIf(oddities.skips100)('reads over 100 Continue, also twice, cut anywhere, and after 103', async () => {
      const head = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\na: b\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n';
      const whole = Buffer.concat([Buffer.from(head), answer('HTTP/1.1 100 is a body\r\n\r\n')]);
      const ways = [[whole], [...whole].map((byte) => Buffer.of(byte)), [whole.subarray(0, 9), whole.subarray(9)]];
      for (const pieces of ways) {
        const { url } = await bench.serve(({ socket }) => void writePieces(socket, pieces));
        for (let times = 0; times < 2; times++) {
          const { status, body } = await bench.send(url);
          expect([status, (await readAll(body)).toString()]).toEqual([200, 'HTTP/1.1 100 is a body\r\n\r\n']);
        }
      }
    });
  });

  describe('compressed answers', () => {
    const codings = {
      gzip: gzipSync,
      'X-GZIP': gzipSync,
      deflate: deflateSync,
      'deflate ': deflateRawSync,
      br: brotliCompressSync,
      'gzip, br': (data: string) => brotliCompressSync(gzipSync(data)),
    };
    it.each(Object.entries(codings))(
      'decompresses %s, and no longer says that it is compressed',
      async (coding, compress) => {
        const { url } = await bench.serve(({ socket }) =>
          socket.write(answer(compress(text), { 'content-encoding': coding })),
        );
        const response = await bench.send(url);
        expect((await readAll(response.body)).toString()).toBe(text);
        expect(response.headers).not.toHaveProperty('content-encoding');
        expect(response.headers).not.toHaveProperty('content-length');
      },
    );

    it('takes compressed nothing for nothing, and identity as it is', async () => {
      const { url } = await bench.serve(({ socket }, { body }) => {
        socket.write(
          answer(body === 'plain' ? body : '', { 'content-encoding': body === 'plain' ? 'identity' : 'gzip' }),
        );
      });
      expect((await readAll((await bench.send(url)).body)).toString()).toBe('');
      expect((await readAll((await bench.send(url, { body: 'plain' })).body)).toString()).toBe('plain');
    });

    const streams = {
      gzip: () => createGzip({ flush: constants.Z_SYNC_FLUSH }),
      br: () => createBrotliCompress({ flush: constants.BROTLI_OPERATION_FLUSH }),
    };
    it.each(Object.entries(streams))(
      'hands over each piece of a %s stream when the server flushes it',
      async (coding, create) => {
        const server = await bench.serve(({ socket }) => socket.write(chunkedHead({ 'content-encoding': coding })));
        const { body } = await bench.send(server.url);
        const { socket } = server.connections[0]!;
        const compressor = create();
        compressor.on('data', (data: Buffer) => socket.write(chunk(data)));
        compressor.on('end', () => socket.write(lastChunk));
        for (let at = 0; at < 20; at++) {
          compressor.write(`data: ${at} é\n\n`);
          let event = '';
          while (!event.endsWith('\n\n')) event += Buffer.from((await body.read())!).toString('latin1');
          expect(Buffer.from(event, 'latin1').toString()).toBe(`data: ${at} é\n\n`);
        }
        compressor.end();
        expect(await body.read()).toBeNull();
      },
    );

    // The memory of a process that runs beside others grows for other reasons.
    it.runIf(isLongRun)(
      'holds a bomb of 1 GB in bounded memory while it is read, and drops it when asked to',
      async () => {
        // Gzip data may follow gzip data: 16 times 64 MB of zeros.
        const part = gzipSync(Buffer.alloc(64 * 1024 * 1024), { level: 9 });
        const bomb = Buffer.concat(Array.from({ length: 16 }, () => part));
        const server = await bench.serve(
          ({ socket }) => void socket.write(answer(bomb, { 'content-encoding': 'gzip' })),
        );
        const { body } = await bench.send(server.url);
        const before = process.memoryUsage.rss();
        let bytes = 0;
        let largest = 0;
        while (bytes < 256 * 1024 * 1024) {
          const piece = (await body.read())!;
          bytes += piece.length;
          largest = Math.max(largest, piece.length);
        }
        expect(process.memoryUsage.rss() - before).toBeLessThan(150 * 1024 * 1024);
        expect(largest).toBeLessThanOrEqual(1024 * 1024);
        body.cancel();
        expect(await body.read()).toBeNull();
        await server.connections[0]!.closed;
      },
      30_000,
    );

    const cut: [string, Buffer, string][] = [['cut', gzipSync(text).subarray(0, 40), 'gzip']];
    it.each([
      ...(oddities.noticesCutCompression ? cut : []),
      ['broken', Buffer.from('this is no gzip at all, whatever it says'), 'gzip'],
      ['broken brotli', Buffer.from('this is no brotli at all, whatever it says'), 'br'],
    ])('reports data that is %s instead of ending', async (_, data, coding) => {
      const { url } = await bench.serve(({ socket }) => socket.write(answer(data, { 'content-encoding': coding })));
      const { body } = await bench.send(url);
      expect(await rejection(readAll(body))).toMatchObject({ name: 'UpstreamError', status: 502, fault: 'transient' });
    });
  });
}
