/**
 * Whose fault a failed exchange with a provider was; it decides what is tried next.
 * - `caller`: the request itself is refused (400, 404, 413, 422): no endpoint of this model will take it, another model may
 * - `operator`: our key, our bill (401, 402, 403): this credential will not do, another endpoint may
 * - `transient`: rate limit, overload, 5xx, network, time-out, a bad answer: the same endpoint may do later
 */
export type UpstreamFault = 'caller' | 'operator' | 'transient';

export type UpstreamReason =
  /** the provider answered with an error status */
  | 'status'
  /** no connection, reset, TLS, DNS */
  | 'network'
  /** no headers, no first event, or no further event in time */
  | 'timeout'
  /** a success status whose body is an error, HTML, empty, cut, malformed or beyond a limit */
  | 'bad_answer';

export interface UpstreamErrorOptions {
  reason: UpstreamReason;
  /** The provider's HTTP status; 524 for a time-out and 502 for network failures and bad answers. */
  status: number;
  /** Default: from the status. */
  fault?: UpstreamFault;
  /** How long the provider asked to be left alone. */
  retryAfterMs?: number;
  /** The wire's `error_type`, such as `context_length_exceeded`. Default: from the status. */
  errorType?: string;
  /** The provider's own error code or type, bounded and clean. */
  providerCode?: string;
  /** What the provider said the failed exchange used, in our wire shape: it will be on the bill. */
  usage?: object | null;
  cause?: unknown;
}

/**
 * One exchange with a provider failed. Never leaves `pipeline/`, and only it is retried. Its message is the provider's
 * own text where there is one: bounded, without control characters, with keys redacted.
 */
export class UpstreamError extends Error {
  readonly reason: UpstreamReason;
  readonly status: number;
  readonly fault: UpstreamFault;
  readonly retryAfterMs: number | undefined;
  readonly errorType: string;
  readonly providerCode: string | undefined;
  readonly usage: object | null;

  constructor(message: string, options: UpstreamErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'UpstreamError';
    this.reason = options.reason;
    this.status = options.status;
    this.fault = options.fault ?? faultOf(options.reason, options.status);
    this.retryAfterMs = options.retryAfterMs;
    this.errorType = options.errorType ?? errorTypeOf(options.status);
    this.providerCode = options.providerCode;
    this.usage = options.usage ?? null;
  }

  /** The same error with more known of it, and without its cause, which may quote what a message was cleaned of. */
  with(more: { message?: string; providerCode?: string | undefined; usage?: object | null }): UpstreamError {
    const { message, reason, status, fault, retryAfterMs, errorType, providerCode, usage } = this;
    return new UpstreamError(more.message ?? message, {
      reason,
      status,
      fault,
      retryAfterMs,
      errorType,
      providerCode: more.providerCode ?? providerCode,
      usage: more.usage ?? usage,
    });
  }
}

function faultOf(reason: UpstreamReason, status: number): UpstreamFault {
  if (reason !== 'status') return 'transient';
  if (status === 401 || status === 402 || status === 403) return 'operator';
  if (status === 408 || status === 425 || status === 429 || status >= 500) return 'transient';
  return status >= 400 ? 'caller' : 'transient';
}

function errorTypeOf(status: number): string {
  if (status === 404) return 'not_found';
  if (status === 408 || status === 504 || status === 524) return 'timeout';
  if (status === 413) return 'payload_too_large';
  if (status === 422) return 'unprocessable';
  if (status === 429) return 'rate_limit_exceeded';
  if (status === 503 || status === 529) return 'provider_overloaded';
  if (status === 400) return 'invalid_request';
  return 'provider_unavailable';
}
