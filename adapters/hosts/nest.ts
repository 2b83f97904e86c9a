import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from '../../src/index.ts';
import { findCaller, type WithCaller } from './caller.ts';
import { NodeExchange, respond } from './exchange.ts';
import { type FastifyReply, type FastifyRequest, respondAs } from './fastify-reply.ts';
import { findMount, locate } from './mount.ts';
import { parsedBody } from './request-body.ts';

/** Options of `gatewayMiddleware`. */
export interface GatewayMiddlewareOptions<Request extends NestRequest = NestRequest> extends WithCaller<Request> {
  /**
   * The path of the gateway below the mount, such as `/llm`; `''` takes all requests. Other requests go to the next
   * middleware. Default: everything below `app.use('/v1', …)`, or, without a mount, everything below the gateway's own
   * `basePath`.
   */
  prefix?: string;
}

/** The request in middleware: that of Express, or, on Fastify, the `IncomingMessage`. */
export interface NestRequest extends IncomingMessage {
  /** The URL as the client sent it. */
  originalUrl?: string;
  /** The part of its path that middleware is mounted at. */
  baseUrl?: string;
  /** The body that a parser of the app has read. */
  body?: unknown;
}

/** Middleware of Nest, on Express and on Fastify. */
export type NestMiddleware = (req: NestRequest, res: ServerResponse, next: (error?: unknown) => void) => void;

/**
 * The gateway as middleware of Nest, on Express and on Fastify: `app.use('/v1', gatewayMiddleware(gateway))` in
 * `main.ts`, or `consumer.apply(gatewayMiddleware(gateway)).forRoutes('v1/*path')` in a module. Guards, pipes and
 * interceptors come after middleware; `gatewayHandler` comes after them.
 */
export function gatewayMiddleware<Request extends NestRequest = NestRequest>(
  gateway: RequestHandler,
  options: GatewayMiddlewareOptions<Request> = {},
): NestMiddleware {
  return (req, res, next) => {
    const { url = '/', originalUrl = url, baseUrl } = req;
    const [path = ''] = url.split('?', 1);
    // Where a module names its paths with a wildcard, Nest takes the complete path for the mount.
    const isWildcard = (path === '/' || path === '') && originalUrl !== url;
    const mount = isWildcard
      ? { mountedAt: '', url: originalUrl, originalUrl }
      : { mountedAt: baseUrl ?? findMount(originalUrl, path), url, originalUrl };
    const place = locate(gateway, mount, options.prefix);
    if (place === undefined) return next();
    const body = parsedBody(req, req.body);
    const caller = findCaller(options, req as Request);
    void respond(gateway, new NodeExchange(req, res, place.url), { basePath: place.basePath, body, caller });
  };
}

/** The request that a controller gets by `@Req()`: that of Express or of Fastify. */
export type HandlerRequest = NestRequest | FastifyRequest;

/** Options of `gatewayHandler`. */
export interface GatewayHandlerOptions<Request extends HandlerRequest = HandlerRequest> extends WithCaller<Request> {
  /** The path of the controller, with the global prefix, without a trailing slash. Default: the gateway's own. */
  basePath?: string;
}

/** The function that a method of a controller calls with `@Req()` and `@Res()`. */
export type NestHandler = (req: HandlerRequest, res: ServerResponse | FastifyReply) => Promise<void>;

/**
 * The gateway for a controller, behind the guards of the app, on Express and on Fastify. The controller passes on
 * `@Req()` and `@Res()`: `@All(['v1', 'v1/*']) handle(@Req() req, @Res() res) { return this.answer(req, res); }`.
 * @returns  settles, and never rejects, when the response has been handed to the socket or the client has left
 */
export function gatewayHandler<Request extends HandlerRequest = HandlerRequest>(
  gateway: RequestHandler,
  options: GatewayHandlerOptions<Request> = {},
): NestHandler {
  return (req, res) => {
    const context = { basePath: options.basePath, caller: findCaller(options, req as Request) };
    if ('raw' in req) return respondAs(gateway, req, res as FastifyReply, context);
    const body = parsedBody(req, req.body);
    return respond(gateway, new NodeExchange(req, res as ServerResponse, req.originalUrl), { ...context, body });
  };
}
