import { GatewayError } from './errors.ts';

/** What is wrong with an input, and where. */
export interface Issue {
  /** Place of the issue, such as `messages[0].content` or `metadata["my key"]`; '': the input itself. */
  path: string;
  /** The expected value. Holds names of keys, but never a value of the input. */
  message: string;
}

/** The message describes the first issue; the metadata holds all issues. */
export function refusal(
  kind: 'invalid_request' | 'permission_denied' | 'unprocessable',
  issues: readonly Issue[],
  cause?: unknown,
): GatewayError {
  const [first] = issues;
  return new GatewayError(kind, first ? issueText(first) : 'The body is not valid', { metadata: { issues }, cause });
}

/** A wrong argument of a function that the host app calls. */
export function wrongArgument(path: string, message: string): GatewayError {
  return refusal('invalid_request', [{ path, message }]);
}

/** One line that names the place, where there is one. */
export function issueText({ path, message }: Issue): string {
  return path === '' ? message : `${path}: ${message}`;
}
