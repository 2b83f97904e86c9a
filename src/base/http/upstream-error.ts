/**
 * The party that caused the failure of an exchange with a provider. The fault decides which target is called next.
 * - `caller`: the provider refuses the request itself (400, 404, 413, 422). No endpoint of this model will accept it,
 * but another model may
 * - `operator`: our key or our bill (401, 402, 403). This credential will not work, but another endpoint may
 * - `transient`: rate limit, overload, 5xx, network, time-out, bad response. The same endpoint may work later
 */
export type UpstreamFault = 'caller' | 'operator' | 'transient';

export type UpstreamReason =
  /** the provider sent an error status */
  | 'status'
  /** no connection, reset, TLS, DNS */
  | 'network'
  /** no headers, no first event, or no further event in time */
  | 'timeout'
  /** a success status with a body that is an error, HTML, empty, cut, malformed or beyond a limit */
  | 'bad_response';

export interface UpstreamErrorOptions {
  reason: UpstreamReason;
  /** The provider's HTTP status; 524 for a time-out, and 502 for network failures and bad responses. */
  status: number;
  /** Default: from the status. */
  fault?: UpstreamFault;
  /** The pause that the provider asked for. */
  retryAfterMs?: number;
  /** The `error_type` of the body, such as `context_length_exceeded`. Default: from the status. */
  errorType?: string;
  /** The provider's own error code or type, with a bounded length and cleaned. */
  providerCode?: string;
  /** The body of the provider's error response, with a bounded length, cleaned, with keys redacted. */
  raw?: string | undefined;
  /** The usage that the provider reported for the failed exchange, in our own format: the provider will bill it. */
  usage?: object | null;
  /** true: nothing of the request can have reached the provider. Default false. */
  isUnsent?: boolean;
  /** true: a thought in the request does not fit the messages before it. Default false. */
  isThoughtMismatch?: boolean;
  /**
   * The field in which the provider wants thoughts that go back; null: it refuses those that it got. Default: it says
   * nothing of them.
   */
  wantsThoughtsIn?: string | null | undefined;
  /** For a time-out: the time that the gateway waited, in ms. */
  waitedMs?: number | undefined;
  /**
   * A description of the failure in the gateway's own words, for its log. Absent: only the provider's words describe
   * it.
   */
  failure?: string | undefined;
  cause?: unknown;
}

/**
 * One exchange with a provider failed. This error never leaves `pipeline/`, and only this error is retried. Its message
 * is the provider's own text, if there is one: bounded, without control characters, with keys redacted.
 */
export class UpstreamError extends Error {
  /** The reason of the failure, for code. */
  readonly reason: UpstreamReason;
  /** HTTP status of the provider's response. */
  readonly status: number;
  /** The party that can do something about it. */
  readonly fault: UpstreamFault;
  /** The pause that the provider asks for. */
  readonly retryAfterMs: number | undefined;
  /** A narrower `error_type` for the caller. */
  readonly errorType: string;
  /** The provider's own code of the error. */
  readonly providerCode: string | undefined;
  /** The body of the provider's error. */
  readonly raw: string | undefined;
  /** The tokens that the provider reported nevertheless. */
  readonly usage: object | null;
  /** true: the request never reached the provider. */
  readonly isUnsent: boolean;
  /** true: the provider would accept the request without the thoughts that do not fit. */
  readonly isThoughtMismatch: boolean;
  /** The field in which the provider wants thoughts; null: none; undefined: it does not say. */
  readonly wantsThoughtsIn: string | null | undefined;
  /** The time that the gateway waited for the provider, in ms. */
  readonly waitedMs: number | undefined;
  /** A description of the failure for the log. It contains nothing that the provider wrote into a body. */
  readonly failure: string | undefined;

  constructor(message: string, options: UpstreamErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'UpstreamError';
    this.reason = options.reason;
    this.status = options.status;
    this.fault = options.fault ?? faultOf(options.reason, options.status);
    this.retryAfterMs = options.retryAfterMs;
    this.errorType = options.errorType ?? errorTypeOf(options.status);
    this.providerCode = options.providerCode;
    this.raw = options.raw;
    this.usage = options.usage ?? null;
    this.isUnsent = options.isUnsent ?? false;
    this.isThoughtMismatch = options.isThoughtMismatch ?? false;
    this.wantsThoughtsIn = options.wantsThoughtsIn;
    this.waitedMs = options.waitedMs;
    this.failure = options.failure;
  }

  /** A copy with more details. The copy has no cause: the cause may quote text that the new message no longer holds. */
  with(more: Partial<Pick<UpstreamError, 'message' | 'providerCode' | 'raw' | 'usage' | 'failure'>>): UpstreamError {
    const { message, raw, reason, status, fault, retryAfterMs, errorType, providerCode, usage } = this;
    const { isUnsent, isThoughtMismatch, wantsThoughtsIn, waitedMs } = this;
    return new UpstreamError(more.message ?? message, {
      reason,
      status,
      fault,
      retryAfterMs,
      errorType,
      providerCode: more.providerCode ?? providerCode,
      raw: more.raw ?? raw,
      usage: more.usage ?? usage,
      isUnsent,
      isThoughtMismatch,
      wantsThoughtsIn,
      waitedMs,
      failure: more.failure ?? this.failure,
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
