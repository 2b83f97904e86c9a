/** The store did not answer in time. */
export class StoreTimeoutError extends Error {
  override readonly name = 'StoreTimeoutError';

  constructor(timeoutMs: number) {
    super(`the store took longer than ${timeoutMs} ms`);
  }
}

export function storeIsLate(timeoutMs: number): StoreTimeoutError {
  return new StoreTimeoutError(timeoutMs);
}

/** Node's names of what goes wrong with a connection. */
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

/** PostgreSQL's: the connection, too many of them, the server is starting or going down. */
const sqlStates = /^(?:08\w{3}|53300|57P0[1-4])$/;

/** Classes of Redis clients, which have no codes, of others behind a Keyv, and ours. */
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

/** Of clients that have neither, such as `pg`, and of whoever lost the class to a minifier. */
const messages =
  /\b(?:connection (?:is |was )?(?:terminated|timeout|timed out|refused|closed|lost|reset)|(?:client|socket) (?:is |was )?(?:closed|offline)|not queryable|not connected|timeout exceeded when trying to connect|timeout expired|query read timeout)/i;

/** Deeper than anybody wraps. */
const maxDepth = 5;

/** Whether nobody answered, rather than that the answer was an error: the server is away, not merely unwilling. */
export function isOutage(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > maxDepth) return false;
  const { code, errors } = error as { code?: unknown; errors?: unknown };
  if (typeof code === 'string' && (codes.has(code) || sqlStates.test(code))) return true;
  if (classes.has(error.name) || classes.has(error.constructor.name) || messages.test(error.message)) return true;
  // Several addresses were tried.
  if (Array.isArray(errors) && errors.some((one) => isOutage(one, depth + 1))) return true;
  return isOutage(error.cause, depth + 1);
}

/** What an error is, without its words, which may hold an address or a password. */
export function nameOfError(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { code } = error as { code?: unknown };
  const name = error.name === 'Error' ? error.constructor.name : error.name;
  const isPlain = typeof code === 'string' && /^[A-Za-z0-9_]{1,40}$/.test(code);
  return isPlain ? `${name.slice(0, 60)} ${code}` : name.slice(0, 60);
}
