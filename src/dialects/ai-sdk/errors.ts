import { UpstreamError } from '../../base/http/upstream-error.ts';
import type { Loose } from '../../base/values.ts';
import { errorIn as commonErrorIn, decodeError as decodeCommonError } from '../openai-chat/errors.ts';

/**
 * Reads the error of a model that was called: `{ error: { message, code } }`, written by the caller of the model, with
 * the status that the model's provider responded with.
 */
export function decodeError(
  status: number,
  headers: Record<string, string>,
  body: string,
  nowMs: number,
): UpstreamError {
  return decodeCommonError(status, headers, body, nowMs);
}

/** Returns the error in an event, which names its status. */
export function errorIn(event: Loose): UpstreamError {
  return (
    commonErrorIn({ error: event.error }) ??
    new UpstreamError('The model reported an error.', { reason: 'bad_response', status: 502 })
  );
}
