import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from '../../src/index.ts';
import { NodeExchange, respond } from './exchange.ts';
import { bodyFailureOf, isUnreadBody } from './shared/body-failure.ts';
import { findCaller, findMountedCaller, rememberCaller, type WithCaller } from './shared/caller.ts';
import { locate } from './shared/mount.ts';
import { parsedBody } from './shared/request-body.ts';

/** Options of `gatewayMiddleware` and `gatewayErrors`. */
export interface GatewayMiddlewareOptions<Request extends ExpressRequest = ExpressRequest> extends WithCaller<Request> {
  /**
   * The path of the gateway below the mount, such as `/llm`; `''` takes all requests. Other requests go to the next
   * middleware. Default: everything below `app.use('/v1', …)`, or, if the middleware is mounted at the root, everything
   * below the gateway's own `basePath`.
   */
  prefix?: string;
}

/** The part of an Express request that we use: a structural type, so that Express is no dependency. */
export interface ExpressRequest extends IncomingMessage {
  /** The path as the client sent it. */
  originalUrl: string;
  /** The part of the path that Express has removed. */
  baseUrl: string;
  /** The rest of the path. */
  url: string;
  /** The body, where a parser has read it. */
  body?: unknown;
}

/** Error middleware of Express. */
export type ExpressErrorMiddleware = (
  error: unknown,
  req: ExpressRequest,
  res: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/**
 * Error middleware for a gateway after `express.json()`: `app.use('/v1', gatewayMiddleware(gateway),
 * gatewayErrors(gateway))`. Requests to the gateway whose body the parser refused, such as JSON with a mistake, then
 * get the gateway's error instead of a page of Express. A body whose compression the parser does not know is read by the
 * gateway. All other errors go on.
 * @param options  as of `gatewayMiddleware`; without `caller`, the one of the gateway's middleware with the same prefix
 */
export function gatewayErrors<Request extends ExpressRequest = ExpressRequest>(
  gateway: RequestHandler,
  options: GatewayMiddlewareOptions<Request> = {},
): ExpressErrorMiddleware {
  return (error, req, res, next) => {
    const bodyFailure = bodyFailureOf(error);
    const place = placeOf(gateway, req, options);
    const isOurs = bodyFailure !== undefined || (isUnreadBody(error) && !req.readableDidRead);
    if (!isOurs || place === undefined || res.headersSent) return next(error);
    const caller = findMountedCaller(gateway, options, req as Request);
    void respond(gateway, new NodeExchange(req, res, place.url), { basePath: place.basePath, bodyFailure, caller });
  };
}

function placeOf(gateway: RequestHandler, req: ExpressRequest, { prefix }: { prefix?: string }) {
  return locate(gateway, { mountedAt: req.baseUrl, url: req.url, originalUrl: req.originalUrl }, prefix);
}

/** Middleware of Express. */
export type ExpressMiddleware = (req: ExpressRequest, res: ServerResponse, next: (error?: unknown) => void) => void;

/**
 * The gateway as middleware of Express 5 or 4: `app.use('/v1', gatewayMiddleware(gateway))`. Works before and after
 * `express.json()`. After it, the size limit of `express.json()` applies; before it, the gateway's own limit.
 */
export function gatewayMiddleware<Request extends ExpressRequest = ExpressRequest>(
  gateway: RequestHandler,
  options: GatewayMiddlewareOptions<Request> = {},
): ExpressMiddleware {
  rememberCaller(gateway, options);
  return (req, res, next) => {
    const place = placeOf(gateway, req, options);
    if (place === undefined) return next();
    const body = parsedBody(req, req.body);
    const caller = findCaller(options, req as Request);
    void respond(gateway, new NodeExchange(req, res, place.url), { basePath: place.basePath, body, caller });
  };
}
