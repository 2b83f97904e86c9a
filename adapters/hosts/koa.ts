import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from '../../src/index.ts';
import { findCaller, type WithCaller } from './caller.ts';
import { NodeExchange, respond } from './exchange.ts';
import { findMount, locate } from './mount.ts';
import { parsedBody } from './request-body.ts';

/** Options of `gatewayMiddleware`. */
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
  return async (context, next) => {
    const { req, res, url, originalUrl, request } = context;
    const place = locate(
      gateway,
      { mountedAt: findMount(originalUrl, context.path), url, originalUrl },
      options.prefix,
    );
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
