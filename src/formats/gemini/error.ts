/** The name of each status in Google's API. @see https://cloud.google.com/apis/design/errors */
const names: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  402: 'FAILED_PRECONDITION',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  408: 'DEADLINE_EXCEEDED',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  500: 'INTERNAL',
  501: 'UNIMPLEMENTED',
  504: 'DEADLINE_EXCEEDED',
  524: 'DEADLINE_EXCEEDED',
};

/** Returns the name of a status, as the Gemini wire writes it. */
export function geminiStatus(status: number): string {
  return names[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'UNAVAILABLE');
}

/** An error as the Gemini wire writes it. */
export interface GeminiError {
  /** HTTP status. */
  code: number;
  /** The words of the provider, or of the gateway. */
  message: string;
  /** Name of the status, such as `RESOURCE_EXHAUSTED`. */
  status: string;
  /** The time to wait, and what the gateway knows more. */
  details?: Record<string, unknown>[];
}

/**
 * Writes an error. The time to wait stands in the details: clients of this wire read no `Retry-After`.
 * @param retryAfterMs  undefined: no time is known
 */
export function geminiError(
  code: number,
  message: string,
  metadata: Record<string, unknown>,
  retryAfterMs: number | undefined,
): GeminiError {
  const details: Record<string, unknown>[] = [];
  if (retryAfterMs !== undefined)
    details.push({ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${retryAfterMs / 1000}s` });
  if (code !== 500) {
    const { error_type: reason, ...rest } = metadata;
    details.push({
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason: String(reason).toUpperCase(),
      domain: 'gateway',
      metadata: Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, textOf(value)])),
    });
  }
  return { code, message, status: geminiStatus(code), ...(details.length > 0 ? { details } : {}) };
}

/** The metadata of an `ErrorInfo` are texts. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
