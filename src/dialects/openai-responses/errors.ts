import type { UpstreamError } from '../../base/http/upstream-error.ts';
import { isObject, type Loose } from '../../base/values.ts';
import { errorIn } from '../openai-chat/errors.ts';
import { badResponse } from '../shared/values.ts';

/** The reader of an error response, which looks as in chat completions. */
export { decodeError } from '../openai-chat/errors.ts';

/** The codes of errors that the request is at fault for. Where no HTTP status comes with them, they stand for 400. */
const ofTheRequest =
  /^(?:invalid_(?:image|base64|prompt|request)|image_|unsupported_image|empty_image|failed_to_download_image|context_length_exceeded|string_above_max|content_(?:policy|filter))/;

const statuses = new Map([
  ['rate_limit_exceeded', 429],
  ['insufficient_quota', 429],
  ['server_is_overloaded', 503],
  ['slow_down', 503],
]);

/**
 * Makes the error of a response that failed, or of an event `error`.
 * @param raw  `{ code, message }`, the same in `error`, or anything
 * @see https://platform.openai.com/docs/api-reference/responses-streaming/error
 */
export function responseError(raw: unknown): UpstreamError {
  const outer = isObject(raw) ? raw : {};
  const error: Loose = isObject(outer.error) ? outer.error : outer;
  const code = typeof error.code === 'string' ? error.code : typeof error.type === 'string' ? error.type : '';
  const known = ofTheRequest.test(code) ? 400 : statuses.get(code);
  const { type, ...others } = error;
  // The type of an event tells nothing of the error.
  const named = type === 'error' ? others : error;
  return (
    errorIn({ error: known === undefined ? named : { status: known, ...named } }) ??
    badResponse('The provider reported an error.')
  );
}
