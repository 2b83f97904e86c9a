import { isGatewayError } from '../../base/errors.ts';
import { tryParseJson } from '../../base/json.ts';
import { isObject, type Loose } from '../../base/values.ts';

/** An error that a client reads in a frame, while the connection stays. */
export interface FrameError {
  /** HTTP status of the same error by HTTP. */
  status: number;
  /** A word that code can act on, such as `previous_response_not_found`. */
  code: string;
  /** Says what was wrong, and what would do. */
  message: string;
  /** The field of the frame that was wrong; null: none. */
  param: string | null;
  /** Further facts of the error by HTTP. */
  metadata?: unknown;
  /** Headers of the error by HTTP, such as `retry-after`. */
  headers?: Readonly<Record<string, string>>;
}

/** A frame that is refused. */
export class Refused extends Error {
  readonly error: FrameError;
  /** The lane that it was meant for; null: the one without a name. */
  readonly streamId: string | null;

  constructor(error: FrameError, streamId: string | null) {
    super(error.message);
    this.error = error;
    this.streamId = streamId;
  }
}

/** The types of errors that SDKs of this interface know, by status. */
const errorTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
};

/** Writes the frame of an error. @param streamId  the lane; null: the one without a name */
export function errorFrame({ status, code, message, param, metadata, headers }: FrameError, streamId: string | null) {
  const type = errorTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error');
  return JSON.stringify({
    type: 'error',
    ...(streamId === null ? {} : { stream_id: streamId }),
    status,
    error: { type, code, message, param, ...(metadata === undefined ? {} : { metadata }) },
    ...(headers === undefined ? {} : { headers }),
  });
}

/** Headers that tell of the response by HTTP, which a frame is not. */
const notShown = /^(?:content-|cache-control$|connection$|upgrade$|vary$|access-control-|transfer-)/;

/** Reads the error of a response by HTTP. @param body  its text */
export function errorOf(status: number, headers: Headers, body: string): FrameError {
  const shown = Object.fromEntries([...headers].filter(([name]) => !notShown.test(name)));
  const { error } = eventOf(body);
  const { message, metadata } = isObject(error) ? error : {};
  const facts = isObject(metadata) ? metadata : {};
  const issue: unknown = Array.isArray(facts.issues) ? facts.issues[0] : undefined;
  const param = isObject(issue) && typeof issue.path === 'string' && issue.path !== '' ? issue.path : null;
  return {
    status,
    code: typeof facts.error_type === 'string' ? facts.error_type : 'server_error',
    message: typeof message === 'string' ? message : `The request failed with status ${status}`,
    param,
    ...(metadata === undefined ? {} : { metadata }),
    headers: shown,
  };
}

/** The error of a frame that nobody can read. */
export function invalid(message: string, param: string | null = null): FrameError {
  return { status: 400, code: 'invalid_request', message, param };
}

export function notFound(id: string): FrameError {
  const message =
    `Previous response with id '${id.slice(0, 100)}' not found. A connection knows the latest response of each ` +
    'stream; send the whole input without previous_response_id';
  return { status: 400, code: 'previous_response_not_found', message, param: 'previous_response_id' };
}

/** The error of something unforeseen: what was thrown is shown only where it is meant for callers. */
export function unforeseen(error: unknown): FrameError {
  if (!isGatewayError(error))
    return { status: 500, code: 'server_error', message: 'Something went wrong inside the gateway', param: null };
  const { status, errorType: code, message } = error;
  return { status, code, message, param: null };
}

/** The beginning of an event as this gateway and most providers write it. */
const head = /^\{"type":"([a-z_.]+)"/;

/** Returns the type of an event; '': it has none. */
export function typeOf(json: string): string {
  const quick = head.exec(json);
  if (quick !== null) return quick[1] as string;
  const { type } = eventOf(json);
  return typeof type === 'string' ? type : '';
}

/** Returns the fields of an object as text; none, where it is no object. */
export function eventOf(json: string): Loose {
  const value = tryParseJson(json);
  return isObject(value) ? value : {};
}

/** Names the lane in an event, which is an object as text. */
export function withStreamId(json: string, streamId: string | null): string {
  if (streamId === null || !json.startsWith('{')) return json;
  const rest = json.slice(1);
  return `{"stream_id":${JSON.stringify(streamId)}${/^\s*\}/.test(rest) ? '' : ','}${rest}`;
}
