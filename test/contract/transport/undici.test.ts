import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { undiciTransport } from '../../../src/transport/undici.ts';
import { answer, type RawServer, rawServer, selfSigned, writePieces } from './raw-server.ts';
import { readAll, rejection, request, transportContract } from './suite.ts';

transportContract('undiciTransport', undiciTransport, {
  skips100: true,
  repeatsOnDeadConnection: true,
  noticesResetWithoutLength: true,
  noticesCutCompression: true,
});

describe('undiciTransport on its own', () => {
  let servers: RawServer[] = [];
  afterEach(async () => {
    await Promise.all(servers.map((server) => server.close()));
    servers = [];
  });
  const serve = async (...args: Parameters<typeof rawServer>) => {
    const server = await rawServer(...args);
    servers.push(server);
    return server;
  };

  it('does all that over TLS, too: reuse, 100 Continue, a connection that dies with the next request', async () => {
    const trusted = getCACertificates('default');
    setDefaultCACertificates([...trusted, selfSigned.cert]);
    const transport = undiciTransport();
    try {
      const server = await serve((connection, { body }) => {
        if (connection.requests === 3) connection.socket.destroy();
        else void writePieces(connection.socket, ['HTTP/1.1 100 Continue\r\n\r\nHTT', answer(body).subarray(3)]);
      }, selfSigned);
      for (const body of ['one', 'two', 'three', 'four']) {
        const response = await transport.send({ ...request(server.url), body });
        expect((await readAll(response.body)).toString()).toBe(body);
        for (let turns = 0; turns < 3; turns++) await new Promise(setImmediate);
      }
      // The third went out on the first connection and again on one of its own; the fourth on whichever was free.
      expect(server.connections[0]!.requests).toBe(3);
      expect(server.connections[1]!.requests).toBe(1);
    } finally {
      setDefaultCACertificates(trusted);
      await transport.close?.();
    }
  });

  it.each([
    [100, 'Continue', ''],
    [102, 'Processing', ''],
    [103, 'Early Hints', `link: </${'x'.repeat(9_000)}>; rel=preload\r\n`],
    [199, 'Of tomorrow', 'x: y\r\n'],
  ])('skips %d, cut anywhere, whatever comes behind it in the same read', async (status, words, headers) => {
    const transport = undiciTransport();
    const interim = `HTTP/1.1 ${status} ${words}\r\n${headers}\r\n`;
    const cutAfter = [0, 1, 8, 9, 10, 12, interim.length - 1, interim.length, interim.length + 5];
    const server = await serve((connection, { body }) => {
      const { times, bytes, cut } = JSON.parse(body) as { times: number; bytes: number; cut: number };
      const whole = Buffer.concat([Buffer.from(interim.repeat(times)), answer('a'.repeat(bytes))]);
      const pieces = [whole.subarray(0, cut), whole.subarray(cut)].filter(({ length }) => length > 0);
      void writePieces(connection.socket, pieces);
    });
    for (const times of [1, 3])
      for (const bytes of [2, 17_000, 200_000])
        for (const cut of cutAfter) {
          const response = await transport.send({
            ...request(server.url),
            body: JSON.stringify({ times, bytes, cut }),
          });
          expect([response.status, (await readAll(response.body)).length]).toEqual([200, bytes]);
        }
    await transport.close?.();
  });

  it.each([
    ['too many', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(150)],
    ['too large', `HTTP/1.1 100 Continue\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`],
  ])('does not read over informational answers that are %s', async (_, bytes) => {
    const transport = undiciTransport();
    const server = await serve(({ socket }) => socket.write(Buffer.concat([Buffer.from(bytes), answer('{}')])));
    expect(await rejection(transport.send(request(server.url)))).toMatchObject({
      name: 'UpstreamError',
      status: 502,
      reason: 'bad_response',
      message: 'the provider sent more informational responses (1xx), or longer ones, than are skipped',
    });
    await transport.close?.();
  });

  it('names a switch of protocols that nobody asked for', async () => {
    const transport = undiciTransport();
    const head = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n';
    const server = await serve(({ socket }) => socket.write(head));
    expect(await rejection(transport.send(request(server.url)))).toMatchObject({
      reason: 'bad_response',
      message: 'the provider switched to a protocol that was not asked for',
    });
    await transport.close?.();
  });

  it('closes what is idle, and then what is in flight once it has ended', async () => {
    const transport = undiciTransport();
    const server = await serve(({ socket }, { body }) => {
      socket.write(body === 'idle' ? answer('{}') : 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nab');
    });
    await readAll((await transport.send({ ...request(server.url), body: 'idle' })).body);
    await new Promise(setImmediate);
    const [idle] = server.connections;
    const other = await serve(({ socket }) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nab'));
    const { body } = await transport.send(request(other.url));
    let isClosed = false;
    const closed = transport.close?.().then(() => {
      isClosed = true;
    });
    await idle!.closed;
    expect(isClosed).toBe(false);
    other.connections[0]!.socket.write('cd');
    expect((await readAll(body)).toString()).toBe('abcd');
    await closed;
    await other.connections[0]!.closed;
  });

  it('can be used again after it was closed', async () => {
    const transport = undiciTransport();
    const server = await serve(({ socket }) => socket.write(answer('{}')));
    for (let times = 0; times < 2; times++) {
      await readAll((await transport.send(request(server.url))).body);
      await transport.close?.();
    }
    await Promise.all(server.connections.map(({ closed }) => closed));
    expect(server.connections).toHaveLength(2);
  });

  it('refuses a coding nobody asked for, and closes the connection', async () => {
    const transport = undiciTransport();
    const server = await serve(({ socket }, { body }) =>
      socket.write(answer('x'.repeat(9), { 'content-encoding': body })),
    );
    for (const body of ['zstd', 'compress', 'gzip, gzip, gzip, gzip']) {
      const error = await rejection(transport.send({ ...request(server.url), body }));
      expect(error).toMatchObject({ name: 'UpstreamError', reason: 'bad_response', status: 502 });
    }
    await transport.close?.();
  });

  it('respects the header limit of each request', async () => {
    const transport = undiciTransport();
    const server = await serve(({ socket }) => socket.write(answer('{}', { 'x-large': 'x'.repeat(20_000) })));
    const small = { ...request(server.url), limits: { headerBytes: 10_000 } };
    expect(await rejection(transport.send(small))).toMatchObject({ reason: 'bad_response' });
    const { headers, body } = await transport.send({ ...small, limits: { headerBytes: 30_000 } });
    expect(headers['x-large']).toHaveLength(20_000);
    await readAll(body);
    await transport.close?.();
  });

  it('gives what has arrived in one piece to a reader that comes late', async () => {
    const transport = undiciTransport();
    const server = await serve(({ socket }) => {
      void writePieces(socket, ['HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n', ...'0123456789']);
    });
    const { body } = await transport.send(request(server.url));
    // Each piece takes the server one turn.
    for (let turns = 0; turns < 100; turns++) await new Promise(setImmediate);
    expect(Buffer.from((await body.read())!).toString()).toBe('0123456789');
    expect(await body.read()).toBeNull();
    await transport.close?.();
  });

  it('gives the rest at once where all of it has arrived, and else nothing', async () => {
    const transport = undiciTransport();
    const answers = Promise.withResolvers<void>();
    const server = await serve(({ socket }) => {
      void writePieces(socket, ['HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n01234']).then(async () => {
        await answers.promise;
        await writePieces(socket, ['56789']);
      });
    });
    const { body } = await transport.send(request(server.url));
    expect(body.rest?.()).toBeNull();
    expect(Buffer.from((await body.read())!).toString()).toBe('01234');
    expect(body.rest?.()).toBeNull();
    answers.resolve();
    let rest: Uint8Array | null = null;
    for (let turns = 0; rest === null && turns < 10_000; turns++) {
      await new Promise(setImmediate);
      rest = body.rest?.() ?? null;
    }
    expect(Buffer.from(rest!).toString()).toBe('56789');
    expect(await body.read()).toBeNull();
    await transport.close?.();
  });

  it('gives no rest of what was broken off, aborted or cancelled', async () => {
    const transport = undiciTransport();
    const server = await serve(({ socket }) => {
      void writePieces(socket, ['HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc']);
    });
    const arrived = async (signal?: AbortSignal) => {
      const { body } = await transport.send({ ...request(server.url), ...(signal ? { signal } : {}) });
      for (let turns = 0; turns < 100; turns++) await new Promise(setImmediate);
      return body;
    };
    const cancelled = await arrived();
    cancelled.cancel();
    expect(cancelled.rest?.()).toBeNull();
    const controller = new AbortController();
    const aborted = await arrived(controller.signal);
    controller.abort(new Error('left'));
    // It had ended: what is here is whole, and nobody is told to stop.
    await expect(aborted.read()).rejects.toThrow('left');
    expect(aborted.rest?.()).toBeNull();
    await transport.close?.();
  });

  it('leaves no listener on the signal of a finished exchange', async () => {
    const transport = undiciTransport();
    const server = await serve(({ socket }) => socket.write(answer('{}')));
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners--;
      remove(...args);
    };
    for (let times = 0; times < 3; times++) {
      await readAll((await transport.send({ ...request(server.url), signal })).body);
    }
    expect(listeners).toBeLessThanOrEqual(0);
    await transport.close?.();
  });
});
