import { tell } from '../base/async/tell.ts';
import type { CorsSettings, Origins } from '../schema/settings/settings.ts';
import type { Logger } from '../telemetry/record.ts';

/** Adds headers for browsers to a response, before it is sent. */
export type AddCors = (request: Request, response: Response) => Response;

/** Request headers that clients of the interface send. */
const requestHeaders = [
  'authorization',
  'x-api-key',
  'x-goog-api-key',
  'content-type',
  'content-encoding',
  'user-agent',
  'x-session-id',
  'traceparent',
  'tracestate',
  'http-referer',
  'x-title',
];

/** Beginnings of request headers: those of the gateway, and those in which a client describes itself. */
const requestPrefixes = ['x-service-', 'x-stainless-', 'openai-', 'anthropic-', 'x-goog-', 'x-claude-code-'];

/** Response headers that a web page may read, beside those that every web page may. */
const responseHeaders = [
  'x-generation-id',
  'request-id',
  'x-service-dropped',
  'retry-after',
  'x-should-retry',
  'allow',
  'www-authenticate',
];
const responsePrefixes = ['x-ratelimit-', 'anthropic-ratelimit-'];

/**
 * Cross-origin rules, for hosts without their own. A preflight has been answered like every OPTIONS request: without a
 * key, with the methods of the path.
 */
export function createCors(settings: CorsSettings, brand: string, logger: Logger | null): AddCors {
  const { origins, credentials, maxAgeMs } = settings;
  const named = [
    ...requestHeaders,
    ...new Set(['service', brand].flatMap((name) => [`x-${name}-metadata`, `x-${name}-timeout-ms`])),
    'x-service-experimental-metadata',
    ...lowerCase(settings.headers),
  ];
  const prefixes = [...requestPrefixes, `x-${brand}-`];
  const exposed = [...responseHeaders, ...lowerCase(settings.exposedHeaders)];
  const isAny = origins === '*';
  const isAllowed = originRule(origins, 'cors.origins', logger);

  /** The named headers, and the allowed ones among the others that the browser asks for. */
  function allowedHeaders(asked: string | null): string {
    const others = (asked ?? '')
      .toLowerCase()
      .split(',')
      .map((name) => name.trim())
      .filter(
        (name) => isHeaderName.test(name) && !named.includes(name) && prefixes.some((one) => name.startsWith(one)),
      );
    return [...named, ...new Set(others)].join(', ');
  }

  return (request, response) => {
    const { headers } = response;
    // A cache must not give one site the response to another.
    if (!isAny) headers.append('vary', 'Origin');
    const origin = request.headers.get('origin');
    if (origin === null || !isAllowed(origin)) return response;
    headers.set('access-control-allow-origin', isAny ? '*' : origin);
    if (credentials) headers.set('access-control-allow-credentials', 'true');
    if (request.method === 'OPTIONS' && request.headers.has('access-control-request-method')) {
      headers.append('vary', 'Access-Control-Request-Headers');
      headers.set('access-control-allow-methods', headers.get('allow') ?? '');
      headers.set(
        'access-control-allow-headers',
        allowedHeaders(request.headers.get('access-control-request-headers')),
      );
      headers.set('access-control-max-age', String(Math.floor(maxAgeMs / 1000)));
    } else {
      const limits = [...headers.keys()].filter((name) => responsePrefixes.some((one) => name.startsWith(one)));
      headers.set('access-control-expose-headers', [...exposed, ...limits].join(', '));
    }
    return response;
  };
}

/** Makes the test whether an option allows an origin. */
export function originRule(origins: Origins, option: string, logger: Logger | null): (origin: string) => boolean {
  if (typeof origins !== 'function') {
    const list = new Set(Array.isArray(origins) ? origins : []);
    return (origin) => origins === '*' || list.has(origin);
  }
  const failed = (error: unknown) => logger?.error({ error }, `the option ${option} has thrown`);
  // Only `true` counts: a promise must not allow an origin.
  return (origin) => tell(() => origins(origin), failed) === true;
}

const isHeaderName = /^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/;

function lowerCase(names: readonly string[]): string[] {
  return names.map((name) => name.toLowerCase());
}
