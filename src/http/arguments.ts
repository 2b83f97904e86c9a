import { wrongArgument } from '../base/refusal.ts';
import type { Operation } from '../operations/operation.ts';
import { checked } from '../schema/checked.ts';
import { type BodyLimits, checkBody, longBody, parseBody } from './body.ts';

/** The checked input of an operation, the same as for a request. */
export interface Arguments {
  params: Record<string, string>;
  query: unknown;
  body: unknown;
  /** The same as in `OperationInput`. */
  isLong: boolean;
}

/**
 * Divides the argument of a function: names of the path are path parameters. The rest are fields of the body, or of the
 * query where the operation has no body. An operation without path parameters may get its body as JSON text. A field
 * that is undefined counts as absent, as it would be in JSON.
 * @param headers  those of a request in process; an operation may check them as well
 * @throws GatewayError invalid_request (400), payload_too_large (413), unprocessable (422)
 */
export function argumentsOf(
  operation: Operation,
  given: unknown,
  limits: BodyLimits,
  headers = new Headers(),
): Arguments {
  const names = pathParameters(operation.path);
  const hasBody = operation.body !== null;
  if (hasBody && names.length === 0 && given !== undefined)
    return { params: {}, query: null, ...bodyOf(withoutUndefined(given), operation, limits, headers) };
  if (given !== undefined && !isObject(given)) throw wrongArgument('', 'expected object');
  const rest = withoutUndefined(given ?? {}) as Record<string, unknown>;
  const params: Record<string, string> = {};
  for (const name of names) {
    const value = rest[name];
    if (typeof value !== 'string' || value === '') throw wrongArgument(name, 'expected a string that is not empty');
    params[name] = value;
    delete rest[name];
  }
  if (hasBody) return { params, query: null, ...bodyOf(rest, operation, limits, headers) };
  const query = operation.query ? checked(operation.query(), asTexts(rest)) : null;
  return { params, query, body: null, isLong: false };
}

function bodyOf(
  given: unknown,
  operation: Operation,
  limits: BodyLimits,
  headers: Headers,
): Pick<Arguments, 'body' | 'isLong'> {
  const { value, length } = parseBody(given, limits);
  return { body: checkBody(value, operation, headers), isLong: length > longBody };
}

/** Names in a path pattern, such as `id` and `interval` in `/workspaces/:id/budgets/:interval`. */
function pathParameters(path: string): string[] {
  return path
    .split('/')
    .filter((part) => part.startsWith(':'))
    .map((part) => part.slice(1).replace(/\+$/, ''));
}

/** The values of a query are texts: schemas read a page's `limit` from "10". */
function asTexts(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'number' || typeof value === 'boolean' ? String(value) : value,
    ]),
  );
}

/** Copies an object without its undefined fields. Another value stays, and the schema refuses it. */
function withoutUndefined(given: unknown): unknown {
  if (!isObject(given)) return given;
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
}
