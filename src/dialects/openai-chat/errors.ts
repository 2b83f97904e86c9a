import { retryAfterOf } from '../../base/http/retry-after.ts';
import { UpstreamError, type UpstreamErrorOptions } from '../../base/http/upstream-error.ts';
import { cleanText } from '../../base/text/clean-text.ts';
import { isObject, type Loose } from '../../base/values.ts';
import { errorBody } from '../shared/errors/error-body.ts';
import { contextIsFull, saysContextIsFull } from '../shared/errors/full-context.ts';
import { overloaded, saysOverloaded } from '../shared/errors/overload.ts';
import { saysContentIsRefused } from '../shared/errors/refused-content.ts';
import { saysBillIsUnpaid, unpaidBill } from '../shared/errors/unpaid-bill.ts';

interface ErrorText {
  message: string;
  code?: string | undefined;
  /** The words of the provider, where a gateway between us and the provider passes them on. */
  further?: string | undefined;
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
    ...(saysContentIsRefused(status, code, message) ? { fault: 'caller' } : {}),
    retryAfterMs: retryAfterOf(headers, nowMs),
    providerCode: code,
    errorType: errorTypeOf(status, code, message),
    ...meaningOf(status, { message, code, further }, isFull),
    ...(status === 400 || status === 422 ? thoughtsWanted(`${message} ${further ?? ''}`) : {}),
  });
}

const ofThoughts = /\b(reasoning_content|reasoning_details|reasoning_text|reasoning|thinking)\b/;
const saysMissing =
  /must be (?:passed|sent|provided|included|returned|present)|is missing|is required|missing (?:the )?field/;
const saysUnknown =
  /not permitted|unsupported|not supported|unrecogni[sz]ed|unknown|unexpected|not allowed|extra (?:inputs|fields?)|additional propert/;

/** Returns the meaning of a refusal for the field of assistant messages in which thoughts go back. */
function thoughtsWanted(said: string): Pick<UpstreamErrorOptions, 'wantsThoughtsIn'> {
  const words = said.slice(0, 1_000).toLowerCase();
  const field = ofThoughts.exec(words)?.[1];
  if (field === undefined || !/message|assistant|thinking mode/.test(words)) return {};
  if (saysMissing.test(words)) return { wantsThoughtsIn: field };
  return saysUnknown.test(words) ? { wantsThoughtsIn: null } : {};
}

/** Returns the meaning of an error's words beyond its status. */
function meaningOf(
  status: number | null,
  { message, code, further }: ErrorText,
  isFull: boolean,
): Partial<UpstreamErrorOptions> {
  if (isFull) return contextIsFull;
  if (saysBillIsUnpaid(status, code, message, further)) return unpaidBill;
  return saysOverloaded(status, code, message) ? overloaded : {};
}

/**
 * Returns the error inside a response with a success status, or inside a stream event; null where there is none. One
 * that names a status is handled as if the response had that status.
 */
export function errorIn(given: Loose): UpstreamError | null {
  const body = ofMiniMax(given) ?? given;
  // Some servers send the error itself as the body.
  const error = body.error || (isBareError(body) && body);
  if (!error || (isObject(error) && Object.keys(error).length === 0)) return null;
  const { message, code, further } = textOf(body);
  const status = namedStatus(body);
  const isFull = saysContextIsFull(status, code, message, further);
  const named = status ?? (saysContentIsRefused(400, code, message) ? 400 : null);
  return new UpstreamError(message || 'The provider reported an error.', {
    ...(named === null ? { reason: 'bad_response', status: 502 } : { reason: 'status', status: named }),
    ...(saysContentIsRefused(named ?? 502, code, message) ? { fault: 'caller' } : {}),
    providerCode: code,
    errorType: errorTypeOf(named ?? 400, code, message),
    ...meaningOf(status, { message, code, further }, isFull),
  });
}

/** Tells whether the body itself is the error: some servers have no object around it. */
function isBareError(body: Loose): boolean {
  if (body.object === 'error') return true;
  if (body.choices !== undefined && body.choices !== null) return false;
  const { message, msg, error_msg, detail, errors, code, error_code, type, status, success } = body;
  if (error_code !== undefined || Array.isArray(errors)) return wordsOf(error_msg ?? message ?? errors) !== '';
  if (wordsOf(detail) !== '') return true;
  const saysFault =
    (code !== undefined && code !== 0 && code !== '0' && code !== 200) ||
    /error|exception/i.test(typeof type === 'string' ? type : '') ||
    status === 'error' ||
    success === false;
  return saysFault && typeof (message ?? msg) === 'string';
}

/** MiniMax says in `base_resp` of each response how it went; 0 is a success. */
function ofMiniMax({ base_resp: end }: Loose): Loose | null {
  if (!isObject(end) || typeof end.status_code !== 'number' || end.status_code === 0) return null;
  return { error: { message: end.status_msg, code: end.status_code } };
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
  const message = [error.message, body.message, body.detail, body.error, body.errors, body.error_msg, body.msg]
    .map(wordsOf)
    .find((text) => text !== '');
  const code = [error.code, error.type, body.code, body.error_code, body.type].find(
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

/** Returns the wire's `error_type` where the provider's words say more than its status; undefined where they don't. */
function errorTypeOf(status: number, code: string | undefined, message: string): string | undefined {
  const words = `${code ?? ''} ${message}`.toLowerCase();
  const isOfBody = status === 400 || status === 413 || status === 422;
  if (saysContentIsRefused(status, code, message)) return 'content_policy_violation';
  if (!isOfBody) return undefined;
  if (/string_above_max_length|string_too_long/.test(words)) return 'string_too_long';
  return undefined;
}
