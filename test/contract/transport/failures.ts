import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { UpstreamError } from '../../../src/base/http/upstream-error.ts';
import { answer, chunk, chunkedHead, selfSigned } from './raw-server.ts';
import { type Bench, type Oddities, readAll, rejection } from './suite.ts';

const network = { name: 'UpstreamError', reason: 'network', status: 502, fault: 'transient' };
const anyUpstreamError = { name: 'UpstreamError', status: 502, fault: 'transient' };

export function failurePromises(bench: Bench, oddities: Oddities): void {
  /** Address, path, query and key of the request appear in no message. */
  const expectClean = (error: unknown) => {
    expect((error as UpstreamError).message).toMatch(/^[a-zA-Z :,.-]+$/);
    expect((error as UpstreamError).message).not.toMatch(/sk-|secret|127|completions/);
  };

  describe('failures', () => {
    it('reports a refused connection', async () => {
      const closed = createServer();
      await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
      const { port } = closed.address() as { port: number };
      await new Promise((resolve) => closed.close(resolve));
      const error = await rejection(bench.send(`http://127.0.0.1:${port}/?key=secret`));
      expect(error).toMatchObject({ ...network, message: 'connection refused', providerCode: 'ECONNREFUSED' });
      expectClean(error);
    });

    it.each(['end', 'resetAndDestroy', 'destroy'] as const)(
      'reports a connection closed before headers: %s',
      async (close) => {
        const { url, connections } = await bench.serve(({ socket }) => void socket[close]());
        const error = await rejection(bench.send(url));
        expect(error).toMatchObject(network);
        expectClean(error);
        // A connection that was never used before is no idle one: nothing is sent again.
        expect(connections.map(({ requests }) => requests)).toEqual([1]);
      },
    );

    it.each(['end', 'resetAndDestroy'] as const)(
      'reports a connection closed within the headers: %s',
      async (close) => {
        const { url } = await bench.serve(({ socket }) => {
          socket.write('HTTP/1.1 200 OK\r\ncontent-le', () => socket[close]());
        });
        expect(await rejection(bench.send(url))).toMatchObject(network);
      },
    );

    const half = 'x'.repeat(1000);
    const cutBodies = {
      'before its declared length': `HTTP/1.1 200 OK\r\ncontent-length: 2000\r\n\r\n${half}`,
      'before its declared length, with connection: close': `HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2000\r\n\r\n${half}`,
      'within a chunk': `${chunkedHead()}7d0\r\n${half}`,
      'between chunks': `${chunkedHead()}${chunk(half)}`,
      'between chunks, with connection: close': `${chunkedHead({ connection: 'close' })}${chunk(half)}`,
    };
    describe.each(['end', 'resetAndDestroy'] as const)('a body cut by %s', (close) => {
      it.each(Object.entries(cutBodies))('%s is an error, never an end', async (_, bytes) => {
        const server = await bench.serve(({ socket }) => void socket.write(bytes));
        const { status, body } = await bench.send(server.url);
        expect(status).toBe(200);
        expect(Buffer.from((await body.read())!).toString()).toBe(half);
        server.connections[0]!.socket[close]();
        const error = await rejection(body.read());
        expect(error).toMatchObject(network);
        expectClean(error);
        // And stays one.
        expect(await rejection(body.read())).toMatchObject(network);
      });
    });

    it.runIf(oddities.noticesResetWithoutLength)('tells a reset from the end of a body without length', async () => {
      const server = await bench.serve(
        ({ socket }) => void socket.write(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${half}`),
      );
      const { body } = await bench.send(server.url);
      await body.read();
      server.connections[0]!.socket.resetAndDestroy();
      expect(await rejection(body.read())).toMatchObject(network);
    });

    it('leaves no unhandled rejection when nobody reads a body that breaks', async () => {
      const { url, connections } = await bench.serve(({ socket }) => void socket.write(cutBodies['within a chunk']));
      await bench.send(url);
      connections[0]!.socket.resetAndDestroy();
      await connections[0]!.closed;
      // The next exchange makes sure that the event loop has delivered the reset.
      const other = await bench.serve(({ socket }) => socket.write(answer('{}')));
      await readAll((await bench.send(other.url)).body);
    });

    it.each([
      ['no HTTP at all', 'SSH-2.0-OpenSSH_9.7\r\n'],
      ['HTML without a head', '<html><body>502 Bad Gateway</body></html>\r\n\r\n'],
      ['a broken status', 'HTTP/1.1 two hundred OK\r\n\r\n'],
      ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 5\r\n\r\nabcde'],
      ['a length and chunks', 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
      ['a NUL in a header', 'HTTP/1.1 200 OK\r\nx: a\0b\r\ncontent-length: 0\r\n\r\n'],
      ['a switch of protocols', 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n'],
    ])('reports %s', async (_, bytes) => {
      const { url } = await bench.serve(({ socket }) => void socket.write(bytes));
      const error = await rejection(bench.send(url));
      expect(error).toMatchObject(anyUpstreamError);
      expectClean(error);
    });

    it('reports a chunk size that is none, after what came before it', async () => {
      const { url } = await bench.serve(
        ({ socket }) => void socket.write(`${chunkedHead()}${chunk('data: 1\n\n')}zz\r\n`),
      );
      const { body } = await bench.send(url);
      expect(await rejection(readAll(body))).toMatchObject(anyUpstreamError);
    });

    const floods = {
      'one header of 64 KB': `x-flood: ${'x'.repeat(64 * 1024)}\r\n`,
      'thousands of headers': Array.from({ length: 5000 }, (_, at) => `x-flood-${at}: ${at}\r\n`).join(''),
    };
    it.each(Object.entries(floods))('refuses %s', async (_, lines) => {
      const { url, connections } = await bench.serve(({ socket }) => {
        socket.write(`HTTP/1.1 200 OK\r\n${lines}content-length: 2\r\n\r\n{}`);
      });
      const error = await rejection(bench.send(url));
      expect(error).toMatchObject({ ...anyUpstreamError, reason: 'bad_response' });
      await connections[0]!.closed;
    });

    it('refuses headers without end', async () => {
      const { url, connections } = await bench.serve(({ socket }) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        const flood = () => {
          while (!socket.destroyed && socket.write(`x-flood: ${'x'.repeat(1000)}\r\n`));
        };
        socket.on('drain', flood);
        flood();
      });
      expect(await rejection(bench.send(url))).toMatchObject({ ...anyUpstreamError, reason: 'bad_response' });
      await connections[0]!.closed;
    });

    it('reports TLS to a port that speaks plain HTTP', async () => {
      const server = createServer((socket) => {
        socket.on('error', () => {});
        // A plain server takes the handshake for a bad request.
        socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as { port: number };
      const error = await rejection(bench.send(`https://127.0.0.1:${port}/?key=secret`));
      await new Promise((resolve) => server.close(resolve));
      expect(error).toMatchObject(network);
      expectClean(error);
    });

    it('reports a certificate that nobody vouches for', async () => {
      const server = await bench.serve(({ socket }) => socket.write(answer('{}')), selfSigned);
      const error = await rejection(bench.send(server.url));
      expect(error).toMatchObject({ ...network, message: 'the certificate of the provider was not accepted' });
      expect(server.connections.map(({ requests }) => requests)).toEqual([]);
    });

    it.each(['a\r\nx-injected: 1', 'a\nb', 'a\0b', 'sk-日本'])(
      'does not send a header value such as %j',
      async (value) => {
        const { url, connections } = await bench.serve(({ socket }) => socket.write(answer('{}')));
        const error = await rejection(bench.send(url, { headers: { authorization: value } }));
        expect(error).toMatchObject({ name: 'UpstreamError', status: 502, fault: 'operator' });
        expect((error as UpstreamError).message).toBe(
          'the request header authorization holds a character that cannot be sent',
        );
        expect(connections).toEqual([]);
      },
    );

    it.each([
      ['http://user:secret@127.0.0.1/', /user name or password/],
      ['ftp://127.0.0.1/secret', /neither http nor https/],
      ['127.0.0.1/secret', /not valid/],
    ])('does not send to %s', async (url, message) => {
      const error = await rejection(bench.send(url));
      expect(error).toMatchObject({
        name: 'UpstreamError',
        fault: 'operator',
        message: expect.stringMatching(message),
      });
      expect(String(error)).not.toContain('secret');
    });

    it('does not send a header whose name is none', async () => {
      const error = await rejection(bench.send('http://127.0.0.1:9/', { headers: { 'a b: c\r\nd': 'x' } }));
      expect(error).toMatchObject({
        name: 'UpstreamError',
        fault: 'operator',
        message: 'a request header has an invalid name',
      });
    });
  });
}
