import type { Readiness } from '../../src/index.ts';

/** The state that probes of a gateway's server ask for. */
export interface HealthSource {
  /** Absent: the server is ready as long as it listens. */
  ready?(): Promise<Readiness>;
}

/** The answer to a probe, as JSON. */
export interface HealthAnswer {
  status: 200 | 503;
  body: string;
}

/**
 * `/healthz`: the process answers. `/readyz`: it can serve requests, and is not about to stop. They need no key, and say
 * nothing but why a request would fail.
 * @returns null: the path is none of them
 */
export function healthOf(source: HealthSource, url: string, isStopping: boolean): Promise<HealthAnswer> | null {
  const end = url.indexOf('?');
  const path = end === -1 ? url : url.slice(0, end);
  if (path === '/healthz') return Promise.resolve({ status: 200, body: '{"status":"ok"}' });
  return path === '/readyz' ? readinessOf(source, isStopping) : null;
}

async function readinessOf(source: HealthSource, isStopping: boolean): Promise<HealthAnswer> {
  if (isStopping) return notReady(['The server is stopping']);
  const { isReady, reasons } = (await source.ready?.()) ?? { isReady: true, reasons: [] };
  return isReady ? { status: 200, body: '{"status":"ready"}' } : notReady(reasons);
}

function notReady(reasons: readonly string[]): HealthAnswer {
  return { status: 503, body: JSON.stringify({ status: 'not_ready', reasons }) };
}

/** No cache may answer in our place. */
export const healthHeaders = { 'content-type': 'application/json', 'cache-control': 'no-store' } as const;
