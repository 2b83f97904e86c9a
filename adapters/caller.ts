import type { FindHostCaller, HostCaller } from '../src/index.ts';

/**
 * Who asks, found from a request as the framework has it, such as by its session; nothing: nobody whom the host app
 * knows.
 */
export type CallerOf<Request> = (request: Request) => Found | Promise<Found>;

type Found = HostCaller | null | undefined;

/** An option of every adapter. */
export interface WithCaller<Request> {
  /**
   * The host app's own user. It is asked about requests without a known API key; see `authenticate` of `createGateway`,
   * which only sees a web `Request`.
   */
  caller?: CallerOf<Request>;
}

export function findCaller<Request>({ caller }: WithCaller<Request>, request: Request): FindHostCaller | undefined {
  return caller && (async () => (await caller(request)) ?? null);
}
