import type { FindHostCaller, HostCaller } from '../../src/index.ts';

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

export function findCaller<Request>({ caller }: WithCaller<Request>, request: Request): FindHostCaller | undefined {
  return caller && (async () => (await caller(request)) ?? null);
}
