import { Keyv } from 'keyv';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { gatewayHandler } from '../../adapters/hosts/deno.ts';
import { serveSocket } from '../../adapters/hosts/shared/web-socket.ts';
import { gatewayWorker } from '../../adapters/hosts/workers.ts';
import type { SocketPeer } from '../../src/index.ts';
import { chatRequest, hello, nextTurn, testGateway, testKey } from '../support/gateway.ts';
import { completion, textStream } from '../support/upstream.ts';

afterEach(() => vi.unstubAllGlobals());

const ask = { model: 'acme/fast', messages: hello, max_tokens: 100 };
const authorization = { authorization: `Bearer ${testKey}` };

/** The context of a request in a worker, with the work that it was given. */
function workerContext() {
  const works: Promise<unknown>[] = [];
  return { waitUntil: (work: Promise<unknown>) => void works.push(work), works };
}

describe('gateway.flush', () => {
  it('writes bookings and records that wait, without a timer', async () => {
    const store = new Map();
    const open = () => testGateway({ store: new Keyv({ store }), records: { enabled: true, flushMs: 3_600_000 } });
    const first = open();
    first.upstream.always({ body: completion() });
    await first.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 1 });
    for (let at = 0; at < 3; at++) await first.post(ask);
    await first.run(first.gateway.flush());
    const second = open();
    const { json } = await second.call('GET', '/generations');
    const { data } = (await second.call('GET', '/workspaces/default/budgets')).json;
    const booked = first.records.reduce((sum, { costNanoUsd }) => sum + (costNanoUsd ?? 0), 0);
    expect([json.data.length, Math.round(data[0].spent_usd * 1e9)]).toEqual([3, booked]);
    expect(first.gateway.state()).toMatchObject({ waitingRecords: 0, waitingBookings: 0 });
  });
  it('has nothing to do, and no error, without records, and after close', async () => {
    const test = testGateway();
    await test.gateway.flush();
    await test.gateway.close();
    await test.gateway.flush();
  });
});

describe('gatewayWorker', () => {
  it('keeps the worker until what a response leaves is written: JSON, a stream, one that was left, and no body', async () => {
    const test = testGateway({ records: { enabled: true, flushMs: 3_600_000 } });
    const worker = gatewayWorker(test.gateway);
    const send = async (request: Request) => {
      const context = workerContext();
      return { response: await test.run(worker.fetch(request, {}, context)), works: context.works };
    };
    test.upstream.always({ body: completion() });
    const json = await send(chatRequest(ask, authorization));
    let isWritten = false;
    void json.works[0]?.then(() => {
      isWritten = true;
    });
    await nextTurn();
    expect([json.works.length, isWritten]).toEqual([1, false]);
    await json.response.text();
    await test.run(Promise.all(json.works));
    expect(test.gateway.state().waitingRecords).toBe(0);
    test.upstream.always({ body: textStream('Hel', 'lo') });
    const stream = await send(chatRequest({ ...ask, stream: true }, authorization));
    expect(await stream.response.text()).toContain('[DONE]');
    const left = await send(chatRequest({ ...ask, stream: true }, authorization));
    const reader = (left.response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    await reader.cancel();
    const head = await send(new Request('http://worker.test/v1/models', { method: 'OPTIONS' }));
    await test.run(Promise.all([...stream.works, ...left.works, ...head.works]));
    expect(test.records.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'cancelled']);
    expect(test.gateway.state()).toMatchObject({ waitingRecords: 0, requestsInFlight: 0 });
  });
  it('makes its gateway once, from the bindings of the first request, and knows the caller', async () => {
    const test = testGateway({ apiKeys: undefined as never, authenticate: 'host' });
    test.upstream.always({ body: completion() });
    const made: unknown[] = [];
    const worker = gatewayWorker<{ NAME: string }>(
      ({ NAME }) => {
        made.push(NAME);
        return test.gateway;
      },
      {
        basePath: '/ai/v1',
        caller: (request) => ({ userId: request.headers.get('x-user'), permissions: ['inference'] }),
      },
    );
    for (const name of ['one', 'two']) {
      const request = new Request('http://worker.test/ai/v1/chat/completions', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-user': name },
        body: JSON.stringify(ask),
      });
      const context = workerContext();
      const response = await test.run(worker.fetch(request, { NAME: name }, context));
      expect(response.status).toBe(200);
      await response.text();
      await test.run(Promise.all(context.works));
    }
    expect([made, test.records.map(({ userId }) => userId)]).toEqual([['one'], ['one', 'two']]);
  });
  it('tells a WebSocket to use HTTP where the runtime has none', async () => {
    const test = testGateway();
    const headers = { ...authorization, upgrade: 'websocket', connection: 'upgrade' };
    const request = new Request('http://worker.test/v1/responses', { headers });
    expect((await gatewayWorker(test.gateway).fetch(request, {}, workerContext())).status).toBe(426);
    expect((await gatewayHandler(test.gateway)(request)).status).toBe(426);
  });
});

/** A standard `WebSocket` in the hands of a test. */
function fakeSocket() {
  const listeners = new Map<string, ((event: { data?: unknown }) => void)[]>();
  const sent: string[] = [];
  const closed: unknown[][] = [];
  return {
    sent,
    closed,
    bufferedAmount: 0,
    send: (text: string) => void sent.push(text),
    close: (...given: unknown[]) => void closed.push(given),
    accept: () => undefined,
    addEventListener(type: string, listener: (event: { data?: unknown }) => void) {
      listeners.set(type, [...(listeners.get(type) ?? []), listener]);
    },
    emit(type: string, event: { data?: unknown } = {}) {
      for (const listener of listeners.get(type) ?? []) listener(event);
    },
  };
}

describe('a standard WebSocket', () => {
  it('is a session: frames in, frames out, and the end once', () => {
    const socket = fakeSocket();
    const got: unknown[] = [];
    let ends = 0;
    let peer = {} as SocketPeer;
    const open = (given: SocketPeer) => {
      peer = given;
      const session = { message: (data: unknown) => void got.push(data), closed: () => void got.push('closed') };
      return { ...session, pong: () => undefined, drain: () => undefined, stop: () => undefined };
    };
    serveSocket(socket, { response: null, protocol: null, maxFrameBytes: 1, open }, () => void ends++);
    socket.emit('message', { data: '{"type":"x"}' });
    void peer.send('frame');
    peer.close(1000, 'done');
    socket.emit('error');
    socket.emit('close');
    void peer.send('late');
    peer.close(1000, 'late');
    expect([got, socket.sent, socket.closed, ends]).toEqual([
      ['{"type":"x"}', 'closed'],
      ['frame'],
      [[1000, 'done']],
      1,
    ]);
  });
  it('makes a response wait for a client that does not read, and lets go when it is closed', async () => {
    vi.useFakeTimers();
    try {
      const socket = fakeSocket();
      let peer = {} as SocketPeer;
      const nothing = () => undefined;
      const open = (given: SocketPeer) => {
        peer = given;
        return { message: nothing, closed: nothing, pong: nothing, drain: nothing, stop: nothing };
      };
      serveSocket(socket, { response: null, protocol: null, maxFrameBytes: 1, open });
      socket.bufferedAmount = 2 ** 21;
      let isThere = false;
      const waiting = Promise.resolve(peer.send('a')).then(() => {
        isThere = true;
      });
      await vi.advanceTimersByTimeAsync(500);
      expect(isThere).toBe(false);
      socket.bufferedAmount = 0;
      await vi.advanceTimersByTimeAsync(100);
      await waiting;
      socket.bufferedAmount = 2 ** 21;
      const again = Promise.resolve(peer.send('b'));
      socket.emit('close');
      await vi.advanceTimersByTimeAsync(100);
      await again;
    } finally {
      vi.useRealTimers();
    }
  });
  it('of Deno answers with the protocol that the gateway names', async () => {
    const test = testGateway();
    const socket = fakeSocket();
    const response = new Response();
    vi.stubGlobal('Deno', { upgradeWebSocket: () => ({ socket, response }) });
    const headers = {
      upgrade: 'websocket',
      connection: 'upgrade',
      'sec-websocket-protocol': `openai-insecure-api-key.${testKey},openai-beta.responses.v1`,
    };
    const found = await gatewayHandler(test.gateway)(new Request('http://deno.test/v1/responses', { headers }));
    expect([found, found.headers.get('sec-websocket-protocol')]).toEqual([response, 'openai-beta.responses.v1']);
    socket.emit('open');
    socket.emit('message', { data: 'no JSON' });
    await nextTurn();
    expect(socket.sent.map((text) => JSON.parse(text).type)).toEqual(['error']);
    socket.emit('close');
  });
});
