import type { IncomingMessage } from 'node:http';
import type { HandleContext, RequestHandler } from '../../src/index.ts';
import { type FastifyReply, type FastifyRequest, respondAs } from './fastify-reply.ts';
import { bodyFailureOf } from './shared/body-failure.ts';
import { findCaller, type WithCaller } from './shared/caller.ts';
import { besideOf } from './shared/mount.ts';

export type { FastifyReply, FastifyRequest };

/** Options of `gatewayPlugin`. */
export type GatewayPluginOptions<Request extends FastifyRequest = FastifyRequest> = WithCaller<Request>;

/** The part of a Fastify instance that we use. */
export interface FastifyScope {
  /** The path at which the plugin is registered, such as `/v1`. */
  prefix: string;
  /** Options of the app. */
  initialConfig: { bodyLimit?: number };
  /** Within the plugin, takes away the parsers of the app. */
  removeAllContentTypeParsers(): unknown;
  /** Within the plugin, adds a parser. */
  addContentTypeParser(
    type: string,
    parser: (request: FastifyRequest, payload: IncomingMessage) => Promise<unknown>,
  ): void;
  /** Within the plugin, handles errors. */
  setErrorHandler(handler: (error: unknown, request: FastifyRequest, reply: FastifyReply) => unknown): unknown;
  /** Adds a route. */
  route(options: {
    /** HTTP methods. */
    method: string[];
    /** A path pattern below the prefix. */
    url: string;
    /** Responds. */
    handler: (request: FastifyRequest, reply: FastifyReply) => unknown;
  }): unknown;
}

/** A plugin of Fastify. */
export type FastifyPlugin = (scope: FastifyScope, options: object, done: () => void) => void;

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

/**
 * The gateway as a plugin of Fastify 5: `app.register(gatewayPlugin(gateway), { prefix: '/v1' })`. Without a prefix it
 * serves the gateway's own `basePath`. Hooks of the app run before it. The gateway reads bodies itself, with its own
 * limits. It writes the response itself, so `onSend` hooks do not see it; headers that were set on the reply are sent.
 */
export function gatewayPlugin<Request extends FastifyRequest = FastifyRequest>(
  gateway: RequestHandler,
  options: GatewayPluginOptions<Request> = {},
): FastifyPlugin {
  return (scope, _, done) => {
    const below = scope.prefix === '' ? (gateway.basePath ?? '/v1') : '';
    // Not the text of the prefix: it may have parameters, such as /:tenant/v1.
    const beside = besideOf(below);
    const depth = (scope.prefix + below).split('/').length;
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', async ({ raw }, payload) =>
      payload === raw ? undefined : readPayload(payload, scope.initialConfig.bodyLimit ?? defaultBodyLimit),
    );
    const handle = (request: Request, reply: FastifyReply, bodyFailure?: HandleContext['bodyFailure']) => {
      const [path = ''] = (request.raw.url ?? '').split('?', 1);
      const found = path.split('/').slice(0, depth).join('/');
      // The gateway finds the paths beside its own `/v1` by itself.
      const basePath = found === beside ? below : found;
      return respondAs(gateway, request, reply, { basePath, bodyFailure, caller: findCaller(options, request) });
    };
    scope.setErrorHandler((error, request, reply) => {
      const bodyFailure = bodyFailureOf(error);
      if (bodyFailure === undefined) throw error;
      return handle(request as Request, reply, bodyFailure);
    });
    for (const url of [below || '/', `${below}/*`, ...(beside === null ? [] : [`${beside}/*`])])
      scope.route({ method: methods, url, handler: (request, reply) => handle(request as Request, reply) });
    done();
  };
}

const defaultBodyLimit = 1024 * 1024;

/** Reads what a `preParsing` hook has made of a body, such as one that was compressed, within Fastify's own limit. */
async function readPayload(payload: AsyncIterable<Uint8Array>, limitBytes: number): Promise<Buffer> {
  const buffers: Uint8Array[] = [];
  let size = 0;
  for await (const buffer of payload) {
    size += buffer.length;
    if (size > limitBytes)
      throw Object.assign(new Error('The body is too large'), { code: 'FST_ERR_CTP_BODY_TOO_LARGE' });
    buffers.push(buffer);
  }
  return Buffer.concat(buffers);
}
