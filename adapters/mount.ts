import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from '../src/index.ts';

/** Where a framework called a middleware. */
export interface Mount {
  /** The path that was cut off the URL, such as `/api`; '' where nothing was. */
  mountedAt: string;
  /** What is left of the path and query, starting with a slash; or the whole URL of a request to a proxy. */
  url: string;
  /** The path and query the client asked for. */
  originalUrl: string;
}

/**
 * The gateway's base path and the whole URL of a request to a middleware; undefined where it is somebody else's.
 * @param prefix  below the mount; default: the gateway's own base path where nothing was mounted, else none
 */
export function locate(
  { basePath = '/v1' }: Pick<RequestHandler, 'basePath'>,
  { mountedAt, url, originalUrl }: Mount,
  prefix: string | undefined,
): { basePath: string; url: string } | undefined {
  const below = withoutSlash(prefix ?? (mountedAt === '' ? basePath : ''));
  const path = pathOf(url);
  if (path !== below && !path.startsWith(`${below}/`)) return undefined;
  // Not simply the original URL: middleware may have rewritten this one.
  return { basePath: mountedAt + below, url: url.startsWith('/') ? mountedAt + url : originalUrl };
}

/** What was cut off `originalUrl` to leave `path`; '' where nothing was, or where the URL was rewritten. */
export function findMount(originalUrl: string, path: string): string {
  const original = withoutSlash(pathOf(originalUrl));
  const rest = withoutSlash(path);
  return original.endsWith(rest) ? original.slice(0, original.length - rest.length) : '';
}

/** What a body parser made of the body; undefined where the body is still to be read. */
export function parsedBody(req: IncomingMessage, body: unknown): unknown {
  // Some parsers leave `{}` behind where they did not read; whether the stream was read tells the two apart.
  return req.readableDidRead || req.readableEnded ? body : undefined;
}

function pathOf(url: string): string {
  const [withoutQuery = ''] = url.split('?', 1);
  return withoutQuery.replace(/^[a-z]+:\/\/[^/]*/i, '');
}

function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}
