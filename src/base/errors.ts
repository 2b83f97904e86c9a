/**
 * The kinds of errors that a caller sees. The table maps each kind to its HTTP status and to the `error_type` of the
 * body.
 * @see interface document, "Errors"; docs/errors.md
 */
const kinds = {
  invalid_request: { status: 400, errorType: 'invalid_request' },
  unauthenticated: { status: 401, errorType: 'authentication' },
  payment_required: { status: 402, errorType: 'payment_required' },
  permission_denied: { status: 403, errorType: 'permission_denied' },
  guardrail_blocked: { status: 403, errorType: 'permission_denied' },
  not_found: { status: 404, errorType: 'not_found' },
  method_not_allowed: { status: 405, errorType: 'invalid_request' },
  timeout: { status: 408, errorType: 'timeout' },
  payload_too_large: { status: 413, errorType: 'payload_too_large' },
  unsupported_media_type: { status: 415, errorType: 'invalid_request' },
  unprocessable: { status: 422, errorType: 'unprocessable' },
  upgrade_required: { status: 426, errorType: 'invalid_request' },
  rate_limited: { status: 429, errorType: 'rate_limit_exceeded' },
  internal: { status: 500, errorType: 'server' },
  upstream_failed: { status: 502, errorType: 'provider_unavailable' },
  unavailable: { status: 503, errorType: 'provider_overloaded' },
  plugin_timeout: { status: 504, errorType: 'timeout' },
  upstream_timeout: { status: 524, errorType: 'timeout' },
  overloaded: { status: 529, errorType: 'provider_overloaded' },
} as const satisfies Record<string, { status: number; errorType: string }>;

/** A kind of error. It picks the HTTP status, such as `not_found` 404. */
export type ErrorKind = keyof typeof kinds;

/**
 * Returns the kind of an error that was reported by its status or by its `error_type`, such as an error inside of a
 * stream. The first kind that fits counts; any other error is a failure of the provider.
 */
export function kindOf(status: unknown, errorType: unknown): ErrorKind {
  const all = Object.entries(kinds) as [ErrorKind, { status: number; errorType: string }][];
  const found = all.find(([, kind]) => kind.status === status) ?? all.find(([, kind]) => kind.errorType === errorType);
  return found?.[0] ?? 'upstream_failed';
}

export interface GatewayErrorOptions {
  /** Shown to the caller as `error.metadata`. */
  metadata?: Record<string, unknown>;
  /** Logged, never shown. */
  cause?: unknown;
  /** Sent as `Retry-After`, rounded up to whole seconds. */
  retryAfterMs?: number;
  /** A narrower `error_type` than the kind's own, such as `context_length_exceeded`. */
  errorType?: string;
  /** Further response headers, such as `Allow`. */
  headers?: Record<string, string>;
  /** Routing metadata for a caller who asked for it. Sent beside `error`. */
  route?: unknown;
}

const brand = Symbol.for('model-gateway.GatewayError');

/**
 * The only error that is shown to a caller. The message says what was wrong and what the caller can do, and contains no
 * secret.
 */
export class GatewayError extends Error {
  /** The kind of the error, for code. */
  readonly kind: ErrorKind;
  /** HTTP status of the response. */
  readonly status: number;
  /** `error_type` of the body. */
  readonly errorType: string;
  /** Shown to the caller as `error.metadata`. */
  readonly metadata: Record<string, unknown> | undefined;
  /** Sent as `Retry-After`, rounded up to whole seconds. */
  readonly retryAfterMs: number | undefined;
  /** Further response headers. */
  readonly headers: Record<string, string> | undefined;
  /** Routing metadata for a caller who asked for it. */
  readonly route: unknown;
  readonly [brand] = true;

  constructor(kind: ErrorKind, message: string, options: GatewayErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'GatewayError';
    this.kind = kind;
    this.status = kinds[kind].status;
    this.errorType = options.errorType ?? kinds[kind].errorType;
    this.metadata = options.metadata;
    this.retryAfterMs = options.retryAfterMs;
    this.headers = options.headers;
    this.route = options.route;
  }

  /**
   * A copy of the error with more properties: `headers` and `metadata` are added to the present ones, `route` is replaced.
   */
  with(more: Pick<GatewayErrorOptions, 'headers' | 'metadata' | 'route'>): GatewayError {
    const { kind, message, cause, retryAfterMs, errorType } = this;
    const metadata = more.metadata === undefined ? this.metadata : { ...this.metadata, ...more.metadata };
    const headers = { ...this.headers, ...more.headers };
    return new GatewayError(kind, message, {
      metadata,
      cause,
      retryAfterMs,
      errorType,
      headers,
      route: more.route ?? this.route,
    });
  }
}

/** Reads a brand, not `instanceof`: two copies of the package may be loaded. */
export function isGatewayError(error: unknown): error is GatewayError {
  return typeof error === 'object' && error !== null && (error as { [brand]?: unknown })[brand] === true;
}

/** The cause of an error whose own message tells nothing, or the error itself. */
export function causeOf(error: unknown): unknown {
  return isGatewayError(error) ? (error.cause ?? error) : error;
}
