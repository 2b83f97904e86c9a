import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from '../src/index.ts';
import { answer, NodeExchange } from './exchange.ts';
import { findMount, locate, parsedBody } from './mount.ts';

export interface GatewayMiddlewareOptions {
  /**
   * The path of the gateway below the mount, such as `/v1`; `''` takes everything. Requests outside it go to the next
   * middleware. Default: everything below a `koa-mount`, and below the gateway's own
   * `basePath` where the middleware is not mounted.
   */
  prefix?: string;
}

/** What of a Koa context is used: a structural type, so that Koa is no dependency. */
export interface KoaContext {
  req: IncomingMessage;
  res: ServerResponse;
  path: string;
  url: string;
  originalUrl: string;
  /** Where a body parser leaves `body`. */
  request: object;
  respond?: boolean;
}

/** Generic, so that `app.use` does not take the context's type for an extension of the app's own. */
export type KoaMiddleware = <C extends KoaContext>(context: C, next: () => Promise<unknown>) => Promise<void>;

/**
 * The gateway as middleware of Koa 3: `app.use(gatewayMiddleware(gateway, { prefix: '/v1' }))`. Works with and without
 * a body parser before it. Writes the response itself, so middleware that replaces `ctx.body` has no part in it.
 */
export function gatewayMiddleware(gateway: RequestHandler, options: GatewayMiddlewareOptions = {}): KoaMiddleware {
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
    await answer(gateway, new NodeExchange(req, res, place.url), { basePath: place.basePath, body });
  };
}
