import 'reflect-metadata';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { All, Catch, Controller, Module, Req, Res } from '@nestjs/common';
import { BaseExceptionFilter, HttpAdapterHost, NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import express from 'express';
import fastify from 'fastify';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import mount from 'koa-mount';
import { describe, expect, it } from 'vitest';
import * as expressAdapter from '../../adapters/hosts/express.ts';
import { gatewayPlugin } from '../../adapters/hosts/fastify.ts';
import * as koaAdapter from '../../adapters/hosts/koa.ts';
import { gatewayErrors, gatewayHandler, type NestArgumentsHost } from '../../adapters/hosts/nest.ts';
import { createGateway } from '../../src/gateway.ts';
import type { Gateway, HostCaller } from '../../src/index.ts';
import { receive } from '../contract/adapters/client.ts';
import type { Host } from '../contract/adapters/suite.ts';

/** Knows its users by a cookie, as the session of an app does. */
const userOf = (cookie: unknown): HostCaller | null =>
  cookie === 'ada' ? { userId: 'ada', permissions: ['inference'] } : null;
const callerOf = ({ headers }: { headers: object }) => userOf((headers as { cookie?: string }).cookie);

async function listen(listener: RequestListener): Promise<Host> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** As docs/hosts.md shows it, without the syntax of decorators. */
async function nest(gateway: Gateway, adapter: ExpressAdapter | FastifyAdapter): Promise<Host> {
  const caller = (request: object) => callerOf('raw' in request ? (request.raw as never) : (request as never));
  const handle = gatewayHandler(gateway, { caller });
  const answer = gatewayErrors(gateway);
  class GatewayController {
    handle(req: never, res: never) {
      return handle(req, res);
    }
    own(_: never, res: { send(text: string): void }) {
      res.send('own');
    }
  }
  for (const [name, paths] of [
    ['handle', ['v1', 'v1/*']],
    ['own', ['own']],
  ] as const) {
    const at = [GatewayController.prototype, name] as const;
    All([...paths])(...at, Object.getOwnPropertyDescriptor(...at) as PropertyDescriptor);
    Req()(...at, 0);
    Res()(...at, 1);
  }
  Controller()(GatewayController);
  class GatewayFilter extends BaseExceptionFilter {
    override catch(exception: unknown, host: never) {
      if (!answer(exception, host as NestArgumentsHost)) super.catch(exception, host);
    }
  }
  Catch()(GatewayFilter);
  class AppModule {}
  Module({ controllers: [GatewayController] })(AppModule);
  const app = await NestFactory.create(AppModule, adapter as never, { logger: false });
  app.useGlobalFilters(new GatewayFilter(app.get(HttpAdapterHost).httpAdapter));
  await app.listen(0, '127.0.0.1');
  const server = app.getHttpServer();
  return {
    baseUrl: `http://127.0.0.1:${server.address().port}`,
    close: async () => {
      server.closeAllConnections();
      await app.close();
    },
  };
}

/** Hosts whose own parser reads the body, in which only the middleware knows the caller. */
const hosts: Record<string, (gateway: Gateway) => Promise<Host>> = {
  Express: (gateway) => {
    const app = express().use(express.json({ limit: '100kb' }));
    const gatewayApp = expressAdapter.gatewayMiddleware(gateway, { caller: callerOf });
    app.use('/v1', gatewayApp, expressAdapter.gatewayErrors(gateway));
    return listen(app);
  },
  Koa: (gateway) => {
    const app = Object.assign(new Koa(), { silent: true });
    app.use(koaAdapter.gatewayErrors(gateway)).use(bodyParser({ jsonLimit: '100kb' }));
    return listen(app.use(koaAdapter.gatewayMiddleware(gateway, { caller: ({ req }) => callerOf(req) })).callback());
  },
  'Koa with a mount': (gateway) => {
    const app = Object.assign(new Koa(), { silent: true });
    const prefix = '';
    app.use(mount('/v1', koaAdapter.gatewayErrors(gateway, { prefix })));
    app.use(bodyParser({ jsonLimit: '100kb' }));
    app.use(mount('/v1', koaAdapter.gatewayMiddleware(gateway, { prefix, caller: ({ req }) => callerOf(req) })));
    return listen(app.callback());
  },
  'Nest on Express': (gateway) => nest(gateway, new ExpressAdapter()),
  'Nest on Fastify': (gateway) => nest(gateway, new FastifyAdapter({ bodyLimit: 100_000 })),
  Fastify: async (gateway) => {
    const app = fastify();
    app.register(gatewayPlugin(gateway, { caller: ({ raw }) => callerOf(raw) }), { prefix: '/v1' });
    return { baseUrl: await app.listen({ port: 0, host: '127.0.0.1' }), close: () => app.close() };
  },
};

describe.each(Object.entries(hosts))('%s: a body that the parser of the host refuses', (name, open) => {
  it('gets the error of the gateway, for the user whom only the middleware knows', async () => {
    const gateway = createGateway({ providers: { sandbox: {} }, authenticate: 'host' });
    const { baseUrl, close } = await open(gateway);
    const ask = (body: string | Uint8Array, headers: Record<string, string> = {}) =>
      receive(`${baseUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { cookie: 'ada', 'content-type': 'application/json', ...headers },
        body: body as string,
      });
    const errorOf = async (body: string | Uint8Array, headers?: Record<string, string>) => {
      const { status, text } = await ask(body, headers);
      const { error } = JSON.parse(text);
      expect(error).toMatchObject({ code: status, message: expect.any(String) });
      return [status, error.metadata.error_type];
    };
    const good = JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] });
    expect((await ask(good)).status).toBe(200);
    expect(await errorOf('{"model": "sandbox/echo",')).toEqual([400, 'invalid_request']);
    expect(await errorOf('nonsense')).toEqual([400, 'invalid_request']);
    // Fastify's plugin reads bodies itself, with the gateway's own limit.
    if (name !== 'Fastify') expect(await errorOf(`"${'x'.repeat(200_000)}"`)).toEqual([413, 'payload_too_large']);
    const damaged = Buffer.from('damaged');
    if (name !== 'Nest on Fastify')
      expect((await errorOf(damaged, { 'content-encoding': 'gzip' }))[0]).toBeOneOf([400, 415]);
    // Nobody: the error says who is missing, and not what is wrong with the body.
    expect(await errorOf('{"model":', { cookie: 'eve' })).toEqual([401, 'authentication']);
    await close();
    await gateway.close();
  });
});

it('leaves errors of other paths and other errors to the host', async () => {
  const gateway = createGateway({ providers: { sandbox: {} }, authenticate: 'host' });
  const own = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"a":' };
  for (const name of ['Express', 'Koa', 'Nest on Express', 'Nest on Fastify']) {
    const { baseUrl, close } = await (hosts[name] as (typeof hosts)[string])(gateway);
    const { status, text } = await receive(`${baseUrl}/own`, own);
    expect([name, status]).toEqual([name, 400]);
    expect(text).not.toContain('error_type');
    await close();
  }
  await gateway.close();
});

it('asks nobody where two middlewares of one gateway have the same prefix and other users', async () => {
  const gateway = createGateway({ providers: { sandbox: {} }, authenticate: 'host' });
  const app = express().use(express.json());
  for (const [path, userId] of [
    ['/a', 'ada'],
    ['/b', 'bob'],
  ] as const) {
    const caller = (): HostCaller => ({ userId, permissions: ['inference'] });
    app.use(path, expressAdapter.gatewayMiddleware(gateway, { caller }), expressAdapter.gatewayErrors(gateway));
  }
  const { baseUrl, close } = await listen(app);
  const broken = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"a":' };
  expect((await receive(`${baseUrl}/a/chat/completions`, broken)).status).toBe(401);
  await close();
  await gateway.close();
});
