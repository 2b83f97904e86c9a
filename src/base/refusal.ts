import { GatewayError } from './errors.ts';

/** A mistake in an input, and its place. */
export interface Issue {
  /** Place of the issue, such as `messages[0].content` or `metadata["my key"]`; '': the input itself. */
  path: string;
  /** The expected value. It may name keys, but never quotes a value of the input. */
  message: string;
}

/** Makes the error of a wrong input. The message describes the first issue; the metadata has all issues. */
export function refusal(
  kind: 'invalid_request' | 'permission_denied' | 'unprocessable',
  issues: readonly Issue[],
  cause?: unknown,
): GatewayError {
  const [first] = issues;
  return new GatewayError(kind, first ? issueText(first) : 'The body is not valid', { metadata: { issues }, cause });
}

/** The error for a wrong argument of a function that the host app calls. */
export function wrongArgument(path: string, message: string): GatewayError {
  return refusal('invalid_request', [{ path, message }]);
}

/** One line with the message, after the place if there is one. */
export function issueText({ path, message }: Issue): string {
  return path === '' ? message : `${path}: ${message}`;
}
