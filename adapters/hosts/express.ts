import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HandleContext, RequestHandler } from '../../src/index.ts';
import { findCaller, type WithCaller } from './caller.ts';
import { NodeExchange, respond } from './exchange.ts';
import { locate } from './mount.ts';
import { parsedBody } from './request-body.ts';

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

/** The meanings of the errors of `express.json()` and its relatives, by `type`. */
const failures: Readonly<Record<string, HandleContext['bodyFailure']>> = {
  'entity.parse.failed': 'malformed',
  'request.size.invalid': 'malformed',
  'entity.too.large': 'too_large',
  'charset.unsupported': 'unsupported',
};

/** A parser that does not know how a body is compressed leaves it alone. */
const isUnread = 'encoding.unsupported';

/** The codes of `node:zlib`'s errors, which the parser passes on without a type. */
const isOfZlib = /^(?:Z_|ZSTD_|ERR__)/;

function failureOf({ type, code }: { type?: unknown; code?: unknown }): HandleContext['bodyFailure'] {
  return failures[String(type)] ?? (isOfZlib.test(String(code)) ? 'damaged' : undefined);
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
 * @param options  as of `gatewayMiddleware`
 */
export function gatewayErrors<Request extends ExpressRequest = ExpressRequest>(
  gateway: RequestHandler,
  options: GatewayMiddlewareOptions<Request> = {},
): ExpressErrorMiddleware {
  return (error, req, res, next) => {
    const given = (error ?? {}) as { type?: unknown; code?: unknown };
    const bodyFailure = failureOf(given);
    const place = placeOf(gateway, req, options);
    const isOurs = bodyFailure !== undefined || (given.type === isUnread && !req.readableDidRead);
    if (!isOurs || place === undefined || res.headersSent) return next(error);
    const caller = findCaller(options, req as Request);
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
  return (req, res, next) => {
    const place = placeOf(gateway, req, options);
    if (place === undefined) return next();
    const body = parsedBody(req, req.body);
    const caller = findCaller(options, req as Request);
    void respond(gateway, new NodeExchange(req, res, place.url), { basePath: place.basePath, body, caller });
  };
}
