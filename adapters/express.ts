import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from '../src/index.ts';
import { NodeExchange, respond } from './exchange.ts';
import { locate, parsedBody } from './mount.ts';

export interface GatewayMiddlewareOptions {
  /**
   * The path of the gateway below the mount, such as `/llm`; `''` takes all requests. Other requests go to the next
   * middleware. Default: everything below `app.use('/v1', …)`, or, if the middleware is mounted at the root, everything
   * below the gateway's own `basePath`.
   */
  prefix?: string;
}

/** The part of an Express request that we use: a structural type, so that Express is no dependency. */
export interface ExpressRequest extends IncomingMessage {
  originalUrl: string;
  baseUrl: string;
  url: string;
  body?: unknown;
}

export type ExpressMiddleware = (req: ExpressRequest, res: ServerResponse, next: (error?: unknown) => void) => void;

/**
 * The gateway as middleware of Express 5 or 4: `app.use('/v1', gatewayMiddleware(gateway))`. Works before and after
 * `express.json()`. After it, the size limit of `express.json()` applies; before it, the gateway's own limit.
 */
export function gatewayMiddleware(gateway: RequestHandler, options: GatewayMiddlewareOptions = {}): ExpressMiddleware {
  return (req, res, next) => {
    const mount = { mountedAt: req.baseUrl, url: req.url, originalUrl: req.originalUrl };
    const place = locate(gateway, mount, options.prefix);
    if (place === undefined) return next();
    const body = parsedBody(req, req.body);
    void respond(gateway, new NodeExchange(req, res, place.url), { basePath: place.basePath, body });
  };
}
