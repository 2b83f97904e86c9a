import { type ErrorKind, GatewayError, isGatewayError } from '../../base/errors.ts';
import { UpstreamError } from '../../base/http/upstream-error.ts';
import { abortError, CallAborted } from '../../call/abort.ts';
import type { Target } from '../../call/plan.ts';
import type { AttemptTrace } from '../../call/trace.ts';

/**
 * Makes the error that the client gets when no target is left: the last failure, or the shortest wait when every target
 * is rate limited.
 * @see docs/errors.md
 */
export function failureOf(errors: readonly UpstreamError[], attempts: readonly AttemptTrace[]): GatewayError {
  const last = errors[errors.length - 1] as UpstreamError;
  const limited = errors.every(({ status, reason }) => status === 429 && reason === 'status');
  const waits = errors.map(({ retryAfterMs }) => retryAfterMs).filter((ms) => ms !== undefined);
  const retryAfterMs = limited && waits.length > 0 ? Math.min(...waits) : last.retryAfterMs;
  const failed = attempts[attempts.length - 1];
  const previous = attempts
    .slice(0, -1)
    .map(({ provider, status, errorType }) => ({ provider, code: status, status: errorType ?? 'ok' }));
  const kind = kindOf(last);
  return new GatewayError(kind, messageOf(last, failed?.provider ?? 'The provider', failed?.isByok ?? false), {
    cause: last,
    errorType: typeFor(last),
    retryAfterMs: kind === 'rate_limited' || kind === 'overloaded' || kind === 'unavailable' ? retryAfterMs : undefined,
    metadata: {
      ...(failed ? { provider_name: failed.provider } : {}),
      ...(last.providerCode !== undefined && last.fault !== 'operator' ? { provider_code: last.providerCode } : {}),
      ...(last.raw !== undefined && isShown(last, failed?.isByok ?? false) ? { raw: last.raw } : {}),
      ...(failed?.isByok ? { is_byok: true } : {}),
      ...(previous.length > 0 ? { previous_errors: previous } : {}),
    },
  });
}

/**
 * Returns the `error_type` for the caller. An operator looks for a key that was changed elsewhere than for a provider that
 * is down. Whether the key or its bill was refused is in the log: it is nothing for callers.
 */
function typeFor({ fault, errorType }: UpstreamError): string {
  return fault === 'operator' ? 'provider_credentials' : errorType;
}

/** Returns the gateway's kind of error for a provider's failure. */
export function kindOf(error: UpstreamError): ErrorKind {
  if (error.reason === 'timeout') return 'upstream_timeout';
  if (error.reason !== 'status' || error.fault === 'operator') return 'upstream_failed';
  // A refusal of the content is handled first, whatever its status: another request may be served.
  if (isContentRefusal(error)) return error.status === 403 ? 'permission_denied' : 'invalid_request';
  switch (error.status) {
    // The operator's own bill is handled above: this is the budget of the workspace.
    case 402:
      return 'payment_required';
    case 404:
      return 'not_found';
    case 413:
      return 'payload_too_large';
    case 422:
      return 'unprocessable';
    case 429:
      return 'rate_limited';
    case 408:
    case 504:
    case 524:
      return 'upstream_timeout';
    case 503:
    case 529:
      return 'overloaded';
    default:
      return error.fault === 'caller' ? 'invalid_request' : 'upstream_failed';
  }
}

function isContentRefusal({ fault, errorType }: UpstreamError): boolean {
  return fault === 'caller' && errorType === 'content_policy_violation';
}

/**
 * true: the caller gets the provider's own words. The caller does not get words that may name the operator's account or
 * key.
 */
function isShown(error: UpstreamError, isByok: boolean): boolean {
  return error.fault !== 'operator' && (isByok || !isContentRefusal(error) || error.status !== 403);
}

/** Returns the provider's words where they help the caller; not where they speak of the operator's account. */
export function messageOf(error: UpstreamError, provider: string, isByok: boolean): string {
  // Providers name the account and the key beside the reason.
  if (isContentRefusal(error) && error.status === 403 && !isByok)
    return `${provider} refused the content of the request`;
  if (error.fault !== 'operator') return error.message;
  if (error.isUnsent)
    return `The gateway could not authenticate with ${provider}${isByok ? " by the workspace's own credential" : ''}`;
  return `${provider} refused the ${isByok ? "workspace's own credential for it" : "gateway's own credentials"}`;
}

/**
 * Makes of any error the one that the client may see.
 * @param target  the target that served, for its provider's words; null: none did
 */
export function toGatewayError(error: unknown, target: Target | null): GatewayError {
  if (isGatewayError(error)) return error;
  if (error instanceof UpstreamError)
    return new GatewayError(
      kindOf(error),
      messageOf(error, target?.providerName ?? 'The provider', target?.isByok ?? false),
      { errorType: typeFor(error) },
    );
  if (error instanceof CallAborted) return abortError(error);
  return new GatewayError('internal', 'Something went wrong inside the gateway', { cause: error });
}
