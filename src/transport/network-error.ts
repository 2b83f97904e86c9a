import { UpstreamError } from '../base/http/upstream-error.ts';

interface Failure {
  message: string;
  /** `bad_response`: the connection worked, but the data was wrong. Default `network`. */
  reason?: 'bad_response';
  /** `operator`: the configured request cannot be sent, so a retry is useless. Default `transient`. */
  fault?: 'operator';
  /** true: there was no connection to send anything on. */
  isUnsent?: true;
}

const certificate: Failure = { message: 'the certificate of the provider was not accepted', isUnsent: true };
const tls: Failure = { message: 'no TLS connection could be made with the provider' };
const closed: Failure = { message: 'the provider closed the connection' };
const reset: Failure = { message: 'the connection was reset by the provider' };
const refused: Failure = { message: 'connection refused', isUnsent: true };
const unknownHost: Failure = { message: 'host not found', isUnsent: true };
const lookupFailed: Failure = { message: 'the host name could not be looked up', isUnsent: true };
const unreachable: Failure = { message: 'the host cannot be reached' };
const slowConnect: Failure = { message: 'no connection could be made in time' };
const aborted: Failure = { message: 'the provider aborted the connection' };
const tooManyFiles: Failure = { message: 'this process has no file descriptors left', isUnsent: true };
const proxyAuthentication: Failure = {
  message: 'the proxy asks for other credentials (407)',
  fault: 'operator',
  isUnsent: true,
};
const notHttp: Failure = { message: 'the response is not valid HTTP', reason: 'bad_response' };
const unsendable: Failure = {
  message: 'the request cannot be sent: check base URL and headers',
  fault: 'operator',
  isUnsent: true,
};

/** Codes of Node, undici, OpenSSL, Bun, and of tunnels through proxies. We do not use their messages: those hold addresses and header values. */
const failures: Record<string, Failure> = {
  ECONNREFUSED: refused,
  ConnectionRefused: refused,
  FailedToOpenSocket: refused,
  ECONNRESET: reset,
  ECONNABORTED: aborted,
  ConnectionClosed: closed,
  EPIPE: closed,
  UND_ERR_SOCKET: closed,
  HPE_INVALID_EOF_STATE: { message: 'the provider closed the connection in the middle of the response' },
  HPE_CLOSED_CONNECTION: closed,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: { message: 'the length of the response differs from its content-length' },
  ENOTFOUND: unknownHost,
  DNSException: unknownHost,
  EAI_AGAIN: lookupFailed,
  EAI_FAIL: lookupFailed,
  EAI_NODATA: unknownHost,
  EAI_NONAME: unknownHost,
  ENODATA: unknownHost,
  ESERVFAIL: lookupFailed,
  ETIMEOUT: lookupFailed,
  EHOSTUNREACH: unreachable,
  EHOSTDOWN: unreachable,
  ENETUNREACH: unreachable,
  ENETDOWN: unreachable,
  EADDRNOTAVAIL: unreachable,
  ETIMEDOUT: slowConnect,
  UND_ERR_CONNECT_TIMEOUT: { ...slowConnect, isUnsent: true },
  UND_ERR_HEADERS_TIMEOUT: { message: 'no response in time' },
  UND_ERR_BODY_TIMEOUT: { message: 'the response stopped' },
  EMFILE: tooManyFiles,
  ENFILE: tooManyFiles,
  EACCES: { message: 'this machine does not allow the connection', isUnsent: true },
  EPERM: { message: 'this machine does not allow the connection', isUnsent: true },
  EPROTO: tls,
  CERT_HAS_EXPIRED: certificate,
  CERT_NOT_YET_VALID: certificate,
  CERT_REVOKED: certificate,
  CERT_UNTRUSTED: certificate,
  CERT_REJECTED: certificate,
  CERT_CHAIN_TOO_LONG: certificate,
  CERT_SIGNATURE_FAILURE: certificate,
  ERROR_IN_CERT_NOT_BEFORE_FIELD: certificate,
  ERROR_IN_CERT_NOT_AFTER_FIELD: certificate,
  HOSTNAME_MISMATCH: certificate,
  INVALID_CA: certificate,
  INVALID_PURPOSE: certificate,
  PATH_LENGTH_EXCEEDED: certificate,
  DEPTH_ZERO_SELF_SIGNED_CERT: certificate,
  SELF_SIGNED_CERT_IN_CHAIN: certificate,
  UNABLE_TO_GET_ISSUER_CERT: certificate,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: certificate,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: certificate,
  UNABLE_TO_DECRYPT_CERT_SIGNATURE: certificate,
  UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY: certificate,
  ERR_TLS_CERT_ALTNAME_INVALID: certificate,
  UND_ERR_HEADERS_OVERFLOW: { message: 'the headers of the response are too large', reason: 'bad_response' },
  HPE_HEADER_OVERFLOW: { message: 'the headers of the response are too large', reason: 'bad_response' },
  UND_ERR_INVALID_ARG: unsendable,
  UND_ERR_NOT_SUPPORTED: unsendable,
  ERR_INVALID_URL: unsendable,
  PROXY_AUTHENTICATION: proxyAuthentication,
  PROXY_REFUSED: { message: 'the proxy refused the connection to the provider', isUnsent: true },
  PROXY_UNREACHABLE: { message: 'the proxy on the way to the provider could not be reached', isUnsent: true },
  UND_ERR_DESTROYED: { message: 'the transport is closed' },
  UND_ERR_CLOSED: { message: 'the transport is closed' },
};

/** The failures of undici's one code for closed sockets, by undici's words. */
const socketFailures: Record<string, Failure> = {
  'bad response': {
    message: 'the provider sent more informational responses (1xx), or longer ones, than are skipped',
    reason: 'bad_response',
  },
  'bad upgrade': { message: 'the provider switched to a protocol that was not asked for', reason: 'bad_response' },
};

/**
 * Turns any error of `fetch`, undici or a socket into an UpstreamError of status 502. The message is our own. The
 * original error may hold addresses, URLs or header values: it is kept as `cause`, and its code as `providerCode`.
 */
export function toUpstreamError(error: unknown): UpstreamError {
  if (error instanceof UpstreamError) return error;
  const code = codeOf(error);
  const failure = (code !== undefined && failureOf(code, error)) || {
    message: 'the connection to the provider failed',
  };
  return new UpstreamError(failure.message, {
    reason: failure.reason ?? 'network',
    status: 502,
    fault: failure.fault,
    isUnsent: failure.isUnsent === true || isOfConnecting(error),
    providerCode: code,
    failure: code === undefined ? failure.message : `${failure.message} (${code})`,
    cause: error,
  });
}

/** The error code of a socket, parser or client error, also if `fetch` or happy eyeballs wrapped that error. */
export function codeOf(error: unknown): string | undefined {
  let current = error;
  // fetch wraps the error of the socket once or twice. A cause may also point back at its own error.
  for (let depth = 0; depth < 5 && typeof current === 'object' && current !== null; depth++) {
    const { code, cause, errors } = current as { code?: unknown; cause?: unknown; errors?: unknown };
    if (typeof code === 'string' && code.length < 64) return code;
    current = cause ?? (Array.isArray(errors) ? errors[0] : undefined);
  }
  return undefined;
}

/** The message of the error that has the code, also if `fetch` wrapped that error. */
function messageBehind(error: unknown, code: string): string {
  let current = error;
  for (let depth = 0; depth < 5 && typeof current === 'object' && current !== null; depth++) {
    const { code: own, message, cause } = current as { code?: unknown; message?: unknown; cause?: unknown };
    if (own === code) return typeof message === 'string' ? message : '';
    current = cause;
  }
  return '';
}

/** Tells whether a socket failed before it was connected. Its system call shows that, also if the error was wrapped. */
function isOfConnecting(error: unknown): boolean {
  let current = error;
  for (let depth = 0; depth < 5 && typeof current === 'object' && current !== null; depth++) {
    const { syscall, cause, errors } = current as { syscall?: unknown; cause?: unknown; errors?: unknown };
    if (typeof syscall === 'string') return syscall === 'connect' || syscall === 'getaddrinfo';
    current = cause ?? (Array.isArray(errors) ? errors[0] : undefined);
  }
  return false;
}

function failureOf(code: string, error: unknown): Failure | undefined {
  if (code === 'UND_ERR_SOCKET') {
    const words = messageBehind(error, code);
    if (Object.hasOwn(socketFailures, words)) return socketFailures[words];
  }
  if (Object.hasOwn(failures, code)) return failures[code];
  if (code.startsWith('HPE_')) return notHttp;
  if (code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS')) return tls;
  return undefined;
}
