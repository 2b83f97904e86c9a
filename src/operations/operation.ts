import type { StopSignal } from '../base/stop.ts';
import type { Caller, Permission } from '../call/call.ts';
import type { Reply } from '../call/reply.ts';
import type { BodyCheck, Schema } from '../schema/schema.ts';

/** What an operation is given: checked against its schemas before. */
export interface OperationInput<Body = unknown, Query = unknown> {
  /** The body, checked; null where the operation takes none. */
  body: Body;
  /** The query, checked; null where the operation does not look at it. */
  query: Query;
  /** Parameters of the path, decoded. */
  params: Readonly<Record<string, string>>;
  /** Where the request came in, such as `/v1`; '' or `/` at the root. */
  basePath: string;
  /** Who asks. */
  caller: Caller;
  /** Headers of the request. */
  headers: Headers;
  /** Aborted when the client leaves or the request's time is up. */
  signal: StopSignal;
  /** Epoch ms: when the request arrived. */
  receivedAtMs: number;
  /** When the caller was known, epoch ms. */
  authenticatedAtMs: number;
}

/**
 * One method and path of the interface. Its schemas say all: they check requests and describe the operation. Each is
 * given when it is asked for, since building all of them would take most of the time of making a gateway.
 */
export interface Operation<Body = unknown, Query = unknown> {
  /** Name of the operation, such as `createWorkspace`; records show it. */
  name: string;
  /** HTTP method. */
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the base path, such as `/workspaces/:id`. */
  path: string;
  /** A caller needs one of these. */
  permissions: readonly Permission[];
  /** true: callers need no key, and `run` is not told who asks. */
  readonly isPublic?: true;
  /** null: takes no body. */
  readonly body: (() => Schema<Body> | BodyCheck<NoInfer<Body>>) | null;
  /** Of the query's values, all texts; a parameter given twice is its last. Absent: the query is not looked at. */
  readonly query?: () => Schema<Query>;
  /** The body of a success. */
  result: () => Schema;
  /** Issues of headers, and of a body that fits its schema: 400. */
  issues?(body: Body, headers: Headers): readonly { path: string; message: string }[];
  /** Contradictions in a body that fits its schema: 422. */
  contradictions?(body: Body): { path: string; message: string }[];
  /** Makes an id for a refused request of an operation whose responses have one. */
  generationId?(receivedAtMs: number): string;
  /** Where its function is, for the host app; absent: it has none. */
  readonly api?: string;
  /** true: the pipeline writes a record of each run. Default: `http/edge` does. */
  readonly recordsItself?: boolean;
  /** Does what the operation is for. */
  run(input: OperationInput<Body, Query>): Promise<Reply>;
}

/**
 * An operation that the host app can also call as a function.
 * @typeParam Place   where the function is: `workspaces.create` is `gateway.workspaces.create`
 * @typeParam Given   its argument: path parameters, and fields of the body or of the query
 * @typeParam Result  what it returns: what a response would hold
 */
export interface ApiOperation<Place extends string, Given, Result, Body = unknown, Query = unknown>
  extends Operation<Body, Query> {
  readonly api: Place;
  result: () => Schema<Result>;
  /** Not there: it carries the type. */
  readonly given?: Given;
}

/** Keeps the types of an operation together. */
export function defineOperation<Body = unknown, Query = unknown>(operation: Operation<Body, Query>): Operation {
  return operation as Operation;
}

/** A success that is JSON. */
export function jsonReply(body: unknown, status = 200): Reply {
  return { kind: 'json', status, body };
}
