import type { IncomingMessage } from 'node:http';
import express from 'express';
import Koa from 'koa';
import { afterAll, describe, expect, it } from 'vitest';
import { gatewayFetch } from '../../adapters/hosts/bun.ts';
import * as expressAdapter from '../../adapters/hosts/express.ts';
import * as koaAdapter from '../../adapters/hosts/koa.ts';
import { gatewayRoute } from '../../adapters/hosts/next.ts';
import { gatewayListener } from '../../adapters/hosts/node.ts';
import { createGateway } from '../../src/gateway.ts';
import { hostListener } from './hosts.ts';

const key = 'sk-test-of-the-caller';
const users: (string | null)[] = [];
const gateway = createGateway({
  providers: { sandbox: {} },
  apiKeys: [{ key }],
  authenticate: 'host',
  onRecord: ({ userId }) => void users.push(userId),
});
afterAll(() => gateway.close());

interface Session {
  session?: { user: string };
}
type SessionRequest = express.Request & Session;

const inference = ['inference' as const];
const callerIn = (session: Session['session']) => (session ? { userId: session.user, permissions: inference } : null);
/** As a session middleware would. */
const sessionOf = (cookie: string | undefined) => (cookie === 'ada' ? { user: 'ada' } : undefined);

const listeners = {
  express: () =>
    express()
      .use((req: SessionRequest, _res, next) => {
        req.session = sessionOf(req.headers.cookie);
        next();
      })
      .use(
        '/v1',
        expressAdapter.gatewayMiddleware(gateway, { caller: (req: SessionRequest) => callerIn(req.session) }),
      ),
  koa: () =>
    new Koa()
      .use(async (context, next) => {
        context.state.session = sessionOf(context.headers.cookie);
        await next();
      })
      .use(koaAdapter.gatewayMiddleware(gateway, { caller: (context: Koa.Context) => callerIn(context.state.session) }))
      .callback(),
  node: () =>
    gatewayListener(gateway, { caller: async (req: IncomingMessage) => callerIn(sessionOf(req.headers.cookie)) }),
};

const byCookie = (request: Request) => callerIn(sessionOf(request.headers.get('cookie') ?? undefined));
const inProcess: Record<string, (request: Request) => Promise<Response>> = {
  next: (request) =>
    gatewayRoute(gateway, { caller: byCookie }).POST(request, {
      params: Promise.resolve({ path: ['chat', 'completions'] }),
    }),
  bun: (request) =>
    gatewayFetch(gateway, { caller: byCookie })(request, {
      timeout: () => undefined,
      stop: async () => undefined,
    }) as Promise<Response>,
};

const ask = (headers: Record<string, string>) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] }),
});

async function expectCallers(send: (init: ReturnType<typeof ask>) => Promise<Response>): Promise<void> {
  users.length = 0;
  const sent: Record<string, string>[] = [
    { cookie: 'ada' },
    { cookie: 'eve' },
    { cookie: 'ada', authorization: `Bearer ${key}` },
  ];
  const statuses: number[] = [];
  for (const headers of sent) {
    const response = await send(ask(headers));
    statuses.push(response.status);
    await response.text();
  }
  expect([statuses, users]).toEqual([
    [200, 401, 200],
    ['ada', null],
  ]);
}

describe("the host app's own user", () => {
  it.each(Object.entries(listeners))('is found from the request of the framework: %s', async (_, listener) => {
    const host = await hostListener(listener(), '/v1');
    await expectCallers((init) => fetch(`${host.baseUrl}/chat/completions`, init));
    await host.close();
  });
  it.each(Object.entries(inProcess))('is found from the web request: %s', (_, handle) =>
    expectCallers((init) => handle(new Request('http://127.0.0.1/v1/chat/completions', init))),
  );
});
