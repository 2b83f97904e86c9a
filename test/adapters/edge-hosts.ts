import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import * as expressAdapter from '../../adapters/hosts/express.ts';
import * as koaAdapter from '../../adapters/hosts/koa.ts';
import { gatewayRoute } from '../../adapters/hosts/next.ts';
import { gatewayListener, serve } from '../../adapters/hosts/node.ts';
import type { Gateway } from '../../src/index.ts';
import type { Host } from '../contract/adapters/suite.ts';

/** Listens as docs/hosts.md says: with the same listener for requests that wait for `100 Continue`. */
async function hostApp(listener: RequestListener): Promise<Host> {
  const server: Server = createServer(listener).on('checkContinue', listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Calls the handlers as the app router does for `app/v1/[...path]/route.ts`. */
function appRouter(gateway: Gateway): Gateway['handle'] {
  const route = gatewayRoute(gateway);
  return (request) => {
    const path = new URL(request.url).pathname.slice('/v1/'.length).split('/');
    return route[request.method as keyof typeof route](request, { params: Promise.resolve({ path }) });
  };
}

/** Koa prints each request that its client has left. */
const quietKoa = () => Object.assign(new Koa(), { silent: true });

export const nextHost = (gateway: Gateway): Promise<Host> =>
  hostApp(gatewayListener({ basePath: gateway.basePath, handle: appRouter(gateway) }));

/** The hosts on node:http in which the gateway itself reads bodies. */
export const edgeHosts: Record<string, (gateway: Gateway) => Promise<Host>> = {
  serve: async (gateway) => {
    const { url, close } = await serve(gateway, { port: 0, drainMs: 0 });
    return { baseUrl: url, close: () => close() };
  },
  'node:http': (gateway) => hostApp(gatewayListener(gateway)),
  Express: (gateway) => hostApp(express().use('/v1', expressAdapter.gatewayMiddleware(gateway))),
  Koa: (gateway) => hostApp(quietKoa().use(koaAdapter.gatewayMiddleware(gateway)).callback()),
};

/** Those in which another part of the host reads bodies. */
export const otherHosts: typeof edgeHosts = {
  'Next, behind a bridge to node:http': nextHost,
  'Express after express.json()': (gateway) =>
    hostApp(
      express()
        .use(express.json({ limit: '100kb' }))
        .use('/v1', expressAdapter.gatewayMiddleware(gateway), expressAdapter.gatewayErrors(gateway)),
    ),
  'Koa after a body parser': (gateway) =>
    hostApp(quietKoa().use(bodyParser()).use(koaAdapter.gatewayMiddleware(gateway)).callback()),
};
