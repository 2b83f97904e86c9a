import { UpstreamError } from '../base/upstream-error.ts';

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
const unreachable: Failure = { message: 'the host cannot be reached' };
const slowConnect: Failure = { message: 'no connection could be made in time' };
const notHttp: Failure = { message: 'the response is not valid HTTP', reason: 'bad_response' };
const unsendable: Failure = {
  message: 'the request cannot be sent: check base URL and headers',
  fault: 'operator',
  isUnsent: true,
};

/** Codes of Node, undici, OpenSSL and Bun. We do not use their messages: those hold addresses and header values. */
const failures: Record<string, Failure> = {
  ECONNREFUSED: refused,
  ConnectionRefused: refused,
  FailedToOpenSocket: refused,
  ECONNRESET: reset,
  ConnectionClosed: closed,
  EPIPE: closed,
  UND_ERR_SOCKET: closed,
  HPE_INVALID_EOF_STATE: { message: 'the provider closed the connection in the middle of the response' },
  HPE_CLOSED_CONNECTION: closed,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: { message: 'the length of the response differs from its content-length' },
  ENOTFOUND: unknownHost,
  DNSException: unknownHost,
  EAI_AGAIN: { message: 'the host name could not be looked up', isUnsent: true },
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  ENETDOWN: unreachable,
  EADDRNOTAVAIL: unreachable,
  ETIMEDOUT: slowConnect,
  UND_ERR_CONNECT_TIMEOUT: { ...slowConnect, isUnsent: true },
  UND_ERR_HEADERS_TIMEOUT: { message: 'no response in time' },
  UND_ERR_BODY_TIMEOUT: { message: 'the response stopped' },
  EMFILE: { message: 'this process has no file descriptors left', isUnsent: true },
  EPROTO: tls,
  CERT_HAS_EXPIRED: certificate,
  CERT_NOT_YET_VALID: certificate,
  CERT_REVOKED: certificate,
  CERT_UNTRUSTED: certificate,
  DEPTH_ZERO_SELF_SIGNED_CERT: certificate,
  SELF_SIGNED_CERT_IN_CHAIN: certificate,
  UNABLE_TO_GET_ISSUER_CERT: certificate,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: certificate,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: certificate,
  ERR_TLS_CERT_ALTNAME_INVALID: certificate,
  UND_ERR_HEADERS_OVERFLOW: { message: 'the headers of the response are too large', reason: 'bad_response' },
  HPE_HEADER_OVERFLOW: { message: 'the headers of the response are too large', reason: 'bad_response' },
  UND_ERR_INVALID_ARG: unsendable,
  UND_ERR_NOT_SUPPORTED: unsendable,
  ERR_INVALID_URL: unsendable,
  UND_ERR_DESTROYED: { message: 'the transport is closed' },
  UND_ERR_CLOSED: { message: 'the transport is closed' },
};

/**
 * Turns any error of `fetch`, undici or a socket into an UpstreamError of status 502. The message is our own. The
 * original error may hold addresses, URLs or header values: it is kept as `cause`, and its code as `providerCode`.
 */
export function toUpstreamError(error: unknown): UpstreamError {
  if (error instanceof UpstreamError) return error;
  const code = codeOf(error);
  const failure = (code !== undefined && failureOf(code)) || { message: 'the connection to the provider failed' };
  return new UpstreamError(failure.message, {
    reason: failure.reason ?? 'network',
    status: 502,
    fault: failure.fault,
    isUnsent: failure.isUnsent === true || isOfConnecting(error),
    providerCode: code,
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

/** Whether a socket failed before it was connected: its system call says so, also if the error was wrapped. */
function isOfConnecting(error: unknown): boolean {
  let current = error;
  for (let depth = 0; depth < 5 && typeof current === 'object' && current !== null; depth++) {
    const { syscall, cause, errors } = current as { syscall?: unknown; cause?: unknown; errors?: unknown };
    if (typeof syscall === 'string') return syscall === 'connect' || syscall === 'getaddrinfo';
    current = cause ?? (Array.isArray(errors) ? errors[0] : undefined);
  }
  return false;
}

function failureOf(code: string): Failure | undefined {
  if (Object.hasOwn(failures, code)) return failures[code];
  if (code.startsWith('HPE_')) return notHttp;
  if (code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS')) return tls;
  return undefined;
}
