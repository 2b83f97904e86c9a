import { UpstreamError } from '../../base/http/upstream-error.ts';
import { cleanText } from '../../base/text/clean-text.ts';
import { isObject, type Loose } from '../../base/values.ts';
import { decodeError as decodeCommonError } from '../openai-chat/errors.ts';
import { contextIsFull, saysContextIsFull } from '../shared/errors/full-context.ts';
import { badResponse } from '../shared/values.ts';

/** The words with which Cohere refuses the content of a request. */
const refusedContent = /blocked (?:input|output)|input blocked|output blocked|terms of use|usage guidelines/i;

/**
 * Reads an error response: `{ message, id }`. Where its words matter, they are those of other providers, such as "too
 * many tokens".
 * @see https://docs.cohere.com/reference/errors
 */
export function decodeError(
  status: number,
  headers: Record<string, string>,
  body: string,
  nowMs: number,
): UpstreamError {
  const error = decodeCommonError(status, headers, body, nowMs);
  // 498: the API key is not valid, or no longer. 499: the request was cancelled, which Cohere calls worth repeating.
  const fault = status === 498 ? 'operator' : status === 499 ? 'transient' : null;
  if (fault !== null) return as(error, { fault, errorType: 'provider_unavailable' });
  if ((status === 400 || status === 403 || status === 422) && refusedContent.test(error.message))
    return as(error, { fault: 'caller', errorType: 'content_policy_violation' });
  return error;
}

function as(
  { message, status, fault, errorType, retryAfterMs, providerCode }: UpstreamError,
  more: Partial<Pick<UpstreamError, 'fault' | 'errorType'>>,
): UpstreamError {
  return new UpstreamError(message, {
    reason: 'status',
    status,
    fault,
    errorType,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(providerCode === undefined ? {} : { providerCode }),
    ...more,
  });
}

/**
 * Returns the error inside a response with a success status, or inside an event: a text in `error`, or a `message` that
 * is a text, where a response has an object. null: there is none.
 */
export function errorIn(body: Loose): UpstreamError | null {
  const { error, message } = body;
  const text = [error, isObject(error) ? error.message : undefined, message].find(isText);
  if (text === undefined) return null;
  const said = cleanText(text) || 'The provider reported an error.';
  if (saysContextIsFull(null, undefined, said)) return new UpstreamError(said, contextIsFull);
  if (!refusedContent.test(said)) return badResponse(said);
  return new UpstreamError(said, {
    reason: 'status',
    status: 400,
    fault: 'caller',
    errorType: 'content_policy_violation',
  });
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
