import { IttyRouter } from 'itty-router';
import { GatewayError, isGatewayError } from '../base/errors.ts';
import type { ListedOperation } from '../operations/operation.ts';
import { missingCall, nothingAt } from './no-path.ts';

export interface Matched {
  operation: ListedOperation;
  params: Record<string, string>;
  /** true: the response is sent without its body. */
  isHead: boolean;
}

/** The router's result for OPTIONS: no operation, only the methods of the path. */
export interface Allowed {
  allow: string;
}

/** @param request  its headers are looked at only where it is refused */
export type FindOperation = (method: string, path: string, request: { headers: Headers }) => Matched | Allowed;

/** Mounts the operations. itty's AutoRouter does not fit: it shows thrown errors to clients and never responds 405. */
export function createRouter(operations: readonly ListedOperation[]): FindOperation {
  const router = IttyRouter();
  for (const operation of operations) {
    const register = router[operation.method.toLowerCase() as 'get'] as (
      path: string,
      handler: () => ListedOperation,
    ) => unknown;
    register(operation.path, () => operation);
  }
  const paths = [...new Set(operations.map(({ path }) => path))].map((path) => ({
    path,
    methods: operations.filter((one) => one.path === path).map(({ method }) => method),
    pattern: router.routes.find((route) => route[3] === path)?.[1] as RegExp,
  }));

  const known = paths.map(({ path }) => path);

  function allowed(path: string): string[] {
    const methods = new Set<string>(paths.filter(({ pattern }) => pattern.test(path)).flatMap((one) => one.methods));
    if (methods.has('GET')) methods.add('HEAD');
    return methods.size === 0 ? [] : [...methods, 'OPTIONS'];
  }

  // itty's own fetch is asynchronous, and matching must be synchronous: this loop uses itty's patterns directly.
  return (method, path, request) => {
    const wanted = method === 'HEAD' ? 'GET' : method;
    for (const [routeMethod, pattern, handlers] of router.routes) {
      const match = routeMethod === wanted ? pattern.exec(path) : null;
      if (match === null) continue;
      const operation = (handlers[0] as () => ListedOperation)();
      const params = match.groups === undefined ? none : decoded(match.groups);
      return { operation, params, isHead: method === 'HEAD' };
    }
    const missing = method === 'POST' ? missingCall(path) : null;
    if (missing !== null) throw missing;
    const methods = allowed(path);
    if (methods.length === 0) throw nothingAt(path, known, (other) => allowed(other).length > 0);
    const allow = methods.join(', ');
    if (method === 'OPTIONS') return { allow };
    if (method === 'GET' && isHandshake(request.headers)) throw notWebSocket(allow);
    throw new GatewayError(
      'method_not_allowed',
      `${method.slice(0, 20)} is not allowed here; allowed methods: ${allow}`,
      {
        headers: { allow },
      },
    );
  };
}

/**
 * Finds the operation that a WebSocket at this path carries. @throws GatewayError not_found (404); upgrade_required (426)
 * where no connection can be opened
 */
export function findSocket(find: FindOperation, path: string, request: { headers: Headers }): Matched {
  try {
    const found = find('POST', path, request);
    if ('operation' in found && found.operation.overSocket === true) return found;
  } catch (error) {
    if (!isGatewayError(error) || error.kind !== 'method_not_allowed') throw error;
  }
  throw notWebSocket('POST');
}

/**
 * Tells whether a client wants a WebSocket. Other protocols, such as `h2c`, are an offer that the server may ignore.
 */
function isHandshake(headers: Headers): boolean {
  return /\bwebsocket\b/i.test(headers.get('upgrade') ?? '');
}

/**
 * The error for a client that wants a WebSocket. Such clients take this status as the advice to use HTTP at once, and
 * try again several times after any other.
 * @see RFC 9110, 15.5.22: the response has to name the protocol to use, which is its own
 */
function notWebSocket(allow: string): GatewayError {
  const message = `There is no WebSocket here; send the request by HTTP; allowed methods: ${allow}`;
  return new GatewayError('upgrade_required', message, {
    headers: { upgrade: 'HTTP/1.1', connection: 'upgrade' },
  });
}

const none: Record<string, string> = Object.freeze({});

/** itty does not decode path parameters. */
function decoded(params: Record<string, string>): Record<string, string> {
  try {
    return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, decodeURIComponent(value)]));
  } catch {
    throw new GatewayError('not_found', 'There is nothing at this path');
  }
}
