import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from '../../src/index.ts';
import { NodeExchange, respond } from './exchange.ts';
import { type FastifyReply, type FastifyRequest, respondAs } from './fastify-reply.ts';
import { bodyFailureOf, isUnreadBody } from './shared/body-failure.ts';
import { findCaller, findMountedCaller, rememberCaller, type WithCaller } from './shared/caller.ts';
import { findMount, locate } from './shared/mount.ts';
import { parsedBody } from './shared/request-body.ts';

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
  rememberCaller(gateway, options);
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

/** Options of `gatewayHandler` and `gatewayErrors`. */
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
  rememberCaller(gateway, { prefix: options.basePath, caller: options.caller });
  return (req, res) => {
    const context = { basePath: options.basePath, caller: findCaller(options, req as Request) };
    if ('raw' in req) return respondAs(gateway, req, res as FastifyReply, context);
    const body = parsedBody(req, req.body);
    return respond(gateway, new NodeExchange(req, res as ServerResponse, req.originalUrl), { ...context, body });
  };
}

/** The part of Nest's `ArgumentsHost` that we use. */
export interface NestArgumentsHost {
  /** The request and the response of HTTP. */
  switchToHttp(): {
    /** The request. */
    getRequest(): HandlerRequest;
    /** The response. */
    getResponse(): ServerResponse | FastifyReply;
  };
}

/** Answers an exception. @returns false: it is not of the gateway, and Nest answers it */
export type NestErrors = (exception: unknown, host: NestArgumentsHost) => boolean;

/**
 * The answer to exceptions for a gateway behind Nest's body parser, for an exception filter: `catch(exception, host) {
 * if (!this.answer(exception, host)) super.catch(exception, host); }`. Requests to the gateway whose body the parser
 * refused, such as JSON with a mistake, then get the gateway's error instead of Nest's.
 * @param options  as of `gatewayHandler`; without `caller`, the one of the handler with the same `basePath`
 */
export function gatewayErrors<Request extends HandlerRequest = HandlerRequest>(
  gateway: RequestHandler,
  options: GatewayHandlerOptions<Request> = {},
): NestErrors {
  const { basePath = gateway.basePath ?? '/v1', caller: given } = options;
  return (exception, host) => {
    // Nest wraps what the parser has thrown.
    const error = (exception as { cause?: unknown } | null)?.cause ?? exception;
    const bodyFailure = bodyFailureOf(error);
    const http = host.switchToHttp();
    const req = http.getRequest();
    const response = http.getResponse();
    const isFastify = 'raw' in response;
    const raw = 'raw' in req ? req.raw : req;
    const url = (req as { originalUrl?: string }).originalUrl ?? raw.url ?? '/';
    const [path = ''] = url.split('?', 1);
    const isOurs = bodyFailure !== undefined || (isUnreadBody(error) && !raw.readableDidRead);
    const isBelow = path === basePath || path.startsWith(`${basePath}/`);
    if (!isOurs || !isBelow || (isFastify ? response.raw : response).headersSent) return false;
    const mounted = { prefix: options.basePath, ...(given && { caller: given }) };
    const context = { basePath, bodyFailure, caller: findMountedCaller(gateway, mounted, req as Request) };
    if (isFastify) void respondAs(gateway, req as FastifyRequest, response, context);
    else void respond(gateway, new NodeExchange(req as IncomingMessage, response, url), context);
    return true;
  };
}
