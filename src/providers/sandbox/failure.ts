import { UpstreamError } from '../../base/http/upstream-error.ts';
import type { Document } from './outcome.ts';
import type { Refusal } from './request.ts';

/** OpenAI's `type` and `code` of an error status. */
const kinds: Readonly<Record<number, { type: string; code: string | null }>> = {
  401: { type: 'invalid_request_error', code: 'invalid_api_key' },
  402: { type: 'insufficient_quota', code: 'insufficient_quota' },
  403: { type: 'permission_error', code: 'permission_denied' },
  404: { type: 'invalid_request_error', code: 'model_not_found' },
  408: { type: 'timeout', code: null },
  429: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  529: { type: 'overloaded_error', code: 'overloaded' },
};

export interface ErrorBody {
  error: { message: string; type: string; param: string | null; code: string | null };
}

/** Writes an error body in the form of OpenAI. */
export function errorBody(
  status: number,
  message: string,
  details: { code?: string | null; param?: string | null } = {},
): ErrorBody {
  const kind = kinds[status] ?? { type: status >= 500 ? 'server_error' : 'invalid_request_error', code: null };
  return { error: { message, type: kind.type, param: details.param ?? null, code: details.code ?? kind.code } };
}

/** A response with an error status. `retryAfter` in seconds. */
export function failure(
  status: number,
  message: string,
  details: { code?: string | null; param?: string | null; retryAfter?: number } = {},
): Document {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (details.retryAfter !== undefined) headers['retry-after'] = String(details.retryAfter);
  return { kind: 'document', status, headers, body: JSON.stringify(errorBody(status, message, details)) };
}

export function refusalOutcome(refusal: Refusal): Document {
  return failure(refusal.status, refusal.message, { code: refusal.code, param: refusal.param });
}

/** The error with which `error-mid-stream` breaks; as JSON it is the complete response. */
export function midStreamFailure(): Document {
  return failure(500, 'The sandbox breaks off here because the model is sandbox/error-mid-stream.');
}

/** The error of a transport when there is no connection, or no longer. */
export function networkError(message: string): UpstreamError {
  return new UpstreamError(message, { reason: 'network', status: 502 });
}
