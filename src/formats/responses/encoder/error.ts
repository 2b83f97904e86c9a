import type { ErrorBody } from '../../../schema/chat/envelope.ts';

/** The fields of a response that failed. */
export interface ResponseFailure {
  error: { code: string; message: string };
  /** The gateway's own word, which is more precise. */
  error_type: string;
}

/**
 * The few codes that clients know, by our `error_type`; all others are `server_error`, after which agents try again.
 * They do so in vain where the request itself is wrong: `invalid_prompt` ends the run.
 *
 * `context_length_exceeded` is not in the reference's list. Agents shorten the conversation after this word alone.
 */
const codes: ReadonlyMap<unknown, string> = new Map([
  ['rate_limit_exceeded', 'rate_limit_exceeded'],
  ['context_length_exceeded', 'context_length_exceeded'],
  ['invalid_request', 'invalid_prompt'],
  ['invalid_prompt', 'invalid_prompt'],
  ['max_tokens_exceeded', 'invalid_prompt'],
  ['token_limit_exceeded', 'invalid_prompt'],
  ['string_too_long', 'invalid_prompt'],
  ['content_policy_violation', 'image_content_policy_violation'],
  ['invalid_image', 'invalid_image'],
  ['image_too_large', 'image_too_large'],
  ['image_too_small', 'image_too_small'],
  ['unsupported_image_format', 'unsupported_image_media_type'],
  ['image_not_found', 'image_file_not_found'],
  ['image_download_failed', 'failed_to_download_image'],
]);

export function responseFailure({ message, metadata, type }: ErrorBody['error']): ResponseFailure {
  const named = metadata?.error_type ?? type;
  const errorType = typeof named === 'string' ? named : 'server';
  const code = codes.get(errorType) ?? 'server_error';
  return {
    error: { code, message: code === 'rate_limit_exceeded' ? withRetryTime(message, metadata) : message },
    error_type: errorType,
  };
}

const retryTime = /try again in \d/i;

/** Adds the time to wait to the message, where agents read it: there is no header any more. */
function withRetryTime(message: string, metadata: ErrorBody['error']['metadata']): string {
  const waitMs = metadata?.retry_after_ms;
  if (typeof waitMs !== 'number' || !(waitMs >= 0) || retryTime.test(message)) return message;
  const seconds = Math.ceil(waitMs / 100) / 10;
  return `${message}${/[.!?]$/.test(message) ? '' : '.'} Please try again in ${seconds}s.`;
}
