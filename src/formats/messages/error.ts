import type { GatewayError } from '../../base/errors.ts';

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  524: 'timeout_error',
  529: 'overloaded_error',
};

/** Returns the type of an error, as the Messages wire names it. */
export function messagesErrorType(status: number): string {
  return types[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
}

/** An error as the Messages wire writes it, in a body and in a stream. */
export interface MessagesError {
  /** The type, such as `rate_limit_error`. */
  type: string;
  /** The words of the provider, or of the gateway. */
  message: string;
  /** Further facts of the gateway, such as the interval of a spent budget. */
  details?: Record<string, unknown>;
}

/** The words by which clients of this wire know that a conversation is too long, and shorten it. */
const tooLong = /prompt is too long|input is too long|exceed context limit/i;

/**
 * Writes an error. Clients look for the provider's own words, so these stay as they are; a conversation that is too long
 * is also named in the words that these clients know.
 * @see docs/messages.md
 */
export function messagesError(status: number, message: string, metadata: Record<string, unknown>): MessagesError {
  const isTooLong = metadata.error_type === 'context_length_exceeded' && !tooLong.test(message);
  return {
    type: messagesErrorType(status),
    message: isTooLong ? `prompt is too long: ${message}` : message,
    ...(status === 500 ? {} : { details: { ...metadata, ...ownCode(metadata.raw) } }),
  };
}

/**
 * Returns the code that a provider of this wire gives in the details of an error: client libraries decide by it, such as
 * by `thread_not_found`, after which they begin a new thread.
 */
function ownCode(raw: unknown): { error_code?: string } {
  const code = typeof raw === 'string' ? /"error_code"\s*:\s*"([\w-]{1,80})"/.exec(raw)?.[1] : undefined;
  return code === undefined ? {} : { error_code: code };
}

/** The errors after which a client must not try again: the same request would be refused again. */
const isFinal = new Set([402, 403]);

/**
 * Returns the headers of an error: clients of this wire do what `x-should-retry` says, whatever the status.
 */
export function messagesErrorHeaders({ status }: GatewayError): Record<string, string> {
  return isFinal.has(status) ? { 'x-should-retry': 'false' } : {};
}
