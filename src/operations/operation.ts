import * as z from 'zod';
import type { StopSignal } from '../base/async/stop.ts';
import type { Clock } from '../base/clock.ts';
import { lazily } from '../base/lazily.ts';
import type { Issue } from '../base/refusal.ts';
import type { Caller, Permission } from '../call/call.ts';
import type { WireFormat } from '../call/native.ts';
import type { OperationReply } from '../call/reply.ts';
import { field, hostObjectIssues, throwIssues } from '../schema/host-object.ts';
import type { BodyCheck, Schema } from '../schema/schema.ts';

/** The input of an operation, checked against its schemas. */
export interface OperationInput<Body = unknown, Query = unknown> {
  /** The checked body; null: the operation has none. */
  body: Body;
  /** true: the body is long, so the work on it takes several turns of the event loop and leaves time for others. */
  isLong: boolean;
  /** The number of items that `prepare` has put before those of the caller; absent: none. */
  earlierItems?: number;
  /** The checked query; null: the operation has no schema for it. */
  query: Query;
  /** Parameters of the path, decoded. */
  params: Readonly<Record<string, string>>;
  /** The path of the mount, such as `/v1`; '' or `/` at the root. */
  basePath: string;
  /** The wire format that the request speaks: that of the operation, or the one that the request's headers tell. */
  wire: WireFormat;
  /** The caller of the request. */
  caller: Caller;
  /** Headers of the request. */
  headers: Headers;
  /** The number of the client's WebSocket; absent: the request came by HTTP. */
  connection?: number | undefined;
  /** Aborted when the client leaves or the request's time is up. */
  signal: StopSignal;
  /** The clock of this request: the time of day at its arrival, plus the time since. */
  time: Pick<Clock, 'now'>;
  /** The arrival of the request, epoch ms. */
  receivedAtMs: number;
  /** The time at which the caller was known, epoch ms. */
  authenticatedAtMs: number;
}

/**
 * The fields of a form that are no single text, by name:
 * - `number`, `boolean`: a text that is read as such a value
 * - `list`: texts, as `name[]` or by repeating the name
 * - `object`: JSON, a text, or `name[key]` for each of its values
 * - `file`, `files`: one file; a list of files
 */
export type FormFields = Readonly<Record<string, 'number' | 'boolean' | 'list' | 'object' | 'file' | 'files'>>;

/**
 * One method and path of the interface. Its schemas check requests and describe the operation. Each schema is a
 * function, since building all of them would take most of the time of making a gateway.
 */
export interface Operation<Body = unknown, Query = unknown> {
  /** Name of the operation, such as `createWorkspace`; records show it. */
  name: string;
  /** HTTP method. */
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path below the base path, such as `/workspaces/:id`. */
  path: string;
  /** A caller needs one of these. */
  permissions: readonly Permission[];
  /** true: callers need no key, and `run` does not get the caller. */
  readonly isPublic?: true;
  /** The schema of the body; null: the operation has none. */
  readonly body: (() => Schema<Body> | BodyCheck<NoInfer<Body>>) | null;
  /**
   * The operation takes `multipart/form-data` beside JSON: the fields of a form that are no single text. The schema of
   * the body checks them like those of JSON; a file is an `UploadedFile`. Absent: it takes JSON alone.
   */
  readonly form?: FormFields;
  /**
   * The schema of the query's values, all texts; of a repeated parameter, the last one counts. Absent: the query is
   * ignored.
   */
  readonly query?: () => Schema<Query>;
  /** true: an empty body counts as `{}`. */
  readonly isBodyOptional?: true;
  /** The body of a success. */
  result: () => Schema;
  /** Issues of headers, and of a body that fits its schema: 400. */
  issues?(body: Body, headers: Headers): readonly { path: string; message: string }[];
  /** Contradictions in a body that fits its schema: 422. */
  contradictions?(body: Body): { path: string; message: string }[];
  /**
   * Completes the input of a request with what the store has, before the operation runs.
   * @throws GatewayError that refuses the request
   */
  prepare?(input: OperationInput<Body, Query>): Promise<OperationInput<Body, Query>>;
  /** Makes an id for a refused request of an operation whose responses have one. */
  generationId?(receivedAtMs: number): string;
  /** The place of its function for the host app; absent: it has none. */
  readonly api?: string;
  /** true: the pipeline writes a record of each run. Default: `http/edge` does. */
  readonly recordsItself?: boolean;
  /**
   * The wire format of its clients: errors are written in it. `asked`: several formats have this path, and the headers of a
   * request tell. Default: `chat`.
   */
  readonly wire?: WireFormat | 'asked';
  /** Lets parts of a body be written with the digits of their numbers. Gets the body and the JSON that it was parsed of. */
  readonly keepDigits?: (body: unknown, text: string) => void;
  /** true: a WebSocket at the path of the operation carries it. */
  readonly overSocket?: true;
  /** Runs the operation. */
  run(input: OperationInput<Body, Query>): Promise<OperationReply>;
}

/** The part of an operation that is known before it is loaded. */
export type OperationFacts = Pick<
  Operation,
  | 'name'
  | 'method'
  | 'path'
  | 'permissions'
  | 'isPublic'
  | 'generationId'
  | 'api'
  | 'recordsItself'
  | 'wire'
  | 'overSocket'
>;

/** An operation that is loaded at its first use. */
export interface LateOperation extends OperationFacts {
  /** The operation itself; without a promise once it is loaded. */
  whole(): Operation | Promise<Operation>;
}

/** An operation, or what stands for it until it is loaded. */
export type ListedOperation = Operation | LateOperation;

/** The operation itself; without a promise where it is there. */
export function wholeOf(operation: ListedOperation): Operation | Promise<Operation> {
  return 'whole' in operation ? operation.whole() : operation;
}

/**
 * An operation that the host app can also call as a function.
 * @typeParam Place   the place of the function: `workspaces.create` is `gateway.workspaces.create`
 * @typeParam Given   its argument: path parameters, and fields of the body or of the query
 * @typeParam Result  its result: the content of the response
 */
export interface ApiOperation<Place extends string, Given, Result, Body = unknown, Query = unknown>
  extends Operation<Body, Query> {
  readonly api: Place;
  result: () => Schema<Result>;
  /** Never set: it carries the type. */
  readonly given?: Given;
}

const shape = lazily(() => ({
  name: field.text(),
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  path: field.text(),
  permissions: z.array(z.string()),
  isPublic: z.literal(true).optional(),
  body: field.fn().nullable(),
  form: z.record(z.string(), z.enum(['number', 'boolean', 'list', 'object', 'file', 'files'])).optional(),
  query: field.fn().optional(),
  isBodyOptional: z.literal(true).optional(),
  result: field.fn(),
  issues: field.fn().optional(),
  contradictions: field.fn().optional(),
  prepare: field.fn().optional(),
  generationId: field.fn().optional(),
  api: field.text().optional(),
  recordsItself: field.flag().optional(),
  wire: z.enum(['chat', 'completions', 'responses', 'messages', 'gemini', 'asked']).optional(),
  keepDigits: field.fn().optional(),
  overSocket: z.literal(true).optional(),
  run: field.fn(),
}));

/** Finds the mistakes in an operation. */
export function operationIssues(given: unknown): Issue[] {
  return hostObjectIssues(given, shape());
}

/**
 * Checks an operation, and keeps its types together.
 * @throws GatewayError invalid_request (400) for a name that no operation has, or a value of the wrong type
 */
export function defineOperation<Body = unknown, Query = unknown>(operation: Operation<Body, Query>): Operation {
  throwIssues('defineOperation', operationIssues(operation));
  return operation as Operation;
}

/** A success that is JSON. */
export function jsonReply(body: unknown, status = 200): OperationReply {
  return { kind: 'json', status, body };
}
