import { GatewayError } from './errors.ts';

/** What is wrong with an input, and where; '' is the input itself. */
export interface Issue {
  path: string;
  message: string;
}

/** The message describes the first issue; the metadata holds all issues. */
export function refusal(
  kind: 'invalid_request' | 'unprocessable',
  issues: readonly Issue[],
  cause?: unknown,
): GatewayError {
  const [first] = issues;
  return new GatewayError(kind, first ? textOf(first) : 'The body is not valid', { metadata: { issues }, cause });
}

/** A wrong argument of a function that the host app calls. */
export function wrongArgument(path: string, message: string): GatewayError {
  return refusal('invalid_request', [{ path, message }]);
}

/** One line that names the place, where there is one. */
export function textOf({ path, message }: Issue): string {
  return path === '' ? message : `${path}: ${message}`;
}
