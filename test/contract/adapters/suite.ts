import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RequestHandler } from '../../../src/index.ts';
import { runs } from '../../support/runs.ts';
import { keepAlive, nextPiece, readAll, receive, send } from './client.ts';
import { type FakeGateway, fakeGateway, floodPiece, floodPieces } from './fake-gateway.ts';

/** A server with the gateway mounted in it. */
export interface Host {
  /** `http://127.0.0.1:<port>` and the path the gateway is mounted at. */
  baseUrl: string;
  close(): Promise<void>;
}

export interface AdapterCase {
  start(gateway: RequestHandler): Promise<Host>;
  /** Whether the host reads and parses JSON bodies itself. */
  parsesBody?: boolean;
  /** The largest body the host's parser takes. Default: no limit. */
  limitBytes?: number;
}

/**
 * How soon a client's leaving has to show; `npm test`, which keeps all cores busy, tells only soon from never. The best
 * of a few measurements counts: other work may hold a process up.
 */
const abortWithinMs = runs(5_000, 50);
const measurements = 4;

/** What every adapter over node:http promises. */
export function adapterContract(name: string, adapter: AdapterCase): void {
  describe.each(['streams', 'sources'] as const)(`${name}, over %s`, (naming) => {
    let gateway: FakeGateway;
    let host: Host;
    const rejections: unknown[] = [];
    const onRejection = (reason: unknown) => rejections.push(reason);

    beforeEach(async () => {
      rejections.length = 0;
      process.on('unhandledRejection', onRejection);
      gateway = fakeGateway(naming);
      host = await adapter.start(gateway);
    });
    afterEach(async () => {
      await host.close();
      await turns(2);
      process.off('unhandledRejection', onRejection);
      expect(rejections).toEqual([]);
    });

    const echo = async (body: unknown, path = '/echo', headers: Record<string, string> = {}) => {
      const received = await receive(host.baseUrl + path, { body: JSON.stringify(body), headers });
      expect(received).toMatchObject({ status: 200, whole: true });
      return { ...received, json: JSON.parse(received.text) };
    };

    it('passes path, query, mount path, headers and a JSON body', async () => {
      const url = new URL(host.baseUrl);
      const { json, headers } = await echo({ a: [1, { b: null }] }, '/echo?x=1&y=%20z', {
        authorization: 'Bearer key',
        'x-asked': 'yes',
      });
      expect(json).toEqual({
        basePath: url.pathname,
        path: `${url.pathname}/echo`,
        search: '?x=1&y=%20z',
        header: 'yes',
        authorization: 'Bearer key',
        host: url.host,
        handedOver: adapter.parsesBody === true,
        body: { a: [1, { b: null }] },
      });
      expect(headers).toMatchObject({ 'x-request-id': 'req-1', 'set-cookie': ['a=1', 'b=2'] });
      expect(headers['content-type']).toMatch(/^application\/json/);
    });

    it('passes characters of any length, in bodies that arrive in pieces too', async () => {
      const text = 'é, 漢字, 👩‍👩‍👧 and \u0000';
      expect((await echo({ text })).json.body).toEqual({ text });

      const bytes = Buffer.from(JSON.stringify({ text }));
      const { sent, response } = send(`${host.baseUrl}/echo`, {
        headers: { 'content-type': 'application/json', expect: '100-continue' },
        bodyFollows: true,
      });
      await new Promise((resolve) => sent.once('continue', resolve).flushHeaders());
      for (const byte of bytes) sent.write(Uint8Array.of(byte));
      sent.end();
      expect(JSON.parse((await readAll(await response)).text).body).toEqual({ text });
    });

    it('passes a body of 1 MB', async () => {
      const text = 'x'.repeat(Math.min(1_000_000, (adapter.limitBytes ?? Infinity) - 100));
      expect((await echo({ text })).json.body).toEqual({ text });
    });

    it('answers HEAD with headers only, OPTIONS, 404 below the mount, and 405', async () => {
      const head = await receive(`${host.baseUrl}/echo`, { method: 'HEAD' });
      expect(head).toMatchObject({ status: 200, text: '', whole: true });
      expect(head.headers['content-length']).toBe('42');

      const options = await receive(`${host.baseUrl}/echo`, { method: 'OPTIONS' });
      expect(options).toMatchObject({ status: 204, text: '', headers: { allow: 'POST' } });

      const unknown = await receive(`${host.baseUrl}/nowhere?q=1`, { method: 'GET' });
      expect(unknown.status).toBe(404);
      expect(JSON.parse(unknown.text)).toEqual({ error: { message: 'nothing at /nowhere' } });

      const wrong = await receive(`${host.baseUrl}/echo`, { method: 'GET' });
      expect(wrong).toMatchObject({ status: 405, headers: { allow: 'POST' } });
    });

    it('cancels a body that HEAD has no use for', async () => {
      const [head, stream] = await Promise.all([
        receive(`${host.baseUrl}/stream`, { method: 'HEAD' }),
        gateway.nextStream(),
      ]);
      expect(head).toMatchObject({ status: 200, text: '' });
      await stream.cancelled;
    });

    it('sends the headers before the first piece, and each piece as it comes', async () => {
      const { response } = send(`${host.baseUrl}/stream`, { body: '{}' });
      const stream = await gateway.nextStream();
      const received = await response;
      expect(received.headers['content-type']).toBe('text/event-stream');
      for (const text of ['data: 1\n\n', 'data: é\n\n', ': waiting\n\n']) {
        stream.write(text);
        expect(await nextPiece(received)).toBe(text);
      }
      stream.end();
      expect(await nextPiece(received)).toBe(null);
      expect(received.complete).toBe(true);
      expect(stream.signal.aborted).toBe(false);
    });

    it('serves two streams at once', async () => {
      const one = send(`${host.baseUrl}/stream`, { body: '{}' });
      const first = await gateway.nextStream();
      const two = send(`${host.baseUrl}/stream`, { body: '{}' });
      const second = await gateway.nextStream();
      second.write('second');
      expect(await nextPiece(await two.response)).toBe('second');
      first.write('first');
      expect(await nextPiece(await one.response)).toBe('first');
      second.end();
      first.end();
      expect(await readAll(await one.response)).toMatchObject({ whole: true, text: '' });
      expect(await readAll(await two.response)).toMatchObject({ whole: true, text: '' });
    });

    it('keeps the connection for the next request, after JSON and after a stream', async () => {
      const agent = keepAlive();
      const ports = new Set<number | undefined>();
      for (const path of ['/echo', '/stream', '/nowhere', '/echo']) {
        const { response } = send(host.baseUrl + path, { body: '{}', agent });
        if (path === '/stream') {
          const stream = await gateway.nextStream();
          stream.write('x');
          stream.end();
        }
        const received = await response;
        ports.add(received.socket.localPort);
        expect(await readAll(received)).toMatchObject({ whole: true });
      }
      expect(ports.size).toBe(1);
      agent.destroy();
    });

    it('stops pulling while the client does not read, and loses nothing', async () => {
      const { response } = send(`${host.baseUrl}/flood`, { body: '{}' });
      const received = await response;
      received.pause();
      // Round trips give the adapter time to pull on, if it would. What it pulls fills the system's socket buffers.
      let pulled = -1;
      while (pulled !== gateway.floodPulls) {
        pulled = gateway.floodPulls;
        for (let i = 0; i < 20; i++) await echo({ i });
      }
      expect(pulled).toBeGreaterThan(0);
      expect(pulled).toBeLessThan(floodPieces / 2);
      let bytes = 0;
      for await (const piece of received) bytes += (piece as Buffer).length;
      expect(bytes).toBe(floodPieces * floodPiece.length);
    });

    it('cancels the body when the client leaves without reading it all', async () => {
      const { sent, response } = send(`${host.baseUrl}/flood`, { body: '{}' });
      (await response).pause();
      sent.destroy();
      await echo({});
      const pulled = gateway.floodPulls;
      for (let i = 0; i < 5; i++) await echo({ i });
      expect(gateway.floodPulls).toBe(pulled);
      expect(pulled).toBeLessThan(floodPieces);
    });

    it(`aborts within ${abortWithinMs} ms when the client leaves before the headers`, async () => {
      await soon(async () => {
        const { sent } = send(`${host.baseUrl}/hang`, { body: '{}' });
        const { signal } = await gateway.nextStream();
        const left = performance.now();
        sent.destroy();
        await aborted(signal);
        return performance.now() - left;
      });
    });

    it(`aborts and cancels within ${abortWithinMs} ms when the client leaves before the first piece`, async () => {
      await soon(async () => {
        const { sent, response } = send(`${host.baseUrl}/stream`, { body: '{}' });
        const stream = await gateway.nextStream();
        await response;
        const left = performance.now();
        sent.destroy();
        await aborted(stream.signal);
        return (await stream.cancelled) - left;
      });
    });

    it(`aborts and cancels within ${abortWithinMs} ms when the client leaves mid-stream`, async () => {
      await soon(async () => {
        const { sent, response } = send(`${host.baseUrl}/stream`, { body: '{}' });
        const stream = await gateway.nextStream();
        stream.write('data: 1\n\n');
        await nextPiece(await response);
        const left = performance.now();
        sent.destroy();
        await aborted(stream.signal);
        return (await stream.cancelled) - left;
      });
    });

    it('cuts the connection when the body breaks, so that the response never looks whole', async () => {
      const { response } = send(`${host.baseUrl}/stream`, { body: '{}' });
      const stream = await gateway.nextStream();
      stream.write('data: 1\n\n');
      const received = await response;
      expect(await nextPiece(received)).toBe('data: 1\n\n');
      stream.fail();
      expect(await readAll(received)).toMatchObject({ whole: false });
      await echo({ still: 'alive' });
    });

    it('answers 500 when a header cannot be sent, and lives on', async () => {
      expect(await receive(`${host.baseUrl}/bad-header`, { body: '{}' })).toMatchObject({ status: 500, whole: true });
      const [, stream] = await Promise.all([
        receive(`${host.baseUrl}/bad-stream-header`, { body: '{}' }),
        gateway.nextStream(),
      ]);
      await stream.cancelled;
      await echo({ still: 'alive' });
    });

    it('cuts it for HTTP/1.0 too, where the end of the connection is the end of the response', async () => {
      const url = new URL(`${host.baseUrl}/stream`);
      const socket = connect(Number(url.port), url.hostname);
      const type = 'Content-Type: application/json\r\nContent-Length: 2';
      socket.write(`POST ${url.pathname} HTTP/1.0\r\nHost: ${url.host}\r\n${type}\r\n\r\n{}`);
      const ended = new Promise((resolve) => socket.once('end', () => resolve('end')).once('error', resolve));
      const stream = await gateway.nextStream();
      stream.write('data: 1\n\n');
      let text = '';
      await new Promise<void>((resolve) =>
        socket.on('data', (piece) => {
          text += piece;
          if (text.endsWith('data: 1\n\n')) resolve();
        }),
      );
      stream.fail();
      expect(await ended).toMatchObject({ code: 'ECONNRESET' });
    });
  });
}

/** Lets pending callbacks run. */
export async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

async function soon(measureMs: () => Promise<number>): Promise<void> {
  const taken: number[] = [];
  while (taken.length < measurements && !taken.some((ms) => ms < abortWithinMs)) taken.push(await measureMs());
  expect(Math.min(...taken)).toBeLessThan(abortWithinMs);
}
