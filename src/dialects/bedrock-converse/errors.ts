import { retryAfterOf } from '../../base/http/retry-after.ts';
import { UpstreamError, type UpstreamFault } from '../../base/http/upstream-error.ts';
import { JsonError, parseJson } from '../../base/json.ts';
import { cleanText } from '../../base/text/clean-text.ts';
import { isObject, type Loose } from '../../base/values.ts';
import { contextIsFull, saysContextIsFull } from '../shared/errors/full-context.ts';
import { saysContentIsRefused } from '../shared/errors/refused-content.ts';
import { saysBillIsUnpaid, unpaidBill } from '../shared/errors/unpaid-bill.ts';
import { saysThoughtMismatch } from '../shared/thought-bindings.ts';

/** The most depth of an error's JSON. */
const maxDepth = 32;

/**
 * The statuses by the name of an exception, in lower case: inside a stream there is no other status. A quota that is
 * used up is a matter of time, though Bedrock sends 400.
 * @see https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html
 */
const statuses = new Map([
  ['accessdeniedexception', 403],
  ['conflictexception', 409],
  ['internalfailure', 500],
  ['internalserverexception', 500],
  ['modelerrorexception', 424],
  ['modelnotreadyexception', 429],
  ['modelstreamerrorexception', 424],
  ['modeltimeoutexception', 408],
  ['resourcenotfoundexception', 404],
  ['servicequotaexceededexception', 429],
  ['serviceunavailable', 503],
  ['serviceunavailableexception', 503],
  ['throttlingexception', 429],
  ['validationexception', 400],
]);

/** The exceptions of AWS about keys and signatures, some of them with 400. */
const ofKeys =
  /^(?:expiredtoken|incompletesignature|invalidclienttokenid|invalidsignature|missingauthenticationtoken|notauthorized|optinrequired|requestexpired|unrecognizedclient)/;

/** In words of its own. */
const refusedContent = /blocked by/;

/** Reads an error response: the name of the exception is in a header, or in the body. */
export function decodeError(
  status: number,
  headers: Record<string, string>,
  body: string,
  nowMs: number,
): UpstreamError {
  const fields = fieldsOf(body);
  const code = codeOf(headers['x-amzn-errortype']) ?? codeIn(fields);
  const message = fields === null ? plainText(body) : messageIn(fields);
  return errorOf(
    message || `The provider responded with status ${status}.`,
    code,
    status,
    retryAfterOf(headers, nowMs),
  );
}

/**
 * Makes the error of an exception that came as an event of a stream, or as the body of a success.
 * @param name  the name of the exception, such as `throttlingException`
 */
export function errorOfException(name: string, fields: Loose): UpstreamError {
  const code = codeOf(name);
  const own = fields.originalStatusCode;
  const status = statusOf(code) ?? (typeof own === 'number' && own >= 400 && own <= 599 ? Math.trunc(own) : 500);
  const original = typeof fields.originalMessage === 'string' ? fields.originalMessage : '';
  const message = messageIn(fields) || cleanText(original);
  return errorOf(message || `The provider broke off its response (${code ?? 'unknown'}).`, code, status);
}

/** Returns the name of an exception in a body that should be a result; null where it is none. */
export function exceptionIn(body: Loose): string | null {
  if (body.output !== undefined) return null;
  return codeIn(body) ?? (messageIn(body) === '' ? null : 'unknown');
}

function errorOf(message: string, code: string | undefined, given: number, retryAfterMs?: number): UpstreamError {
  const name = code?.toLowerCase() ?? '';
  const status = ofKeys.test(name) && given < 500 ? 401 : ((given === 400 ? statusOf(code) : undefined) ?? given);
  const isRefusal =
    status === 400 && (refusedContent.test(message.toLowerCase()) || saysContentIsRefused(status, undefined, message));
  const errorType = isRefusal ? 'content_policy_violation' : undefined;
  const fault = faultOf(status, errorType);
  return new UpstreamError(message, {
    reason: 'status',
    status,
    ...(fault === undefined ? {} : { fault }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(code === undefined ? {} : { providerCode: code }),
    ...(errorType === undefined ? {} : { errorType }),
    // The code is the name of an exception, which does not tell of a full context.
    ...(saysContextIsFull(status, undefined, message) ? contextIsFull : {}),
    ...(saysBillIsUnpaid(status, undefined, message) ? unpaidBill : {}),
    ...(saysThoughtMismatch(status, message) ? { isThoughtMismatch: true } : {}),
  });
}

/** Returns the party at fault. 424 is the model's own failure, not the caller's. */
function faultOf(status: number, errorType: string | undefined): UpstreamFault | undefined {
  if (status === 424 || status === 409) return 'transient';
  return errorType === 'content_policy_violation' ? 'caller' : undefined;
}

function statusOf(code: string | undefined): number | undefined {
  return code === undefined ? undefined : statuses.get(code.toLowerCase());
}

/** Reads `ValidationException:http://internal.amazon.com/…` and `com.amazon.coral.service#ValidationException`. */
function codeOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const name = cleanText((value.split(':')[0] as string).split('#').at(-1) as string, 80);
  return name === '' ? undefined : name;
}

function codeIn(fields: Loose | null): string | undefined {
  return codeOf(fields?.__type) ?? codeOf(fields?.code);
}

function messageIn(fields: Loose): string {
  const message = [fields.message, fields.Message].find((value) => typeof value === 'string');
  return cleanText((message as string | undefined) ?? '');
}

/** @returns null: the body is no JSON object */
function fieldsOf(body: string): Loose | null {
  try {
    const parsed = parseJson(body, maxDepth);
    return isObject(parsed) ? parsed : null;
  } catch (error) {
    if (error instanceof JsonError) return null;
    throw error;
  }
}

/** Returns the text of a body. A page of HTML means nothing to an API client. */
function plainText(body: string): string {
  return /^\s*</.test(body) ? '' : cleanText(body, 300);
}
