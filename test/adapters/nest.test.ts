import 'reflect-metadata';
import { All, Controller, type MiddlewareConsumer, Module, Req, Res, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { describe, expect, it } from 'vitest';
import { gatewayHandler, gatewayMiddleware, type NestHandler } from '../../adapters/hosts/nest.ts';
import { createGateway } from '../../src/gateway.ts';
import type { RequestHandler } from '../../src/index.ts';
import { receive } from '../contract/adapters/client.ts';
import { adapterContract, type Host } from '../contract/adapters/suite.ts';

const platforms = { Express: () => new ExpressAdapter(), Fastify: () => new FastifyAdapter() };
type Platform = () => ExpressAdapter | FastifyAdapter;

interface App {
  use(...middleware: unknown[]): unknown;
  setGlobalPrefix(prefix: string): unknown;
  useBodyParser(type: string, options: object): unknown;
}

async function hostApp(platform: Platform, module: object, basePath: string, prepare = (_: App): void => {}) {
  const app = await NestFactory.create(module as never, platform() as never, { logger: false });
  prepare(app as unknown as App);
  await app.listen(0, '127.0.0.1');
  const server = app.getHttpServer();
  return {
    baseUrl: `http://127.0.0.1:${server.address().port}${basePath}`,
    close: async () => {
      server.closeAllConnections();
      await app.close();
    },
  } satisfies Host;
}

/** The decorators called as functions: the tests are run by a compiler that has none. */
function decorated<T extends object>(target: T, ...decorators: ClassDecorator[]): T {
  for (const decorate of decorators) decorate(target as never);
  return target;
}

const emptyModule = () => decorated(class {}, Module({}));

function moduleWith(gateway: RequestHandler, path: string) {
  return decorated(
    class {
      configure(consumer: MiddlewareConsumer) {
        consumer.apply(gatewayMiddleware(gateway)).forRoutes(path);
      }
    },
    Module({}),
  );
}

/** A module whose controller has the gateway behind a guard. */
function moduleWithController(handle: NestHandler, guard: (request: { headers: object; user?: string }) => boolean) {
  class GatewayController {
    handle(req: never, res: never) {
      return handle(req, res);
    }
  }
  const at = [GatewayController.prototype, 'handle'] as const;
  All(['v1', 'v1/*'])(...at, Object.getOwnPropertyDescriptor(...at) as PropertyDescriptor);
  Req()(...at, 0);
  Res()(...at, 1);
  decorated(
    GatewayController,
    Controller(),
    UseGuards({ canActivate: (context) => guard(context.switchToHttp().getRequest()) }),
  );
  return decorated(class {}, Module({ controllers: [GatewayController] }));
}

describe.each(Object.entries(platforms) as [string, Platform][])('Nest', (name, platform) => {
  adapterContract(`on ${name}, app.use`, {
    start: (gateway) =>
      hostApp(platform, emptyModule(), '/v1', (app) => void app.use('/v1', gatewayMiddleware(gateway))),
  });
  adapterContract(`on ${name}, app.use at the root`, {
    start: (gateway) => hostApp(platform, emptyModule(), '/v1', (app) => void app.use(gatewayMiddleware(gateway))),
  });
  adapterContract(`on ${name}, the middleware of a module`, {
    parsesBody: name === 'Express',
    limitBytes: 100_000,
    start: (gateway) => hostApp(platform, moduleWith(gateway, 'v1/*path'), '/v1'),
  });
  adapterContract(`on ${name}, a controller below a global prefix`, {
    parsesBody: true,
    limitBytes: 100_000,
    start: (gateway) =>
      hostApp(
        platform,
        moduleWithController(gatewayHandler(gateway, { basePath: '/api/v1' }), () => true),
        '/api/v1',
        (app) => void app.setGlobalPrefix('api'),
      ),
  });

  it(`knows the users that a guard has found: ${name}`, async () => {
    const users: (string | null)[] = [];
    const gateway = createGateway({
      providers: { sandbox: {} },
      authenticate: 'host',
      onRecord: ({ userId }) => void users.push(userId),
    });
    const handle = gatewayHandler(gateway, {
      caller: (request) => ({ userId: (request as { user?: string }).user ?? null, permissions: ['inference'] }),
    });
    const module = moduleWithController(handle, (request) => {
      const { cookie } = request.headers as { cookie?: string };
      if (cookie === 'ada') request.user = 'ada';
      return cookie === 'ada';
    });
    const { baseUrl, close } = await hostApp(platform, module, '/v1');
    const body = JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] });
    const ask = (cookie: string) => receive(`${baseUrl}/chat/completions`, { headers: { cookie }, body });
    expect([(await ask('ada')).status, (await ask('eve')).status, users]).toEqual([200, 403, ['ada']]);
    await close();
    await gateway.close();
  });
});
