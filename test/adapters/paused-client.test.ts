import type { RequestListener } from 'node:http';
import express from 'express';
import Koa from 'koa';
import { describe, expect, it } from 'vitest';
import { gatewayMiddleware as expressMiddleware } from '../../adapters/hosts/express.ts';
import { gatewayMiddleware as koaMiddleware } from '../../adapters/hosts/koa.ts';
import { gatewayRoute } from '../../adapters/hosts/next.ts';
import { gatewayListener } from '../../adapters/hosts/node.ts';
import type { Transport } from '../../src/entries/testing.ts';
import type { Gateway } from '../../src/index.ts';
import { readAll, receive, send } from '../contract/adapters/client.ts';
import { bookedModels, ledgerOf, withBudget } from '../support/booked.ts';
import { hello, testKey } from '../support/gateway.ts';
import { chunk, sse } from '../support/upstream.ts';
import { hostListener } from './hosts.ts';

// A client that stops reading does not close its connection: only the deadline ends its stream.

const totalMs = 30_000;
const auth = { authorization: `Bearer ${testKey}` };

/** An upstream that always has more to say. */
function flood() {
  const bytes = new TextEncoder().encode(sse(chunk({ content: 'x'.repeat(64 * 1024) })));
  const seen = { pulls: 0, isCancelled: false };
  const transport: Transport = {
    async send({ signal }) {
      signal.addEventListener('abort', () => {
        seen.isCancelled = true;
      });
      return {
        status: 200,
        headers: { 'content-type': 'text/event-stream' },
        body: {
          async read() {
            if (signal.aborted) throw signal.reason;
            seen.pulls++;
            return bytes;
          },
          cancel() {},
        },
      };
    },
  };
  return { transport, seen };
}

const hosts: Record<string, (gateway: Gateway) => RequestListener> = {
  node: (gateway) => gatewayListener(gateway),
  Express: (gateway) => express().use('/v1', expressMiddleware(gateway)),
  Koa: (gateway) => {
    const app = new Koa().use(koaMiddleware(gateway, { prefix: '/v1' }));
    app.silent = true;
    return app.callback();
  },
  'Next route handlers, behind a bridge to node:http': (gateway) => {
    const { POST, GET } = gatewayRoute(gateway, { basePath: '/v1' });
    const context = { params: Promise.resolve({}) };
    const handle: Gateway['handle'] = (request) => (request.method === 'GET' ? GET : POST)(request, context);
    return gatewayListener({ ...gateway, handle });
  },
};

describe.each(Object.entries(hosts))('a client of %s that stops reading', (_, listenerOf) => {
  it('is cut off by the deadline, which settles its hold', async () => {
    const { transport, seen } = flood();
    const tested = await withBudget(10, {
      models: bookedModels,
      transport,
      timeouts: { totalMs },
      limits: { upstreamStreamBytes: 2 ** 40 },
    });
    const listener = listenerOf(tested.gateway);
    const { promise: closed, resolve: onClose } = Promise.withResolvers<void>();
    const host = await hostListener((req, res) => {
      if (req.method === 'POST') res.once('close', onClose);
      listener(req, res);
    }, '/v1');
    try {
      const body = JSON.stringify({ model: 'acme/one', messages: hello, max_tokens: 1_000, stream: true });
      const headers = { ...auth, 'content-type': 'application/json' };
      const { response } = send(`${host.baseUrl}/chat/completions`, { body, headers });
      const received = await response;
      received.pause();
      // Round trips give the adapter time to pull on, until the system's socket buffers are full.
      let pulls = -1;
      while (pulls !== seen.pulls) {
        pulls = seen.pulls;
        for (let n = 0; n < 20; n++) await receive(`${host.baseUrl}/key`, { method: 'GET', headers: auth });
      }
      expect(tested.records).toEqual([]);
      await tested.clock.advance(totalMs);
      // Though the client has still not read a byte more.
      await closed;
      expect(tested.records).toMatchObject([{ outcome: 'cut', status: 408, error: { type: 'timeout' } }]);
      expect(seen.isCancelled).toBe(true);
      const { spent, held } = await ledgerOf(tested);
      expect([spent, held]).toEqual([tested.records[0]?.heldNanoUsd, 0]);
      expect(await readAll(received)).toMatchObject({ whole: false });
    } finally {
      await host.close();
    }
  });
});
