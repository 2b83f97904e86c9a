import type { HandleContext, HostCaller, RequestHandler } from '../../src/index.ts';
import { loadPage, pageHtml, serveAsset } from './assets.ts';
import { isPath, withoutSlash } from './paths.ts';
import { comesFromElsewhere, cookieIn, locationOf, sessionCookie, withAuthorization } from './requests.ts';
import { errorResponse, jsonResponse, pageResponse, redirectResponse, withCommonHeaders } from './responses.ts';
import { createEndedSessions, createSealer, type Session } from './session.ts';
import { readKey } from './sign-in.ts';

/** Options of `consoleHandler`. */
export interface ConsoleOptions {
  /**
   * Finds the user of the host app who looks at the console; null: nobody who may. The console then shows what that
   * caller may see. Without it, people sign in with a key that has the permission `management`.
   */
  authorize?: (request: Request) => HostCaller | null | Promise<HostCaller | null>;
  /** The address of the host app's own sign-in, shown to whom `authorize` does not know. */
  signInUrl?: string;
  /** The path at which the console is mounted, unless an adapter says it. Default `/console`. */
  basePath?: string;
  /**
   * The path of the console for browsers, where a proxy in front of the app changes paths, such as `/admin/gw`. Default:
   * the header `X-Forwarded-Prefix` and the mount, else the path of each request.
   */
  publicPath?: string;
  /**
   * true: the path without a slash at its end leads to the path with one. false: for a host that removes that slash, such
   * as Next. Default true.
   */
  trailingSlash?: boolean;
  /**
   * The secret that seals sessions, 32 characters at least. Processes that serve one console need the same. Default: a
   * secret of this process, so that its sessions end with it.
   */
  secret?: string;
  /** The time in ms after which a session ends that nobody uses. Default 3,600,000, one hour. */
  sessionMs?: number;
  /** The time in ms after which a session ends in any case. Default 43,200,000, twelve hours. */
  maxSessionMs?: number;
  /** The title of the page. Default `Model gateway`. */
  title?: string;
  /** The time, epoch ms. Default: `Date.now`. */
  now?: () => number;
  /** Random bytes for a secret of this process, and for the ids of sessions. Default: those of Web Crypto. */
  randomBytes?: (size: number) => Uint8Array<ArrayBuffer>;
}

/** A console: a function from a request to a response, which every adapter mounts as it mounts a gateway. */
export interface ConsoleHandler extends RequestHandler {
  (request: Request): Promise<Response>;
  /** The path at which it is mounted unless an adapter says otherwise. */
  basePath: string;
  /** Writes what waits in the gateway, for workers: the playground makes requests. Never rejects. */
  flush(): Promise<void>;
}

/** The gateway of a console: `createGateway` returns one. */
export interface ConsoleGateway extends RequestHandler {
  /** As of a gateway. */
  flush?(): Promise<void>;
}

/** The largest body of a sign-in, in bytes. */
const signInBytes = 4096;
const shortestSecret = 32;

/**
 * Makes the console of a gateway: one page that shows money, routes and failures. It asks the gateway by its operations,
 * in the name of who looks, and has no other access.
 * @throws RangeError for an option that cannot be
 */
export function consoleHandler(gateway: ConsoleGateway, options: ConsoleOptions = {}): ConsoleHandler {
  checkOptions(options);
  const { authorize, basePath = '/console', trailingSlash = true, title = 'Model gateway' } = options;
  const { sessionMs = 3_600_000, maxSessionMs = 43_200_000, now = Date.now } = options;
  const randomBytes = options.randomBytes ?? ((size: number) => crypto.getRandomValues(new Uint8Array(size)));
  const known = { title, gateway_path: gateway.basePath ?? '/v1' };
  // The secret is made at the first use: a worker may have no randomness before its first request.
  let made: ReturnType<typeof createSealer> | null = null;
  const sealer = () => (made ??= createSealer(options.secret ?? randomBytes(shortestSecret)));
  const ended = createEndedSessions(maxSessionMs);

  async function handle(request: Request, context: HandleContext = {}): Promise<Response> {
    const mount = withoutSlash(context.basePath ?? basePath);
    const { pathname } = new URL(request.url);
    if (pathname !== mount && !pathname.startsWith(`${mount}/`))
      return errorResponse(404, 'not_found', `There is nothing at this path; the console is mounted at ${mount}`);
    const below = pathname.slice(mount.length);
    if (below === '' || below === '/') return showPage(request, mount, below);
    const asset = /^\/assets\/([\w.-]+)$/.exec(below)?.[1];
    if (asset !== undefined) return isRead(request) ? serveAsset(await loadPage(), asset, request) : notAllowed('GET');
    if (comesFromElsewhere(request))
      return errorResponse(
        403,
        'permission_denied',
        'The console answers its own page alone, not pages of other sites',
      );
    if (below === '/session') return serveSession(request, context, mount);
    if (below.startsWith('/api/')) return serveOperation(request, context, mount);
    return errorResponse(404, 'not_found', 'The console has nothing at this path');
  }

  async function showPage(request: Request, mount: string, below: string): Promise<Response> {
    if (!isRead(request)) return notAllowed('GET');
    const place = locationOf(request, mount, options.publicPath);
    if (below === '' && trailingSlash) return redirectResponse(place.withSlash + new URL(request.url).search);
    return pageResponse(pageHtml(await loadPage(), place.base(below), title), request.method === 'HEAD');
  }

  /** Signs in and out, and tells who is signed in. */
  async function serveSession(request: Request, context: HandleContext, mount: string): Promise<Response> {
    if (request.method === 'GET') return showSession(request, mount);
    if (authorize) return notAllowed('GET');
    if (request.method === 'DELETE') {
      const session = await sessionOf(request);
      if (session !== null) ended.add(session, now());
      const cookie = sessionCookie(request, pathFor(request, mount), '', 0);
      return jsonResponse({ data: { signed_in: false } }, 200, { 'set-cookie': cookie });
    }
    if (request.method !== 'POST') return notAllowed('GET, POST, DELETE');
    const key = await readKey(request, context.body, signInBytes);
    if (key === null)
      return errorResponse(400, 'invalid_request', 'Expected JSON with the field key, which holds an API key');
    const checked = await currentKey(request, mount, { key });
    if (checked.status !== 200) return checked;
    const { data } = (await checked.json()) as { data: { permissions: string[] } };
    if (!data.permissions.includes('management'))
      return errorResponse(403, 'permission_denied', 'This key does not have the permission management');
    const nowMs = now();
    const id = Array.from(randomBytes(16), (byte) => byte.toString(16).padStart(2, '0')).join('');
    const session = { id, key, startedAtMs: nowMs, expiresAtMs: nowMs + Math.min(sessionMs, maxSessionMs) };
    return identity(request, pathFor(request, mount), data, session);
  }

  async function showSession(request: Request, mount: string): Promise<Response> {
    const found = await whoAsks(request);
    // Not an error: the page asks this first of all.
    if (found === null) return jsonResponse({ data: nobody() });
    const checked = await currentKey(request, mount, found);
    // The key of the session may be gone by now.
    if (checked.status === 401) return jsonResponse({ data: nobody() });
    if (checked.status !== 200) return checked;
    const { data } = (await checked.json()) as { data: object };
    if ('find' in found) {
      const { userId = null } = await found.find();
      return jsonResponse({ data: { ...data, signed_in: true, by: 'host', user_id: userId, ...known } });
    }
    const { session } = found;
    const nowMs = now();
    const expiresAtMs = Math.min(nowMs + sessionMs, session.startedAtMs + maxSessionMs);
    return identity(request, pathFor(request, mount), data, { ...session, expiresAtMs });
  }

  /** The path of the cookie: as the page says that the browser sees it. */
  function pathFor(request: Request, mount: string): string {
    const told = new URL(request.url).searchParams.get('path') ?? '';
    return isPath(told) ? told : locationOf(request, mount, options.publicPath).path;
  }

  /** Tells who is signed in, with the cookie of the session. */
  async function identity(request: Request, path: string, data: object, session: Session): Promise<Response> {
    const maxAgeS = Math.floor((session.expiresAtMs - now()) / 1000);
    const cookie = sessionCookie(request, path, await sealer().seal(session), maxAgeS);
    const expires = new Date(session.expiresAtMs).toISOString();
    return jsonResponse({ data: { ...data, signed_in: true, by: 'key', session_expires_at: expires, ...known } }, 200, {
      'set-cookie': cookie,
    });
  }

  /** Asks one operation of the gateway in the name of who looks. */
  async function serveOperation(request: Request, context: HandleContext, mount: string): Promise<Response> {
    const found = await whoAsks(request);
    if (found === null) return errorResponse(401, 'authentication', 'Nobody is signed in to the console');
    return ask(request, context, mount, found);
  }

  async function ask(request: Request, context: HandleContext, mount: string, who: Who): Promise<Response> {
    const { caller: _, ...rest } = context;
    const caller = 'find' in who ? { caller: who.find } : {};
    const key = 'key' in who ? who.key : null;
    const asked = withAuthorization(request, key);
    return withCommonHeaders(await gateway.handle(asked, { ...rest, ...caller, basePath: `${mount}/api` }));
  }

  /** The gateway's own account of who asks. */
  function currentKey(request: Request, mount: string, who: Who): Promise<Response> {
    return ask(new Request(new URL(`${mount}/api/key`, request.url)), {}, mount, who);
  }

  /** @returns null: nobody whom the console knows */
  async function whoAsks(request: Request): Promise<Known | null> {
    if (authorize) {
      try {
        const found = await authorize(request);
        return found && { find: () => found };
      } catch (error) {
        // The gateway logs it, and answers with a 500 that shows nothing.
        return { find: () => Promise.reject(error) };
      }
    }
    const session = await sessionOf(request);
    return session && { key: session.key, session };
  }

  async function sessionOf(request: Request): Promise<Session | null> {
    const sealed = cookieIn(request);
    const session = sealed === null ? null : await sealer().open(sealed, now());
    return session === null || ended.has(session) ? null : session;
  }

  function nobody(): object {
    const how = authorize ? { by: 'host', sign_in_url: options.signInUrl ?? null } : { by: 'key' };
    return { signed_in: false, ...how, title };
  }

  const flush = async () => gateway.flush?.();
  return Object.assign((request: Request) => handle(request), { handle, flush, basePath: withoutSlash(basePath) });
}

/** The one who looks: a session with its key, or a user whom the host app has found. */
type Known = { key: string; session: Session } | { find: () => HostCaller | Promise<HostCaller> };
/** The same, or a key that is tried. */
type Who = Known | { key: string };

function isRead({ method }: Request): boolean {
  return method === 'GET' || method === 'HEAD';
}

function notAllowed(allow: string): Response {
  return errorResponse(405, 'invalid_request', `This path takes ${allow}`, { allow });
}

function checkOptions({ secret, basePath, publicPath, sessionMs, maxSessionMs, authorize }: ConsoleOptions): void {
  const refuse = (name: string, expected: string) => {
    throw new RangeError(`consoleHandler: ${name}: expected ${expected}`);
  };
  if (authorize !== undefined && typeof authorize !== 'function') refuse('authorize', 'a function');
  if (secret !== undefined && secret.length < shortestSecret) refuse('secret', `at least ${shortestSecret} characters`);
  if (basePath !== undefined && basePath !== '' && !isPath(basePath)) refuse('basePath', 'a path such as /console');
  if (publicPath !== undefined && !isPath(publicPath)) refuse('publicPath', 'a path such as /admin/gw');
  for (const [name, ms] of Object.entries({ sessionMs, maxSessionMs }))
    if (ms !== undefined && !(Number.isFinite(ms) && ms >= 1000)) refuse(name, 'at least 1000 milliseconds');
}
