import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import fastify from 'fastify';
import { gatewayFetch } from '../../adapters/hosts/bun.ts';
import { gatewayPlugin } from '../../adapters/hosts/fastify.ts';
import { gatewayMiddleware as nestMiddleware } from '../../adapters/hosts/nest.ts';
import { gatewayListener } from '../../adapters/hosts/node.ts';
import type { Gateway } from '../../src/index.ts';
import type { Host } from '../contract/adapters/suite.ts';
import { edgeHosts, nextHost } from './edge-hosts.ts';
import { hostListener } from './hosts.ts';

async function nest(gateway: Gateway, platform: ExpressAdapter | FastifyAdapter): Promise<Host> {
  const module = class {};
  Module({})(module);
  const app = await NestFactory.create(module, platform as never, { logger: false });
  app.use('/v1', nestMiddleware(gateway));
  await app.listen(0, '127.0.0.1');
  const server = app.getHttpServer();
  const close = async () => {
    server.closeAllConnections();
    await app.close();
  };
  return { baseUrl: `http://127.0.0.1:${server.address().port}/v1`, close };
}

/** All hosts in which the gateway reads bodies itself. */
export const readingHosts: typeof edgeHosts = {
  ...edgeHosts,
  'Next, behind a bridge to node:http': nextHost,
  Bun: (gateway) => {
    const handle = gatewayFetch(gateway);
    const server = { timeout: () => undefined, stop: async () => undefined };
    return hostListener(gatewayListener({ handle: (request) => handle(request, server) as Promise<Response> }), '/v1');
  },
  Fastify: async (gateway) => {
    const app = fastify().register(gatewayPlugin(gateway), { prefix: '/v1' });
    const baseUrl = `${await app.listen({ port: 0, host: '127.0.0.1' })}/v1`;
    const close = async () => {
      app.server.closeAllConnections();
      await app.close();
    };
    return { baseUrl, close };
  },
  'Nest on Express': (gateway) => nest(gateway, new ExpressAdapter()),
  'Nest on Fastify': (gateway) => nest(gateway, new FastifyAdapter()),
};
