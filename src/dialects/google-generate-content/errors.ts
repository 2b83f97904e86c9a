import { parseRetryAfter, retryAfterOf } from '../../base/http/retry-after.ts';
import { UpstreamError, type UpstreamFault } from '../../base/http/upstream-error.ts';
import { cleanText } from '../../base/text/clean-text.ts';
import { isObject, type Loose } from '../../base/values.ts';
import type { Usage } from '../../schema/chat/chat.ts';
import { errorBody } from '../shared/errors/error-body.ts';
import { contextIsFull, saysContextIsFull } from '../shared/errors/full-context.ts';
import { saysContentIsRefused } from '../shared/errors/refused-content.ts';
import { saysBillIsUnpaid, unpaidBill } from '../shared/errors/unpaid-bill.ts';
import { badResponse } from '../shared/values.ts';

interface ErrorText {
  message: string;
  /** Google's word for the status, such as `RESOURCE_EXHAUSTED`. */
  code?: string;
  /** The HTTP status that the error names. */
  status?: number;
  /** Google's own reason, such as `API_KEY_INVALID`. */
  cause?: string;
  /** The pause that is asked for, such as `34.07s`. */
  delay?: string;
  /** The quotas that are used up, such as `GenerateRequestsPerDayPerProjectPerModel-FreeTier`. */
  quotas?: string;
}

/**
 * Reads an error response.
 * @see https://docs.cloud.google.com/apis/design/errors
 */
export function decodeError(
  status: number,
  headers: Record<string, string>,
  body: string,
  nowMs: number,
): UpstreamError {
  const text = readError(body);
  return errorOf(text.message || `The provider responded with status ${status}.`, status, text, () =>
    retryAfterOf(headers, nowMs),
  );
}

/** Returns the error inside a response with a success status, or inside a stream event; null where there is none. */
export function errorIn(body: Loose): UpstreamError | null {
  const { error } = body;
  if (!error || (isObject(error) && Object.keys(error).length === 0)) return null;
  const text = textOf(body);
  const message = text.message || 'The provider reported an error.';
  if (text.status === undefined && !saysContextIsFull(null, text.code, message)) return badResponse(message, text.code);
  return errorOf(message, text.status ?? 400, text, () => undefined);
}

/**
 * Returns the refusal of a prompt: there is no response to it.
 * @see https://ai.google.dev/api/generate-content "PromptFeedback"
 */
export function refusalIn({ promptFeedback: feedback, candidates }: Loose, usage: Usage | null): UpstreamError | null {
  if (!isObject(feedback) || (Array.isArray(candidates) && candidates.length > 0)) return null;
  const { blockReason: reason, blockReasonMessage: words } = feedback;
  if (typeof reason !== 'string' && typeof reason !== 'number') return null;
  const said = typeof words === 'string' ? cleanText(words) : '';
  return new UpstreamError(said || `The provider refused the prompt (${cleanText(String(reason), 80)}).`, {
    reason: 'status',
    status: 400,
    fault: 'caller',
    errorType: 'content_policy_violation',
    providerCode: cleanText(String(reason), 80),
    usage,
  });
}

function errorOf(
  message: string,
  status: number,
  { code, cause, delay, quotas }: ErrorText,
  waitInHeaders: () => number | undefined,
): UpstreamError {
  const words = `${code ?? ''} ${cause ?? ''} ${message}`.toLowerCase();
  const isOfBody = status === 400 || status === 413 || status === 422;
  const isRefusal = isOfBody && saysContentIsRefused(status, code, `${cause ?? ''} ${message}`);
  const fault: UpstreamFault | undefined = isRefusal
    ? 'caller'
    : isOfBody && operators.test(words)
      ? 'operator'
      : undefined;
  const retryAfterMs = parseRetryAfter(delay?.replace(/s$/, ''), 0) ?? waitInHeaders();
  return new UpstreamError(message, {
    reason: 'status',
    status,
    ...(fault === undefined ? {} : { fault }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(code === undefined ? {} : { providerCode: code }),
    ...(isRefusal ? { errorType: 'content_policy_violation' } : {}),
    ...(fault !== 'operator' && saysContextIsFull(status, code, message) ? contextIsFull : {}),
    ...(isUnpaid(status, { code: cause ?? code, delay, quotas }, message) ? unpaidBill : {}),
  });
}

/**
 * true: the bill, or the quota of a day, is the reason. Google names the plan and the bill with any quota: where it
 * asks for a pause, and no quota is that of a day, it means a rate.
 */
function isUnpaid(
  status: number,
  { code, delay, quotas }: { [K in 'code' | 'delay' | 'quotas']: string | undefined },
  message: string,
): boolean {
  if (delay !== undefined && !/perday/i.test(quotas ?? '')) return false;
  return saysBillIsUnpaid(status, code, message, quotas);
}

/** Faults of the key, the account or its country come with the status of a faulty request. */
const operators =
  /api_key_(?:invalid|service_blocked|http_referrer|ip_address|android|ios)|api key (?:not valid|not found|expired)|user location is not supported|enable billing|billing_disabled/;

function readError(body: string): ErrorText {
  const read = errorBody(body);
  return typeof read === 'string' ? { message: read } : textOf(read);
}

function textOf(body: Loose): ErrorText {
  if (typeof body.error === 'string') return { message: cleanText(body.error) };
  const error = isObject(body.error) ? body.error : body;
  const text: ErrorText = { message: typeof error.message === 'string' ? cleanText(error.message) : '' };
  const { code } = error;
  if (typeof error.status === 'string' && error.status !== '') text.code = cleanText(error.status, 80);
  else if (typeof code === 'string' || typeof code === 'number') text.code = cleanText(String(code), 80);
  if (typeof code === 'number' && Number.isInteger(code) && code >= 400 && code <= 599) text.status = code;
  for (const detail of Array.isArray(error.details) ? error.details.slice(0, 20) : []) {
    if (!isObject(detail)) continue;
    if (typeof detail.retryDelay === 'string') text.delay = detail.retryDelay;
    if (typeof detail.reason === 'string') text.cause ??= cleanText(detail.reason, 80);
    for (const violation of Array.isArray(detail.violations) ? detail.violations.slice(0, 20) : [])
      if (isObject(violation) && typeof violation.quotaId === 'string')
        text.quotas = `${text.quotas ?? ''} ${cleanText(violation.quotaId, 80)}`;
  }
  return text;
}
