import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from '../../src/index.ts';
import { NodeExchange, respond } from './exchange.ts';
import { bodyFailureOf, isUnreadBody } from './shared/body-failure.ts';
import { findCaller, findMountedCaller, rememberCaller, type WithCaller } from './shared/caller.ts';
import { findMount, locate } from './shared/mount.ts';
import { parsedBody } from './shared/request-body.ts';

/** Options of `gatewayMiddleware` and `gatewayErrors`. */
export interface GatewayMiddlewareOptions<Context extends KoaContext = KoaContext> extends WithCaller<Context> {
  /**
   * The path of the gateway below the mount, such as `/v1`; `''` takes all requests. Other requests go to the next
   * middleware. Default: everything below a `koa-mount`, or, without a mount, everything below the gateway's own
   * `basePath`.
   */
  prefix?: string;
}

/** The part of a Koa context that we use: a structural type, so that Koa is no dependency. */
export interface KoaContext {
  /** Node's own request. */
  req: IncomingMessage;
  /** Node's own response. */
  res: ServerResponse;
  /** The path, without what a mount took off. */
  path: string;
  /** The same with its query. */
  url: string;
  /** The path as the client sent it. */
  originalUrl: string;
  /** A body parser stores `body` here. */
  request: object;
  /** false: the gateway sends the response itself. */
  respond?: boolean;
}

/** Generic, so that `app.use` does not read the context's type as an extension of the app's own. */
export type KoaMiddleware = <C extends KoaContext>(context: C, next: () => Promise<unknown>) => Promise<void>;

/**
 * The gateway as middleware of Koa 3: `app.use(gatewayMiddleware(gateway, { prefix: '/v1' }))`. Works with and without
 * a body parser before it. Writes the response itself, so middleware that replaces `ctx.body` has no effect on it.
 */
export function gatewayMiddleware<Context extends KoaContext = KoaContext>(
  gateway: RequestHandler,
  options: GatewayMiddlewareOptions<Context> = {},
): KoaMiddleware {
  rememberCaller(gateway, options);
  return async (context, next) => {
    const { req, res, request } = context;
    const place = placeOf(gateway, context, options);
    if (place === undefined) {
      await next();
      return;
    }
    context.respond = false;
    const body = 'body' in request ? parsedBody(req, request.body) : undefined;
    const caller = findCaller(options, context as unknown as Context);
    await respond(gateway, new NodeExchange(req, res, place.url), { basePath: place.basePath, body, caller });
  };
}

/**
 * Middleware for a gateway behind a body parser, to be used before the parser: `app.use(gatewayErrors(gateway))`.
 * Requests to the gateway whose body the parser refused, such as JSON with a mistake, then get the gateway's error
 * instead of a text. A body whose compression the parser does not know is read by the gateway. All other errors go on.
 * @param options  as of `gatewayMiddleware`; without `caller`, the one of the gateway's middleware with the same prefix
 */
export function gatewayErrors<Context extends KoaContext = KoaContext>(
  gateway: RequestHandler,
  options: GatewayMiddlewareOptions<Context> = {},
): KoaMiddleware {
  return async (context, next) => {
    // A mount changes the path while its middleware runs.
    const place = placeOf(gateway, context, options);
    try {
      await next();
    } catch (error) {
      const { req, res } = context;
      const bodyFailure = bodyFailureOf(error);
      const isOurs = bodyFailure !== undefined || (isUnreadBody(error) && !req.readableDidRead);
      if (!isOurs || place === undefined || res.headersSent) throw error;
      context.respond = false;
      const caller = findMountedCaller(gateway, options, context as unknown as Context);
      await respond(gateway, new NodeExchange(req, res, place.url), { basePath: place.basePath, bodyFailure, caller });
    }
  };
}

function placeOf(gateway: RequestHandler, { path, url, originalUrl }: KoaContext, { prefix }: { prefix?: string }) {
  return locate(gateway, { mountedAt: findMount(originalUrl, path), url, originalUrl }, prefix);
}
