import { cleanText } from '../../base/clean-text.ts';
import { retryAfterOf } from '../../base/retry-after.ts';
import { UpstreamError } from '../../base/upstream-error.ts';
import { isObject, type Loose } from './values.ts';

interface ErrorText {
  message: string;
  code?: string;
}

/** Reads an error response: an error object, an error string, `detail`, `message`, or no JSON at all. */
export function decodeError(
  status: number,
  headers: Record<string, string>,
  body: string,
  nowMs: number,
): UpstreamError {
  const { message, code } = readError(body);
  return new UpstreamError(message || `The provider responded with status ${status}.`, {
    reason: 'status',
    status,
    retryAfterMs: retryAfterOf(headers, nowMs),
    providerCode: code,
    errorType: errorTypeOf(status, code, message),
  });
}

/**
 * The error inside a response with a success status, or inside a stream event; null where there is none. One that names
 * a status is handled as if the response had that status.
 */
export function errorIn(body: Loose): UpstreamError | null {
  // Some servers send the error itself as the body.
  const error = body.error || (body.object === 'error' && body);
  if (!error || (isObject(error) && Object.keys(error).length === 0)) return null;
  const { message, code } = textOf(body);
  const named = namedStatus(body);
  return new UpstreamError(message || 'The provider reported an error.', {
    ...(named === null ? { reason: 'bad_response', status: 502 } : { reason: 'status', status: named }),
    providerCode: code,
    errorType: errorTypeOf(named ?? 400, code, message),
  });
}

/** The HTTP status that an error names, as a number or as its digits. */
function namedStatus(body: Loose): number | null {
  const error = isObject(body.error) ? body.error : {};
  for (const value of [error.status, error.status_code, error.code, body.status, body.status_code, body.code]) {
    const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value;
    if (typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599) return status;
  }
  return null;
}

function readError(body: string): ErrorText {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    // A page of HTML means nothing to an API client.
    return { message: /^\s*</.test(body) ? '' : cleanText(body, 300) };
  }
  const first = Array.isArray(parsed) ? parsed[0] : parsed;
  return isObject(first) ? textOf(first) : { message: typeof first === 'string' ? cleanText(first) : '' };
}

function textOf(body: Loose): ErrorText {
  const error = isObject(body.error) ? body.error : body;
  const message = [error.message, body.message, body.detail, body.error, body.errors]
    .map(wordsOf)
    .find((text) => text !== '');
  const code = [error.code, error.type, body.code, body.type].find(
    (value) => (typeof value === 'string' && value !== '') || typeof value === 'number',
  );
  return {
    message: cleanText(message ?? ''),
    ...(code === undefined ? {} : { code: cleanText(String(code), 80) }),
  };
}

/** How many issues of a list are shown. */
const maxIssues = 5;

/** The text of a value; of an object its message; of a list, as servers on pydantic send it, where each issue is and what it is. */
function wordsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.slice(0, maxIssues).map(issueText).filter(Boolean).join('; ');
  if (!isObject(value)) return '';
  return Array.isArray(value.detail) ? wordsOf(value.detail) : typeof value.message === 'string' ? value.message : '';
}

/** `body.messages.0.content: Field required`. What the request held there is left out: it may be a part of the prompt. */
function issueText(issue: unknown): string {
  if (typeof issue === 'string') return issue;
  if (!isObject(issue)) return '';
  const text = [issue.msg, issue.message].find((one) => typeof one === 'string') ?? '';
  const place = Array.isArray(issue.loc) ? issue.loc.filter(isPlace).join('.') : '';
  return place === '' || text === '' ? (text as string) : `${place}: ${text}`;
}

function isPlace(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

/** How providers say that a request does not fit the model's context. Agents shorten their conversation on this alone. */
const fullContext = new RegExp(
  [
    'context[_ ](?:length|size|window)',
    'maximum (?:context|prompt|input) ?(?:length|size|tokens)?',
    'too many tokens',
    '(?:prompt|input) (?:is too long|exceeds max)',
    'input token count .* exceeds',
    'exceeded model token limit',
    'reduce the length of (?:the|your) (?:messages|prompt|input)',
  ].join('|'),
);

/** The wire's `error_type` where the provider's words say more than its status; undefined where they don't. */
function errorTypeOf(status: number, code: string | undefined, message: string): string | undefined {
  if (status !== 400 && status !== 413 && status !== 422) return undefined;
  const words = `${code ?? ''} ${message}`.toLowerCase();
  if (fullContext.test(words)) return 'context_length_exceeded';
  if (/content[_ ](policy|filter)|content_policy_violation|responsibleai/.test(words))
    return 'content_policy_violation';
  if (/string_above_max_length|string_too_long/.test(words)) return 'string_too_long';
  return undefined;
}
