import { retryAfterOf } from '../../base/http/retry-after.ts';
import { UpstreamError } from '../../base/http/upstream-error.ts';
import { cleanText } from '../../base/text/clean-text.ts';
import { isObject, type Loose } from '../../base/values.ts';
import { errorBody } from '../shared/error-body.ts';
import { contextIsFull, saysContextIsFull } from '../shared/full-context.ts';
import { saysBillIsUnpaid, unpaidBill } from '../shared/unpaid-bill.ts';

interface ErrorText {
  message: string;
  code?: string;
  /** The words of the provider, where a gateway between us and the provider passes them on. */
  further?: string;
}

/** Reads an error response: an error object, an error string, `detail`, `message`, or no JSON at all. */
export function decodeError(
  status: number,
  headers: Record<string, string>,
  body: string,
  nowMs: number,
): UpstreamError {
  const { message, code, further } = readError(body);
  const isFull = saysContextIsFull(status, code, message, further);
  return new UpstreamError(message || `The provider responded with status ${status}.`, {
    reason: 'status',
    status,
    ...(isContentRefusal(status, code, message) ? { fault: 'caller' } : {}),
    retryAfterMs: retryAfterOf(headers, nowMs),
    providerCode: code,
    errorType: errorTypeOf(status, code, message),
    ...(isFull ? contextIsFull : saysBillIsUnpaid(status, code, message, further) ? unpaidBill : {}),
  });
}

/**
 * Returns the error inside a response with a success status, or inside a stream event; null where there is none. One
 * that names a status is handled as if the response had that status.
 */
export function errorIn(body: Loose): UpstreamError | null {
  // Some servers send the error itself as the body.
  const error = body.error || (body.object === 'error' && body);
  if (!error || (isObject(error) && Object.keys(error).length === 0)) return null;
  const { message, code, further } = textOf(body);
  const status = namedStatus(body);
  const isFull = saysContextIsFull(status, code, message, further);
  const named = status ?? (isContentRefusal(400, code, message) ? 400 : null);
  return new UpstreamError(message || 'The provider reported an error.', {
    ...(named === null ? { reason: 'bad_response', status: 502 } : { reason: 'status', status: named }),
    ...(isContentRefusal(named ?? 502, code, message) ? { fault: 'caller' } : {}),
    providerCode: code,
    errorType: errorTypeOf(named ?? 400, code, message),
    ...(isFull ? contextIsFull : saysBillIsUnpaid(status, code, message, further) ? unpaidBill : {}),
  });
}

/** Returns the HTTP status that an error names, as a number or as its digits. */
function namedStatus(body: Loose): number | null {
  const error = isObject(body.error) ? body.error : {};
  for (const value of [error.status, error.status_code, error.code, body.status, body.status_code, body.code]) {
    const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value;
    if (typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599) return status;
  }
  return null;
}

function readError(body: string): ErrorText {
  const read = errorBody(body);
  return typeof read === 'string' ? { message: read } : textOf(read);
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
    ...furtherIn(error),
  };
}

function furtherIn({ metadata }: Loose): { further?: string } {
  const raw = isObject(metadata) ? metadata.raw : undefined;
  return typeof raw === 'string' ? { further: raw } : {};
}

/** The most issues of a list that are shown. */
const maxIssues = 5;

/**
 * Returns the text of a value: of an object its message; of a list, as servers on pydantic send it, the place and the
 * text of each issue.
 */
function wordsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.slice(0, maxIssues).map(issueText).filter(Boolean).join('; ');
  if (!isObject(value)) return '';
  return Array.isArray(value.detail) ? wordsOf(value.detail) : typeof value.message === 'string' ? value.message : '';
}

/**
 * Returns the text of an issue, such as `body.messages.0.content: Field required`. The value in the request is left
 * out: it may be a part of the prompt.
 */
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

/** The words with which providers refuse the content of a request, or of their response to it. */
const refusedContent = new RegExp(
  [
    'content[_ -]?(?:policy|filter|moderation|management|safety)',
    'content (?:exists risk|violates)',
    'responsible_?ai',
    'usage (?:guidelines|polic)',
    'safety[_ ](?:check|system|filter|polic|guideline)',
    'moderation',
    '(?:was|were|been|input) flagged',
    'data_?inspection',
    'sensitive (?:content|information|words?)|(?:new|input|output)_sensitive',
    'prohibited_?content',
    'inappropriate content',
    'censor',
    'invalid_prompt',
  ].join('|'),
);
/** The codes for the same, which providers send with any status. */
const refusalCode =
  /^(?:content_?(?:filter|policy|moderation)\w*|responsible_?ai\w*|moderation_\w+|data_?inspection\w*|prohibited_?content|invalid_prompt)$/;
/** The words of a status of 403 about an operator whose account the provider has closed. */
const closedAccount = /account|suspended|deactivated|terminated|banned|billing/;

/** true: a provider refuses the content. That is the caller's fault, for every key. */
function isContentRefusal(status: number, code: string | undefined, message: string): boolean {
  const kind = code?.toLowerCase() ?? '';
  if (status !== 400 && status !== 403 && status !== 422 && status !== 451) return refusalCode.test(kind);
  const words = `${kind} ${message.toLowerCase()}`;
  return refusedContent.test(words) && !(status === 403 && closedAccount.test(words));
}

/** Returns the wire's `error_type` where the provider's words say more than its status; undefined where they don't. */
function errorTypeOf(status: number, code: string | undefined, message: string): string | undefined {
  const words = `${code ?? ''} ${message}`.toLowerCase();
  const isOfBody = status === 400 || status === 413 || status === 422;
  if (isContentRefusal(status, code, message)) return 'content_policy_violation';
  if (!isOfBody) return undefined;
  if (/string_above_max_length|string_too_long/.test(words)) return 'string_too_long';
  return undefined;
}
