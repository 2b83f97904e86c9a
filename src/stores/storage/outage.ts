import { cleanText } from '../../base/text/clean-text.ts';

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

/** More levels than any error has. */
const maxDepth = 5;

/** Tells whether the server did not respond. An error that the server itself returned is no outage. */
export function isOutage(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > maxDepth) return false;
  const { code, errors } = error as { code?: unknown; errors?: unknown };
  if (typeof code === 'string' && (codes.has(code) || sqlStates.test(code))) return true;
  if (classes.has(error.name) || classes.has(error.constructor.name) || messages.test(error.message)) return true;
  // The client may have tried several addresses.
  if (Array.isArray(errors) && errors.some((one) => isOutage(one, depth + 1))) return true;
  return isOutage(error.cause, depth + 1);
}

/**
 * The replies of a Redis that is not, or not yet, the server to write to. Servers before Redis 7 quote the reply from
 * inside a script.
 */
const demotedReplies = /(?:^|: -)(?:READONLY|LOADING|MASTERDOWN|CLUSTERDOWN|NOREPLICAS)\b/;
/** PostgreSQL's states for the same: a read-only transaction, and a server that takes no connections now. */
const demotedStates = new Set(['25006', '57P03']);

/**
 * Tells whether a server has answered that it must not be written to: it is a replica, was demoted, or is starting. The
 * server has changed nothing. Another server may be behind the same address by now.
 */
export function isDemoted(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? demotedStates.has(code) : demotedReplies.test(error.message);
}

/** Codes of a store without room: of SQLite, of PostgreSQL, and of files. */
const fullCodes = new Set(['SQLITE_FULL', '53100', 'ENOSPC', 'EDQUOT']);
/** The replies of a Redis that has no memory left, or no disk to save on. */
const fullReplies = /(?:^|: -)(?:OOM command not allowed|MISCONF )/;

/** Tells whether a store has refused a write because its disk or its memory is full. */
export function isFull(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > maxDepth) return false;
  const { code } = error as { code?: unknown };
  const isNamed = typeof code === 'string' ? fullCodes.has(code) : fullReplies.test(error.message);
  return isNamed || isFull(error.cause, depth + 1);
}

/** Codes of a store that this gateway may only read: of SQLite, and PostgreSQL's missing privilege. */
const readOnlyCodes = new Set(['SQLITE_READONLY', 'SQLITE_PERM', '42501', 'EROFS', 'EACCES']);

/** Tells whether a store has refused a write because this gateway may only read there. */
export function isReadOnly(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > maxDepth) return false;
  const { code } = error as { code?: unknown };
  const isNamed = typeof code === 'string' ? readOnlyCodes.has(code) : /^NOPERM /.test(error.message);
  return isNamed || isDemoted(error) || isReadOnly(error.cause, depth + 1);
}

/** The longest part of a server's message that is logged. */
const maxWords = 200;

/**
 * Describes an error for a log: its kind, its code, and the server's message. Other messages are left out: clients and
 * drivers put addresses, passwords and values into them.
 */
export function nameOfError(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  // The cause says why nothing was sent, or what the error for the caller leaves out.
  if ((error.name === 'NotSentError' || error.name === 'GatewayError') && cause instanceof Error && cause !== error)
    return nameOfError(cause);
  const name = error.name === 'Error' ? error.constructor.name : error.name;
  const isPlain = typeof code === 'string' && /^[A-Za-z0-9_]{1,40}$/.test(code);
  const kind = isPlain ? `${name.slice(0, 60)} ${code}` : name.slice(0, 60);
  const words = answerIn(error);
  return words === null ? kind : `${kind}: ${words}`;
}

/** Error replies of Redis begin with a word in capitals. */
const reply = /^[A-Z][A-Z0-9]{2,30} /;
/** Messages that drivers themselves make before a session exists. They contain nothing but these words. */
const driverWords =
  /^(?:SASL: [A-Za-z0-9-]+: [\w ,.-]+|The server does not support SSL connections|There was an error establishing an SSL connection|Connection terminated(?: unexpectedly| due to connection timeout)?|timeout exceeded when trying to connect|Query read timeout)$/;

/** A server's message, on one line, without what may be a secret; null: the error is not from a server. */
export function answerOf(error: unknown, depth = 0): string | null {
  if (!(error instanceof Error) || depth > maxDepth) return null;
  return answerIn(error) ?? answerOf(error.cause, depth + 1);
}

function answerIn(error: Error): string | null {
  const { severity } = error as { severity?: unknown };
  const { message } = error;
  const isAnswer = typeof severity === 'string' || reply.test(message) || driverWords.test(message);
  return isAnswer ? withoutSecrets(message) : null;
}

/** Removes what may be a secret: servers quote the commands, values and addresses that they were sent. */
function withoutSecrets(message: string): string {
  const bare = message
    .slice(0, 10 * maxWords)
    // Redis: ERR unknown command 'auth', with args beginning with: 'password'
    .replace(/,? with args beginning with:.*$/s, '')
    // Removes the user and the password of a URL, and then what may be a key, a hash or a stored value.
    .replace(/(\/\/)[^\s/]*@/g, '$1…@')
    .replace(/(pass(?:word|wd)?|secret|token|auth)(\s*[=:]\s*)("[^"]*"|'[^']*'|\S+)/gi, '$1$2…')
    .replace(/"[^"]{41,}("|$)/g, '"…"')
    // The lookbehind skips the apostrophe of "can't".
    .replace(/(?<!\w)'[^']{41,}('|$)/g, "'…'")
    .replace(/[\w+/=.~-]{24,}/g, (word) => (/\d/.test(word) ? '…' : word));
  return cleanText(bare, maxWords);
}
