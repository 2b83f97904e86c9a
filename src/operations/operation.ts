import type { ZodType } from 'zod';
import type { StopSignal } from '../base/stop.ts';
import type { Caller, Permission } from '../call/call.ts';
import type { Reply } from '../call/reply.ts';
import type { BodyCheck } from '../schema/compiled.ts';

/** What an operation is given: checked against its schemas before. */
export interface OperationInput<Body = unknown, Query = unknown> {
  body: Body;
  query: Query;
  params: Readonly<Record<string, string>>;
  /** Where the request came in, such as `/v1`; '' or `/` at the root. */
  basePath: string;
  caller: Caller;
  headers: Headers;
  /** Aborted when the client leaves or the request's time is up. */
  signal: StopSignal;
  receivedAtMs: number;
  /** When the caller was known, epoch ms. */
  authenticatedAtMs: number;
}

/**
 * One method and path of the interface. Its schemas say all: they check requests and describe the operation. Each is
 * given when it is asked for, since building all of them would take most of the time of making a gateway.
 */
export interface Operation<Body = unknown, Query = unknown> {
  name: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the base path, such as `/workspaces/:id`. */
  path: string;
  /** A caller needs one of these. */
  permissions: readonly Permission[];
  /** null: takes no body. */
  readonly body: (() => BodyCheck<Body>) | null;
  /** Of the query's values, all texts; a parameter given twice is its last. Absent: the query is not looked at. */
  readonly query?: () => ZodType<Query>;
  /** The body of a success. */
  result: () => ZodType;
  /** Issues of headers, and of a body that fits its schema: 400. */
  issues?(body: Body, headers: Headers): readonly { path: string; message: string }[];
  /** Contradictions in a body that fits its schema: 422. */
  contradictions?(body: Body): { path: string; message: string }[];
  /** Makes an id for a refused request of an operation whose responses have one. */
  generationId?(receivedAtMs: number): string;
  /** true: the pipeline writes a record of each run. Default: `http/edge` does. */
  readonly recordsItself?: boolean;
  run(input: OperationInput<Body, Query>): Promise<Reply>;
}

/** Keeps the types of an operation together. */
export function defineOperation<Body = unknown, Query = unknown>(operation: Operation<Body, Query>): Operation {
  return operation as Operation;
}

/** A success that is JSON. */
export function jsonReply(body: unknown, status = 200): Reply {
  return { kind: 'json', status, body };
}
