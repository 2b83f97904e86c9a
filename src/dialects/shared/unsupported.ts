import { UpstreamError } from '../../base/http/upstream-error.ts';

/**
 * Makes the error of a part of the request that the provider cannot take. Nothing is sent. The next target is called,
 * which may be another endpoint of the model; where none is left, the caller gets 400 with this message.
 * @param path      place in the request, such as `messages[0].content[1]`
 * @param expected  completes "expected …", such as `an image as a data URL`
 */
export function unsupported(path: string, expected: string): UpstreamError {
  return new UpstreamError(`${path}: expected ${expected}`, {
    reason: 'status',
    status: 400,
    fault: 'caller',
    errorType: 'invalid_request',
    isUnsent: true,
  });
}
