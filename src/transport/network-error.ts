import { UpstreamError } from '../base/upstream-error.ts';

interface Failure {
  message: string;
  /** `bad_response`: there was a connection, but what came over it was wrong. Default `network`. */
  reason?: 'bad_response';
  /** `operator`: what we were told to send cannot be sent, so trying the same again is useless. Default `transient`. */
  fault?: 'operator';
}

const certificate: Failure = { message: 'the certificate of the provider was not accepted' };
const tls: Failure = { message: 'no TLS connection could be made with the provider' };
const closed: Failure = { message: 'the provider closed the connection' };
const reset: Failure = { message: 'the connection was reset by the provider' };
const refused: Failure = { message: 'connection refused' };
const unknownHost: Failure = { message: 'host not found' };
const unreachable: Failure = { message: 'the host cannot be reached' };
const slowConnect: Failure = { message: 'no connection could be made in time' };
const notHttp: Failure = { message: 'the answer is not valid HTTP', reason: 'bad_response' };
const unsendable: Failure = { message: 'the request cannot be sent: check base URL and headers', fault: 'operator' };

/** Codes of Node, undici, OpenSSL and Bun. Their own messages hold addresses and header values, so none is used. */
const failures: Record<string, Failure> = {
  ECONNREFUSED: refused,
  ConnectionRefused: refused,
  FailedToOpenSocket: refused,
  ECONNRESET: reset,
  ConnectionClosed: closed,
  EPIPE: closed,
  UND_ERR_SOCKET: closed,
  HPE_INVALID_EOF_STATE: { message: 'the provider closed the connection in the middle of the answer' },
  HPE_CLOSED_CONNECTION: closed,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: { message: 'the answer is shorter or longer than it said' },
  ENOTFOUND: unknownHost,
  DNSException: unknownHost,
  EAI_AGAIN: { message: 'the host name could not be looked up' },
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  ENETDOWN: unreachable,
  EADDRNOTAVAIL: unreachable,
  ETIMEDOUT: slowConnect,
  UND_ERR_CONNECT_TIMEOUT: slowConnect,
  UND_ERR_HEADERS_TIMEOUT: { message: 'no answer in time' },
  UND_ERR_BODY_TIMEOUT: { message: 'the answer stopped' },
  EMFILE: { message: 'this process has no file descriptors left' },
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
  UND_ERR_HEADERS_OVERFLOW: { message: 'the headers of the answer are too large', reason: 'bad_response' },
  HPE_HEADER_OVERFLOW: { message: 'the headers of the answer are too large', reason: 'bad_response' },
  UND_ERR_INVALID_ARG: unsendable,
  UND_ERR_NOT_SUPPORTED: unsendable,
  ERR_INVALID_URL: unsendable,
  UND_ERR_DESTROYED: { message: 'the transport is closed' },
  UND_ERR_CLOSED: { message: 'the transport is closed' },
};

/**
 * Turns whatever a `fetch`, undici or a socket failed with into an UpstreamError of status 502. Its message is ours: the
 * original, which may hold addresses, URLs or header values, is kept as `cause`, its code as `providerCode`.
 */
export function toUpstreamError(error: unknown): UpstreamError {
  if (error instanceof UpstreamError) return error;
  const code = codeOf(error);
  const failure = (code !== undefined && failureOf(code)) || { message: 'the connection to the provider failed' };
  return new UpstreamError(failure.message, {
    reason: failure.reason ?? 'network',
    status: 502,
    fault: failure.fault,
    providerCode: code,
    cause: error,
  });
}

/** The error code of a socket, parser or client error, also of one wrapped by `fetch` or by happy eyeballs. */
export function codeOf(error: unknown): string | undefined {
  let current = error;
  // fetch wraps the error of the socket once or twice; a cause may also point back at its own error.
  for (let depth = 0; depth < 5 && typeof current === 'object' && current !== null; depth++) {
    const { code, cause, errors } = current as { code?: unknown; cause?: unknown; errors?: unknown };
    if (typeof code === 'string' && code.length < 64) return code;
    current = cause ?? (Array.isArray(errors) ? errors[0] : undefined);
  }
  return undefined;
}

function failureOf(code: string): Failure | undefined {
  if (Object.hasOwn(failures, code)) return failures[code];
  if (code.startsWith('HPE_')) return notHttp;
  if (code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS')) return tls;
  return undefined;
}
