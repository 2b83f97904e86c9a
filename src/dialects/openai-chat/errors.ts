import { cleanText } from '../../base/clean-text.ts';
import { retryAfterOf } from '../../base/retry-after.ts';
import { UpstreamError } from '../../base/upstream-error.ts';
import { isObject, type Loose } from './values.ts';

interface ErrorText {
  message: string;
  code?: string;
}

/** Reads an error answer: an error object, an error string, `detail`, `message`, or no JSON at all. */
export function decodeError(
  status: number,
  headers: Record<string, string>,
  body: string,
  nowMs: number,
): UpstreamError {
  const { message, code } = readError(body);
  return new UpstreamError(message || `The provider answered with status ${status}.`, {
    reason: 'status',
    status,
    retryAfterMs: retryAfterOf(headers, nowMs),
    providerCode: code,
    errorType: errorTypeOf(status, code, message),
  });
}

/** The error inside an answer with a success status, or inside a stream event; null where there is none. */
export function errorIn(body: Loose): UpstreamError | null {
  const error = body.error;
  if (!error || (isObject(error) && Object.keys(error).length === 0)) return null;
  const { message, code } = textOf(body);
  return new UpstreamError(message || 'The provider reported an error.', {
    reason: 'bad_response',
    status: 502,
    providerCode: code,
    errorType: errorTypeOf(400, code, message),
  });
}

function readError(body: string): ErrorText {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    // A page of HTML says nothing to an API client.
    return { message: /^\s*</.test(body) ? '' : cleanText(body, 300) };
  }
  const first = Array.isArray(parsed) ? parsed[0] : parsed;
  return isObject(first) ? textOf(first) : { message: typeof first === 'string' ? cleanText(first) : '' };
}

function textOf(body: Loose): ErrorText {
  const error = isObject(body.error) ? body.error : body;
  const message = [error.message, body.message, body.detail, body.error].find((text) => typeof text === 'string') as
    | string
    | undefined;
  const detail = isObject(body.detail) ? body.detail.message : undefined;
  const code = [error.code, error.type, body.code, body.type].find(
    (value) => (typeof value === 'string' && value !== '') || typeof value === 'number',
  );
  return {
    message: cleanText(message ?? (typeof detail === 'string' ? detail : '')),
    ...(code === undefined ? {} : { code: cleanText(String(code), 80) }),
  };
}

/** The wire's `error_type` where the provider's words say more than its status; undefined where they don't. */
function errorTypeOf(status: number, code: string | undefined, message: string): string | undefined {
  if (status !== 400 && status !== 413 && status !== 422) return undefined;
  const words = `${code ?? ''} ${message}`.toLowerCase();
  if (/context[_ ]length|maximum context|context window|too many tokens|prompt is too long/.test(words))
    return 'context_length_exceeded';
  if (/content[_ ](policy|filter)|content_policy_violation|responsibleai/.test(words))
    return 'content_policy_violation';
  if (/string_above_max_length|string_too_long/.test(words)) return 'string_too_long';
  return undefined;
}
