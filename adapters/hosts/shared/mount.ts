import type { RequestHandler } from '../../../src/index.ts';

/** The place where a framework has mounted a middleware. */
export interface Mount {
  /** The path that was cut off the URL, such as `/api`; '' if nothing was cut off. */
  mountedAt: string;
  /** The remaining path and query, beginning with a slash; or the complete URL of a request to a proxy. */
  url: string;
  /** The path and query that the client requested. */
  originalUrl: string;
}

/**
 * The gateway's base path and the complete URL of a request to a middleware; undefined: the request is not for the
 * gateway.
 * @param prefix  below the mount; default: without a mount the gateway's own base path, otherwise none
 */
export function locate(
  { basePath = '/v1' }: Pick<RequestHandler, 'basePath'>,
  { mountedAt, url, originalUrl }: Mount,
  prefix: string | undefined,
): { basePath: string; url: string } | undefined {
  const below = withoutSlash(prefix ?? (mountedAt === '' ? basePath : ''));
  const path = pathOf(url);
  const beside = below === basePath ? besideOf(below) : null;
  const isBeside = beside !== null && path.startsWith(`${beside}/`);
  if (path !== below && !path.startsWith(`${below}/`) && !isBeside) return undefined;
  // Not always the original URL: middleware may have rewritten this one.
  return { basePath: mountedAt + below, url: url.startsWith('/') ? mountedAt + url : originalUrl };
}

/** The path of clients that speak Gemini, which a gateway at `/v1` has beside it; null: it has none. */
export function besideOf(basePath: string): string | null {
  return basePath.endsWith('/v1') ? `${basePath}beta` : null;
}

/** The path that was cut off `originalUrl` to leave `path`; '' if nothing was, or if the URL was rewritten. */
export function findMount(originalUrl: string, path: string): string {
  const original = withoutSlash(pathOf(originalUrl));
  const rest = withoutSlash(path);
  return original.endsWith(rest) ? original.slice(0, original.length - rest.length) : '';
}

function pathOf(url: string): string {
  const [withoutQuery = ''] = url.split('?', 1);
  return withoutQuery.replace(/^[a-z]+:\/\/[^/]*/i, '');
}

function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}
