/** The store did not respond in time. */
export class StoreTimeoutError extends Error {
  override readonly name = 'StoreTimeoutError';

  constructor(timeoutMs: number) {
    super(`the store took longer than ${timeoutMs} ms`);
  }
}

export function storeIsLate(timeoutMs: number): StoreTimeoutError {
  return new StoreTimeoutError(timeoutMs);
}

/** Node's error codes for connection problems. */
const codes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTCONN',
  'ERR_SOCKET_CLOSED',
  'PROTOCOL_CONNECTION_LOST',
]);

/** PostgreSQL's states for connection problems: lost, too many connections, server starting or shutting down. */
const sqlStates = /^(?:08\w{3}|53300|57P0[1-4])$/;

/** Error classes: of Redis clients, which have no codes, of other clients behind a Keyv, and our own. */
const classes = new Set([
  'StoreTimeoutError',
  'ClientClosedError',
  'ClientOfflineError',
  'ConnectionTimeoutError',
  'DisconnectsClientError',
  'SocketClosedUnexpectedlyError',
  'SocketTimeoutError',
  'SocketTimeoutDuringMaintenanceError',
  'CommandTimeoutDuringMaintenanceError',
  'RootNodesUnavailableError',
  'ReconnectStrategyError',
  'MaxRetriesPerRequestError',
  'MongoNetworkError',
  'MongoServerSelectionError',
]);

/** Messages, for clients that have neither codes nor classes, such as `pg`, and for minified class names. */
const messages =
  /\b(?:connection (?:is |was )?(?:terminated|timeout|timed out|refused|closed|lost|reset)|(?:client|socket) (?:is |was )?(?:closed|offline)|not queryable|not connected|timeout exceeded when trying to connect|timeout expired|query read timeout)/i;

/** Deeper than any error is wrapped. */
const maxDepth = 5;

/** Whether the server did not respond. An error that the server itself returned is no outage. */
export function isOutage(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > maxDepth) return false;
  const { code, errors } = error as { code?: unknown; errors?: unknown };
  if (typeof code === 'string' && (codes.has(code) || sqlStates.test(code))) return true;
  if (classes.has(error.name) || classes.has(error.constructor.name) || messages.test(error.message)) return true;
  // The client may have tried several addresses.
  if (Array.isArray(errors) && errors.some((one) => isOutage(one, depth + 1))) return true;
  return isOutage(error.cause, depth + 1);
}

/** The kind of an error without its message, which may hold an address or a password. */
export function nameOfError(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  // The cause says why nothing was sent.
  if (error.name === 'NotSentError' && error.cause instanceof Error) return nameOfError(error.cause);
  const { code } = error as { code?: unknown };
  const name = error.name === 'Error' ? error.constructor.name : error.name;
  const isPlain = typeof code === 'string' && /^[A-Za-z0-9_]{1,40}$/.test(code);
  return isPlain ? `${name.slice(0, 60)} ${code}` : name.slice(0, 60);
}
