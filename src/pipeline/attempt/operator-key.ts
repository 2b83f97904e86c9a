import type { StopSignal } from '../../base/async/stop.ts';
import { unlessStopped, withSignal } from '../../base/async/within.ts';
import { UpstreamError } from '../../base/http/upstream-error.ts';
import { createRedactor } from '../../base/secrets.ts';
import { cleanText } from '../../base/text/clean-text.ts';
import type { Target } from '../../call/plan.ts';
import { NoKeyError, pauseIn } from '../../providers/keys/api-key.ts';
import type { Credential } from '../../providers/provider.ts';
import type { AttemptDeps } from '../deps.ts';
import type { Watchdog } from './watchdog.ts';

type KeyDeps = Pick<AttemptDeps, 'openCredential' | 'renewKey' | 'reportAuthFailure' | 'timeouts' | 'clock'>;

/**
 * Opens the credential of a target. A key that a function returns may take time: it is waited for as long as for the
 * headers of a response.
 * @param stop       aborted when the client leaves, or the key takes too long
 * @param isRenewed  true: the key was renewed for this attempt
 * @throws UpstreamError `operator` where there is no key: the next target may serve
 */
export function openedKey(
  deps: KeyDeps,
  { credential: ref, endpoint, isByok }: Target,
  stop: StopSignal & { readonly signal: AbortSignal },
  watchdog: Watchdog,
  isRenewed: boolean | undefined,
): Credential | Promise<Credential> {
  if (isByok) return deps.openCredential(ref, stop);
  try {
    const opened = deps.openCredential(ref, stop, isRenewed);
    return opened instanceof Promise ? openedInTime(deps, endpoint.providerSlug, opened, stop, watchdog) : opened;
  } catch (error) {
    throw keyless(deps, endpoint.providerSlug, error);
  }
}

async function openedInTime(
  deps: KeyDeps,
  provider: string,
  opened: Promise<Credential>,
  stop: StopSignal,
  watchdog: Watchdog,
): Promise<Credential> {
  watchdog.arm(deps.timeouts.headersMs, 'its key');
  try {
    return await unlessStopped(stop, () => opened);
  } catch (error) {
    // The client left.
    if (stop.aborted && !(stop.reason instanceof UpstreamError)) throw stop.reason;
    throw keyless(deps, provider, error);
  }
}

/** Tells whether a failure is the first refusal of an operator's key that may have come to its end. */
export function mayRenew(
  error: unknown,
  { signal, isRenewed }: { signal: StopSignal; isRenewed?: boolean },
  { isByok }: Target,
): boolean {
  if (!(error instanceof UpstreamError) || error.status !== 401 || error.reason !== 'status') return false;
  return !isByok && isRenewed !== true && !signal.aborted && error.fault === 'operator' && !error.isUnsent;
}

/**
 * Asks for another key where the provider refused the one of a function with a 401.
 * @returns false: there is no other key, so the refusal stands
 */
export async function isRenewed(
  deps: KeyDeps,
  { credential: ref, endpoint }: Target,
  refused: Credential,
  signal: StopSignal,
): Promise<boolean> {
  const timeoutMs = deps.timeouts.headersMs;
  try {
    return await withSignal(deps.clock, { signals: [signal], timeoutMs, late }, (own) =>
      deps.renewKey(ref, refused, own),
    );
  } catch (error) {
    if (!signal.aborted) keyless(deps, endpoint.providerSlug, error, refused.secret);
    return false;
  }
}

function late(ms: number): Error {
  return new NoKeyError(`apiKey took longer than ${ms} ms`, 0);
}

/**
 * Makes the error of an attempt that has no key, and tells the operator why.
 * @param refused  a key that the function was told, and that its error may quote
 */
function keyless({ reportAuthFailure }: KeyDeps, provider: string, error: unknown, refused = ''): UpstreamError {
  const reason = cleanText(createRedactor([refused]).redact(reasonOf(error)), 300);
  reportAuthFailure?.(provider, reason);
  const pauseMs = pauseIn(error);
  return new UpstreamError('The gateway could not authenticate with the provider.', {
    reason: 'network',
    status: 502,
    fault: 'operator',
    errorType: noKey,
    isUnsent: true,
    ...(pauseMs === undefined ? {} : { retryAfterMs: pauseMs }),
    // Only of our own errors is it known that they hold no secret.
    ...(error instanceof NoKeyError ? { failure: reason } : {}),
  });
}

const noKey = 'provider_credentials';

/** Tells whether an attempt failed for want of a key, which has nothing to do with its request. */
export function hadNoKey({ errorType, isUnsent }: UpstreamError): boolean {
  return isUnsent && errorType === noKey;
}

function reasonOf(error: unknown): string {
  try {
    if (error instanceof UpstreamError && error.reason === 'timeout')
      return `apiKey took longer than ${error.waitedMs} ms`;
    if (error instanceof NoKeyError) return error.message;
    return error instanceof Error ? `${error.name}: ${error.message}` : 'apiKey threw no Error';
  } catch {
    // A getter of the thrown object throws in its turn.
    return 'apiKey threw an unreadable error';
  }
}
