import { isPath, withoutSlash } from './paths.ts';

/** The name of the cookie. */
const cookieName = 'model_gateway_console';

/** @returns null: the request has no session */
export function cookieIn(request: Request): string | null {
  const header = request.headers.get('cookie') ?? '';
  return new RegExp(`(?:^|;\\s*)${cookieName}=([\\w.-]+)`).exec(header)?.[1] ?? null;
}

/**
 * The cookie of a session: no script reads it, no page of another site sends it, and no other path gets it.
 * @param sealed   the session; empty: the cookie ends it
 * @param maxAgeS  seconds
 */
export function sessionCookie(request: Request, path: string, sealed: string, maxAgeS: number): string {
  const isSecure =
    new URL(request.url).protocol === 'https:' ||
    /^https\b/i.test(request.headers.get('x-forwarded-proto') ?? '') ||
    /^https:/i.test(request.headers.get('origin') ?? '');
  const place = withoutSlash(path) || '/';
  return `${cookieName}=${sealed}; Path=${place}; Max-Age=${maxAgeS}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
}

/**
 * Tells whether a page of another origin has sent the request. Browsers say in `Sec-Fetch-Site` where a request comes
 * from, old ones in `Origin` only. Programs send neither, and have no cookies that a page could use.
 */
export function comesFromElsewhere({ headers, url }: Request): boolean {
  const site = headers.get('sec-fetch-site');
  if (site !== null) return site !== 'same-origin' && site !== 'none';
  const origin = headers.get('origin');
  if (origin === null) return false;
  const host = /^https?:\/\/([^/]+)$/i.exec(origin)?.[1]?.toLowerCase();
  return host === undefined || (host !== headers.get('host')?.toLowerCase() && host !== new URL(url).host);
}

/**
 * The same request with the key of a session, or with none. Headers that identify somebody in another way are left out:
 * who asks was decided before.
 */
export function withAuthorization(request: Request, key: string | null): Request {
  const headers = new Headers(request.headers);
  for (const name of ['cookie', 'authorization', 'x-api-key', 'x-goog-api-key']) headers.delete(name);
  if (key !== null) headers.set('authorization', `Bearer ${key}`);
  // A view: making a new request of one with a body would copy the body.
  return new Proxy(request, {
    get(target, name) {
      if (name === 'headers') return headers;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** The place of the console for a browser. */
export interface Place {
  /** The path without a slash at its end, for the cookie. */
  path: string;
  /** The address with the slash, to which the path without it leads. */
  withSlash: string;
  /** The address for `<base href>`. @param below  the rest of the path of the request: empty, or a slash */
  base(below: string): string;
}

/**
 * Finds the place of the console as browsers see it. A proxy may have changed the path: then the option, or the header
 * `X-Forwarded-Prefix`, says it. Without both, addresses are relative, which is right below most proxies.
 */
export function locationOf(request: Request, mount: string, publicPath: string | undefined): Place {
  const known = publicPath ?? forwarded(request, mount);
  if (known !== null) {
    const path = withoutSlash(known);
    return { path, withSlash: `${path}/`, base: () => `${path}/` };
  }
  const last = mount.slice(mount.lastIndexOf('/') + 1);
  return {
    path: mount,
    withSlash: last === '' ? './' : `./${last}/`,
    base: (below) => (below === '' && last !== '' ? `./${last}/` : './'),
  };
}

/** @returns null: the request does not tell */
function forwarded(request: Request, mount: string): string | null {
  const prefix = request.headers.get('x-forwarded-prefix')?.split(',')[0]?.trim();
  if (prefix === undefined || !isPath(prefix) || prefix.includes('/../')) return null;
  return withoutSlash(prefix) + mount;
}
