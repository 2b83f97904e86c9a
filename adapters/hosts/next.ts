import type { RequestHandler } from '../../src/index.ts';
import { findCaller, type WithCaller } from './shared/caller.ts';

/** Options of `gatewayRoute`. */
export interface GatewayRouteOptions extends WithCaller<Request> {
  /** The path of the folder that holds the catch-all folder, such as `/api/v1`. Default: found from each request. */
  basePath?: string;
}

/** The context that Next 15 and later pass to a route handler. `params` holds one array: the caught segments. */
export interface RouteContext {
  /** Parameters of the route. */
  params: Promise<object>;
}

/** A route handler of the app router. */
export type RouteHandler = (request: Request, context: RouteContext) => Promise<Response>;

/** A route handler for each HTTP method. */
export type GatewayRoute = Record<(typeof methods)[number], RouteHandler>;

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const;

/**
 * The exports of a catch-all route of the app router, `app/api/v1/[...path]/route.ts`:
 * `export const { GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS } = gatewayRoute(gateway)`.
 */
export function gatewayRoute(gateway: RequestHandler, options: GatewayRouteOptions = {}): GatewayRoute {
  const handle: RouteHandler = async (request, context) =>
    gateway.handle(request, {
      basePath: options.basePath ?? findBasePath(request, await context.params),
      caller: findCaller(options, request),
    });
  return { GET: handle, POST: handle, PUT: handle, PATCH: handle, DELETE: handle, HEAD: handle, OPTIONS: handle };
}

/** The path without the caught segments. Counts the segments instead of comparing them: they may be decoded. */
function findBasePath(request: Request, params: object): string {
  const caught = Object.values(params).find(Array.isArray) ?? [];
  const segments = new URL(request.url).pathname.replace(/\/$/, '').split('/');
  return segments.slice(0, segments.length - caught.length).join('/');
}
