import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { runs } from '../../support/runs.ts';
import { answer, type Connection, chunk, chunkedHead } from './raw-server.ts';
import { type Bench, type Oddities, readAll, rejection } from './suite.ts';

/** `npm test`, which keeps all cores busy, tells only soon from never. */
const closedWithinMs = runs(5_000, 50);

export function connectionPromises(bench: Bench, oddities: Oddities): void {
  describe('abort and cancel', () => {
    const reason = new Error('the caller has left');

    it('sends nothing after an abort', async () => {
      const { url, connections } = await bench.serve(({ socket }) => socket.write(answer('{}')));
      expect(await rejection(bench.send(url, { signal: AbortSignal.abort(reason) }))).toBe(reason);
      expect(connections).toEqual([]);
    });

    it(`closes the connection within ${closedWithinMs} ms of an abort before headers`, async () => {
      await expectClosedSoon(async () => {
        const { promise: arrived, resolve } = Promise.withResolvers<Connection>();
        const { url } = await bench.serve(resolve);
        const controller = new AbortController();
        const pending = rejection(bench.send(url, { signal: controller.signal }));
        const { closed } = await arrived;
        controller.abort(reason);
        const abortedAt = performance.now();
        expect(await pending).toBe(reason);
        return (await closed) - abortedAt;
      });
    });

    it(`closes the connection within ${closedWithinMs} ms of an abort in the body, with the very reason`, async () => {
      await expectClosedSoon(async () => {
        const { url, connections } = await bench.serve(({ socket }) =>
          socket.write(chunkedHead() + chunk('data: 1\n\n')),
        );
        const controller = new AbortController();
        const { body } = await bench.send(url, { signal: controller.signal });
        await body.read();
        const pending = rejection(body.read());
        controller.abort(reason);
        const abortedAt = performance.now();
        expect(await pending).toBe(reason);
        expect(await rejection(body.read())).toBe(reason);
        return (await connections[0]!.closed) - abortedAt;
      });
    });

    it('rejects with the reason also what has arrived and was not read', async () => {
      const { url } = await bench.serve(({ socket }) => socket.write(answer('x'.repeat(1000))));
      const controller = new AbortController();
      const { body } = await bench.send(url, { signal: controller.signal });
      controller.abort(reason);
      expect(await rejection(readAll(body))).toBe(reason);
    });

    it(`closes the connection within ${closedWithinMs} ms of cancel(), which may be called twice`, async () => {
      await expectClosedSoon(async () => {
        const { url, connections } = await bench.serve(({ socket }) =>
          socket.write(chunkedHead() + chunk('data: 1\n\n')),
        );
        const { body } = await bench.send(url);
        await body.read();
        const pending = body.read();
        body.cancel();
        body.cancel();
        const cancelledAt = performance.now();
        expect(await pending).toBeNull();
        expect(await body.read()).toBeNull();
        return (await connections[0]!.closed) - cancelledAt;
      });
    });

    it('closes the connection on cancel() of a compressed body that is being read', async () => {
      const { url, connections } = await bench.serve(({ socket }) => {
        socket.write(
          Buffer.concat([
            Buffer.from(chunkedHead({ 'content-encoding': 'gzip' })),
            chunk(gzipSync('x').subarray(0, 10)),
          ]),
        );
      });
      const { body } = await bench.send(url);
      const pending = body.read();
      body.cancel();
      expect(await pending).toBeNull();
      await connections[0]!.closed;
    });

    it('takes a cancel() after the end for nothing', async () => {
      const { url } = await bench.serve(({ socket }) => socket.write(answer('{}')));
      const { body } = await bench.send(url);
      await readAll(body);
      body.cancel();
      expect(await body.read()).toBeNull();
    });

    it('takes an abort after the end for nothing, and keeps the connection', async () => {
      const { url, connections } = await bench.serve(({ socket }) => socket.write(answer('{}')));
      const controller = new AbortController();
      const { body } = await bench.send(url, { signal: controller.signal });
      await readAll(body);
      controller.abort(reason);
      await turn();
      await readAll((await bench.send(url)).body);
      expect(connections.map(({ requests }) => requests)).toEqual([2]);
    });
  });

  describe('connections', () => {
    it('uses a connection again', async () => {
      const { url, connections } = await bench.serve(({ socket }) => socket.write(answer('{}')));
      for (let times = 0; times < 5; times++) {
        await readAll((await bench.send(url)).body);
        await turn();
      }
      expect(connections.map(({ requests }) => requests)).toEqual([5]);
    });

    it('does not let streams wait for each other: 200 at once', async () => {
      const { promise: allHere, resolve } = Promise.withResolvers<void>();
      let waiting = 0;
      const { url } = await bench.serve(({ socket }, { body }) => {
        // Nobody is answered before everybody has asked.
        if (++waiting === 200) resolve();
        void allHere.then(() => socket.write(answer(body)));
      });
      const bodies = Array.from({ length: 200 }, (_, at) => JSON.stringify({ at }));
      const answers = await Promise.all(bodies.map(async (body) => readAll((await bench.send(url, { body })).body)));
      expect(answers.map(String)).toEqual(bodies);
    });

    it('makes the server wait for a slow reader', async () => {
      const total = 64 * 1024 * 1024;
      const piece = Buffer.alloc(64 * 1024, 'x');
      const server = await bench.serve(({ socket }) => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${total}\r\n\r\n`);
        let left = total / piece.length;
        const pump = () => {
          while (left > 0) {
            left--;
            if (!socket.write(piece)) return;
          }
        };
        socket.on('drain', pump);
        pump();
      });
      const { body } = await bench.send(server.url);
      let bytes = (await body.read())!.length;
      // Meanwhile the event loop turns, often enough to move everything that can move.
      const other = await bench.serve(({ socket }) => socket.write(answer('{}')));
      for (let times = 0; times < 100; times++) await readAll((await bench.send(other.url)).body);
      const { socket } = server.connections[0]!;
      // What the kernel holds for both ends, some megabytes on loopback, is beyond us.
      expect(socket.bytesWritten - socket.writableLength).toBeLessThan(total / 2);
      for (let next = await body.read(); next !== null; next = await body.read()) bytes += next.length;
      expect(bytes).toBe(total);
    });

    it('survives a connection that the server closed while it was idle', async () => {
      const { url, connections } = await bench.serve(({ socket }) => socket.write(answer('{}')));
      await readAll((await bench.send(url)).body);
      connections[0]!.socket.destroy();
      await connections[0]!.closed;
      // The next exchange makes sure that the event loop has delivered the end of the first.
      const other = await bench.serve(({ socket }) => socket.write(answer('{}')));
      await readAll((await bench.send(other.url)).body);
      expect((await readAll((await bench.send(url)).body)).toString()).toBe('{}');
      expect(connections.map(({ requests }) => requests)).toEqual([1, 1]);
    });

    describe.runIf(oddities.repeatsOnDeadConnection)('when a used connection dies as the next request goes out', () => {
      it.each(['end', 'resetAndDestroy'] as const)('sends that once more on a new one: %s', async (close) => {
        const { url, connections } = await bench.serve((connection, { body }) => {
          if (connection.requests === 2) connection.socket[close]();
          else connection.socket.write(answer(body));
        });
        await readAll((await bench.send(url)).body);
        await turn();
        expect((await readAll((await bench.send(url, { body: 'again' })).body)).toString()).toBe('again');
        expect(connections.map(({ requests }) => requests)).toEqual([2, 1]);
      });

      it('gives up when the new one dies, too', async () => {
        const { url, connections } = await bench.serve((connection) => {
          if (connections.length === 1 && connection.requests === 1) connection.socket.write(answer('{}'));
          else connection.socket.destroy();
        });
        await readAll((await bench.send(url)).body);
        await turn();
        expect(await rejection(bench.send(url))).toMatchObject({ name: 'UpstreamError', reason: 'network' });
        expect(connections.map(({ requests }) => requests)).toEqual([2, 1]);
      });

      it('does not when a byte of the answer had come', async () => {
        const { url, connections } = await bench.serve((connection) => {
          if (connection.requests === 2) connection.socket.end('H');
          else connection.socket.write(answer('{}'));
        });
        await readAll((await bench.send(url)).body);
        await turn();
        expect(await rejection(bench.send(url))).toMatchObject({ name: 'UpstreamError', reason: 'network' });
        expect(connections.map(({ requests }) => requests)).toEqual([2]);
      });
    });

    it('does not mix an unasked answer into the next exchange', async () => {
      const { url, connections } = await bench.serve((connection) => {
        const { socket } = connection;
        // The first answer is followed by a second one that nobody asked for.
        if (connections.length === 1) socket.write(Buffer.concat([answer('"first"'), answer('"smuggled"')]));
        else socket.write(answer('"second"'));
      });
      expect((await readAll((await bench.send(url)).body)).toString()).toBe('"first"');
      expect((await readAll((await bench.send(url)).body)).toString()).toBe('"second"');
    });
  });
}

/** Lets the event loop turn: a connection is free for the next request a turn after its answer ended. */
async function turn(): Promise<void> {
  for (let times = 0; times < 3; times++) await new Promise(setImmediate);
}

/** The middle one of five, so that a pause of the whole machine does not count. */
async function expectClosedSoon(measure: () => Promise<number>): Promise<void> {
  const took: number[] = [];
  for (let times = 0; times < 5; times++) took.push(await measure());
  took.sort((a, b) => a - b);
  expect(took[2]).toBeLessThan(closedWithinMs);
}
