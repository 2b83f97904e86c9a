import { GatewayError, isGatewayError } from '../../base/errors.ts';

const sdkError = Symbol.for('vercel.ai.error');
const callError = Symbol.for('vercel.ai.error.AI_APICallError');

/** The address in errors, which never resolves: nothing was sent. */
const url = 'http://gateway.invalid/v1/chat/completions';

/** Statuses after which a later call may succeed: a rate limit, or no target that is free now. */
const passing: readonly number[] = [429, 503, 529];

/**
 * An error of the gateway that the AI SDK knows as its `APICallError`, also where it asks `APICallError.isInstance`. The
 * gateway has retried and fallen back before it throws: `isRetryable` is true only where it says when to try again.
 * @see https://github.com/vercel/ai/blob/main/packages/provider/src/errors/api-call-error.ts
 */
class ApiCallError extends GatewayError {
  readonly [sdkError] = true;
  readonly [callError] = true;
  readonly url = url;
  readonly requestBodyValues: unknown;
  readonly statusCode: number;
  readonly responseHeaders: Record<string, string>;
  readonly responseBody: string;
  readonly isRetryable: boolean;
  readonly data: unknown;

  constructor(error: GatewayError, body: unknown, mayRetry: boolean) {
    const { kind, message, metadata, cause, retryAfterMs, errorType, headers, route, status } = error;
    super(kind, message, {
      cause,
      errorType,
      route,
      ...(metadata === undefined ? {} : { metadata }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(headers === undefined ? {} : { headers }),
    });
    this.name = 'AI_APICallError';
    this.requestBodyValues = body;
    this.statusCode = status;
    this.responseHeaders = {
      ...headers,
      ...(retryAfterMs === undefined
        ? {}
        : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)), 'retry-after-ms': String(Math.ceil(retryAfterMs)) }),
    };
    this.data = { error: { code: status, message, metadata: { error_type: errorType, ...metadata } } };
    this.responseBody = JSON.stringify(this.data);
    this.isRetryable = mayRetry && retryAfterMs !== undefined && passing.includes(status);
  }
}

/**
 * Returns an error as the AI SDK wants it. Another error than the gateway's, such as the reason of an abort, stays.
 * @param body      the request
 * @param mayRetry  false: a part of the response was delivered
 */
export function callErrorOf(error: unknown, body: unknown, mayRetry: boolean): unknown {
  return isGatewayError(error) ? new ApiCallError(error, body, mayRetry) : error;
}
