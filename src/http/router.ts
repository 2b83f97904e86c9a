import { IttyRouter } from 'itty-router';
import { GatewayError } from '../base/errors.ts';
import type { Operation } from '../operations/operation.ts';

export interface Matched {
  operation: Operation;
  params: Record<string, string>;
  /** true: the response is sent without its body. */
  isHead: boolean;
}

/** The router's result for OPTIONS: no operation, only the methods of the path. */
export interface Allowed {
  allow: string;
}

export type FindOperation = (method: string, path: string) => Matched | Allowed;

/** Mounts the operations. itty's AutoRouter does not fit: it shows thrown errors to clients and never responds 405. */
export function createRouter(operations: readonly Operation[]): FindOperation {
  const router = IttyRouter();
  for (const operation of operations) {
    const register = router[operation.method.toLowerCase() as 'get'] as (
      path: string,
      handler: () => Operation,
    ) => unknown;
    register(operation.path, () => operation);
  }
  const paths = [...new Set(operations.map(({ path }) => path))].map((path) => ({
    methods: operations.filter((one) => one.path === path).map(({ method }) => method),
    pattern: router.routes.find((route) => route[3] === path)?.[1] as RegExp,
  }));

  function allowed(path: string): string[] {
    const methods = new Set<string>(paths.filter(({ pattern }) => pattern.test(path)).flatMap((one) => one.methods));
    if (methods.has('GET')) methods.add('HEAD');
    return methods.size === 0 ? [] : [...methods, 'OPTIONS'];
  }

  // itty's own fetch is asynchronous, and matching must be synchronous: this loop uses itty's patterns directly.
  return (method, path) => {
    const wanted = method === 'HEAD' ? 'GET' : method;
    for (const [routeMethod, pattern, handlers] of router.routes) {
      const match = routeMethod === wanted ? pattern.exec(path) : null;
      if (match === null) continue;
      const operation = (handlers[0] as () => Operation)();
      const params = match.groups === undefined ? none : decoded(match.groups);
      return { operation, params, isHead: method === 'HEAD' };
    }
    const methods = allowed(path);
    if (methods.length === 0) throw new GatewayError('not_found', 'There is nothing at this path');
    const allow = methods.join(', ');
    if (method === 'OPTIONS') return { allow };
    throw new GatewayError(
      'method_not_allowed',
      `${method.slice(0, 20)} is not allowed here; allowed methods: ${allow}`,
      {
        headers: { allow },
      },
    );
  };
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
