import type { GatewayError } from '../../base/errors.ts';
import { UpstreamError } from '../../base/http/upstream-error.ts';
import type { Target } from '../../call/plan.ts';
import type { ErrorBody } from '../../schema/chat/envelope.ts';
import { toGatewayError } from '../attempt/failure.ts';
import type { ActiveHook } from '../call/active-hooks.ts';
import { isWithheld, withoutWithheld } from '../call/withheld.ts';
import type { PipelineDeps } from '../deps.ts';

/** A call whose errors are shown. */
interface Shown {
  readonly deps: Pick<PipelineDeps, 'reportUnexpected'>;
  readonly hooks: readonly ActiveHook[];
}

/** The error as the client may see it. One that nobody expected is reported: the status of the response says nothing of it. */
export function shownOf({ deps, hooks }: Shown, error: unknown, target: Target | null): GatewayError {
  const made = toGatewayError(error, target);
  if (made.kind === 'internal') deps.reportUnexpected?.(made);
  return withoutWithheld(hooks, made);
}

/**
 * Makes the error object of a stream that broke after its first event. Agents call again after `type: 'server_error'`,
 * others after a message that begins with "Provider returned error".
 */
export function inBand({ hooks }: Pick<Shown, 'hooks'>, error: unknown, shown: GatewayError): ErrorBody['error'] {
  const isProviders = error instanceof UpstreamError || shown.cause instanceof UpstreamError;
  const code = error instanceof UpstreamError && error.fault !== 'operator' ? error.providerCode : undefined;
  const providerCode = isWithheld(hooks, code) ? undefined : code;
  return {
    code: shown.status,
    type: shown.status >= 500 || shown.status === 408 ? 'server_error' : shown.errorType,
    message: isProviders ? `Provider returned error: ${shown.message}` : shown.message,
    metadata: {
      error_type: shown.errorType,
      ...(providerCode === undefined ? {} : { provider_code: providerCode }),
      // The header `Retry-After` cannot be sent any more once a stream has begun.
      ...(shown.retryAfterMs === undefined ? {} : { retry_after_ms: shown.retryAfterMs }),
    },
  };
}
