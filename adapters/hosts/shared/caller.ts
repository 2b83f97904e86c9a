import type { FindHostCaller, HostCaller } from '../../../src/index.ts';

/**
 * Finds the caller in the framework's own request, such as by its session; nothing: the host app does not know the
 * caller.
 */
export type CallerOf<Request> = (request: Request) => Found | Promise<Found>;

type Found = HostCaller | null | undefined;

/** An option of every adapter. */
export interface WithCaller<Request> {
  /**
   * Finds the host app's own user. It is called for requests without a known API key; see `authenticate` of
   * `createGateway`, which only sees a web `Request`.
   */
  caller?: CallerOf<Request>;
}

/** The callers of the middlewares of a gateway, by their prefix; null: several that differ have the same one. */
const ofMiddleware = new WeakMap<object, Map<string | undefined, CallerOf<never> | null | undefined>>();

interface Mounted<Request> extends WithCaller<Request> {
  prefix?: string | undefined;
}

/** Notes the caller of a middleware, for the function that answers the errors in front of it. */
export function rememberCaller<Request>(gateway: object, { prefix, caller }: Mounted<Request>): void {
  const known = ofMiddleware.get(gateway) ?? new Map();
  ofMiddleware.set(gateway, known);
  known.set(prefix, known.has(prefix) && known.get(prefix) !== caller ? null : caller);
}

/** The caller that is given, or else that of the middleware with the same prefix. */
export function findMountedCaller<Request>(
  gateway: object,
  { prefix, caller }: Mounted<Request>,
  request: Request,
): FindHostCaller | undefined {
  const known = caller ?? (ofMiddleware.get(gateway)?.get(prefix) as CallerOf<Request> | null | undefined);
  return findCaller(known ? { caller: known } : {}, request);
}

export function findCaller<Request>({ caller }: WithCaller<Request>, request: Request): FindHostCaller | undefined {
  return caller && (async () => (await caller(request)) ?? null);
}
