import { retryAfterOf } from '../../base/http/retry-after.ts';
import { UpstreamError, type UpstreamErrorOptions } from '../../base/http/upstream-error.ts';
import { cleanText } from '../../base/text/clean-text.ts';
import { isObject, type Loose } from '../../base/values.ts';
import { errorBody } from '../shared/errors/error-body.ts';
import { contextIsFull, saysContextIsFull } from '../shared/errors/full-context.ts';
import { saysContentIsRefused } from '../shared/errors/refused-content.ts';
import { saysBillIsUnpaid, unpaidBill } from '../shared/errors/unpaid-bill.ts';
import { saysThoughtMismatch } from '../shared/thought-bindings.ts';

interface ErrorText {
  message: string;
  /** Anthropic's type of the error, or Google's status. */
  code?: string;
}

/**
 * Reads an error response: Anthropic's own shape, Google's for Claude on Vertex, or no JSON at all.
 * @see https://platform.claude.com/docs/en/api/errors
 */
export function decodeError(
  status: number,
  headers: Record<string, string>,
  body: string,
  nowMs: number,
): UpstreamError {
  const text = readError(body);
  return new UpstreamError(text.message || `The provider responded with status ${status}.`, {
    reason: 'status',
    status,
    retryAfterMs: retryAfterOf(headers, nowMs),
    providerCode: text.code,
    ...meaningOf(status, text),
  });
}

/** The statuses that Anthropic's types of errors have. */
const statuses = new Map<string, number>(
  Object.entries({
    invalid_request_error: 400,
    authentication_error: 401,
    billing_error: 402,
    permission_error: 403,
    not_found_error: 404,
    request_too_large: 413,
    rate_limit_error: 429,
    api_error: 500,
    timeout_error: 504,
    overloaded_error: 529,
  }),
);

/**
 * Returns the error inside a response with a success status, or inside a stream event; null where there is none. One of
 * a known type is handled as if the response had its status.
 */
export function errorIn(body: Loose): UpstreamError | null {
  if (body.type !== 'error' && !(body.type === undefined && body.error)) return null;
  const text = textOf(body);
  const status = statuses.get(text.code ?? '');
  return new UpstreamError(text.message || 'The provider reported an error.', {
    ...(status === undefined ? { reason: 'bad_response', status: 502 } : { reason: 'status', status }),
    providerCode: text.code,
    ...meaningOf(status ?? null, text),
  });
}

function readError(body: string): ErrorText {
  const read = errorBody(body);
  return typeof read === 'string' ? { message: read } : textOf(read);
}

function textOf(body: Loose): ErrorText {
  const error = isObject(body.error) ? body.error : body;
  const message = [error.message, body.message, body.error, body.detail].find((text) => typeof text === 'string');
  const code = [error.type, error.status, error.code].find((text) => typeof text === 'string' && text !== '');
  return {
    message: cleanText((message as string | undefined) ?? ''),
    ...(code === undefined ? {} : { code: cleanText(code as string, 80) }),
  };
}

/** The words with which Anthropic refuses the content of a request or of its response. */
const refusedContent = /content polic|safety|prohibited/;

/** Returns the meaning of an error's words beyond its status. */
function meaningOf(status: number | null, { code, message }: ErrorText): Partial<UpstreamErrorOptions> {
  const words = message.toLowerCase();
  const isOfBody = status === 400 || status === 413 || status === 422;
  if (saysBillIsUnpaid(status, code, message)) return unpaidBill;
  if (saysContextIsFull(status, code, message)) return contextIsFull;
  if (saysThoughtMismatch(status, message)) return { isThoughtMismatch: true };
  if (!isOfBody) return {};
  return refusedContent.test(words) || saysContentIsRefused(status, code, message)
    ? { fault: 'caller', errorType: 'content_policy_violation' }
    : {};
}
