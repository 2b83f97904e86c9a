import { wrongArgument } from '../base/refusal.ts';
import type { Operation } from '../operations/operation.ts';
import { checked } from '../schema/checked.ts';
import { type BodyLimits, checkBody } from './body.ts';

/** What an operation is run with, checked as that of a request. */
export interface Arguments {
  params: Record<string, string>;
  query: unknown;
  body: unknown;
}

/**
 * Takes the argument of a function apart: what the path names is a path parameter, the rest are fields of the body, or
 * of the query where the operation has no body. An operation without path parameters may be given its body as JSON
 * text. A field that is undefined counts as absent, as it would be in JSON.
 * @throws GatewayError invalid_request (400), payload_too_large (413), unprocessable (422)
 */
export function argumentsOf(operation: Operation, given: unknown, limits: BodyLimits): Arguments {
  const names = pathParameters(operation.path);
  const hasBody = operation.body !== null;
  if (hasBody && names.length === 0 && given !== undefined)
    return { params: {}, query: null, body: checkBody(withoutUndefined(given), operation, limits, new Headers()) };
  if (given !== undefined && !isObject(given)) throw wrongArgument('', 'expected object');
  const rest = withoutUndefined(given ?? {}) as Record<string, unknown>;
  const params: Record<string, string> = {};
  for (const name of names) {
    const value = rest[name];
    if (typeof value !== 'string' || value === '') throw wrongArgument(name, 'expected a string that is not empty');
    params[name] = value;
    delete rest[name];
  }
  if (hasBody) return { params, query: null, body: checkBody(rest, operation, limits, new Headers()) };
  return { params, query: operation.query ? checked(operation.query(), asTexts(rest)) : null, body: null };
}

/** Names in a path pattern, such as `id` and `interval` in `/workspaces/:id/budgets/:interval`. */
function pathParameters(path: string): string[] {
  return path
    .split('/')
    .filter((part) => part.startsWith(':'))
    .map((part) => part.slice(1));
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

/** A copy of an object; anything else is for the schema to refuse. */
function withoutUndefined(given: unknown): unknown {
  if (!isObject(given)) return given;
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
}
