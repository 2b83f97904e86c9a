import { UpstreamError } from '../../base/http/upstream-error.ts';
import { healthKey, ownKeyHealth } from '../../call/facts.ts';
import type { Target } from '../../call/plan.ts';
import type { AttemptTrace } from '../../call/trace.ts';
import type { Observation } from '../../catalog/health/index.ts';
import { keyRefOf } from '../../routing/key-ring.ts';
import type { Usage } from '../../schema/chat/chat.ts';
import type { RetrySettings } from '../../schema/settings/settings.ts';
import type { ExecuteDeps } from '../deps.ts';
import { isOfKey } from './next-target.ts';
import { hadNoKey } from './operator-key.ts';

// The results of a workspace's own credential say nothing of the endpoint for other workspaces: it has a key of its
// own.
const keyOf = ({ endpoint, credential }: Target) => healthKey(endpoint, credential);
/** The workspace of the request, where other workspaces call the endpoint with the same credential; else null. */
const workspaceOf = ({ isByok, workspaceId }: Target) => (isByok ? null : workspaceId);

/**
 * @returns false: the endpoint is being tried again after failures, by another call that was planned at the same time
 */
export function observeStart({ health }: Pick<ExecuteDeps, 'health'>, target: Target): boolean {
  return health.started(keyOf(target), workspaceOf(target));
}

/** Reports the first token of a stream, whose end nobody knows yet; or the time that was waited for it in vain. */
export function observeFirstToken({ health }: Pick<ExecuteDeps, 'health'>, target: Target, firstTokenMs: number): void {
  health.observe(keyOf(target), { firstTokenMs }, workspaceOf(target), target.workspaceId);
}

/** Reports a failed attempt. It says nothing of the endpoint where the request or its client was the reason. */
export function observeFailure({ health }: Pick<ExecuteDeps, 'health'>, target: Target, error: unknown): void {
  health.observe(keyOf(target), seenAt(target, error), workspaceOf(target), target.workspaceId);
}

/** The endpoint is well where one of several keys of the operator is refused: the others may serve. */
function seenAt({ credential }: Target, error: unknown): Observation {
  const isKeysFault = error instanceof UpstreamError && error.status !== 429 && isOfKey(error);
  return isKeysFault && keyRefOf(credential) !== null ? {} : seenIn(error);
}

function seenIn(error: unknown): Observation {
  if (!(error instanceof UpstreamError) || error.fault === 'caller') return {};
  if (error.status === 429 && error.reason === 'status') return { outcome: 'limited' };
  return { outcome: 'failed', isProven: isProven(error) };
}

/** Codes of connections that were never made. */
const neverConnected =
  /^(?:ECONNREFUSED|ConnectionRefused|FailedToOpenSocket|ENOTFOUND|DNSException|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|EPROTO|CERT_\w+|\w*SELF_SIGNED\w*|UNABLE_TO_GET_ISSUER_CERT\w*|ERR_(?:SSL|TLS)_\w+)$/;

/**
 * true: no request can provoke the failure. The provider does not know the credential, or nothing reached the provider.
 */
function isProven(error: UpstreamError): boolean {
  const { reason, status, providerCode = '' } = error;
  if (hadNoKey(error)) return true;
  return reason === 'status' ? status === 401 : reason === 'network' && neverConnected.test(providerCode);
}

/**
 * Reports the end of a response: the client read it, left early, or the provider broke it off.
 * @param served  the attempt and its usage, where they show how fast the endpoint is; null: they do not
 */
export function observeEnd(
  { health }: Pick<ExecuteDeps, 'health'>,
  target: Target,
  outcome: 'ok' | 'failed',
  served: { attempt: AttemptTrace; usage: Usage; isStream: boolean } | null,
  nowMs: number,
): void {
  const tokensPerSecond = served && speedOf(served.attempt, served.usage, served.isStream, nowMs);
  const seen = tokensPerSecond === null ? { outcome } : { outcome, tokensPerSecond };
  health.observe(keyOf(target), seen, workspaceOf(target), target.workspaceId);
}

/**
 * Returns the output tokens per second: of a stream from its first token on, of a complete response from the start of
 * the attempt.
 */
function speedOf(
  { startedAtMs, decidedAtMs }: AttemptTrace,
  { completion_tokens }: Usage,
  isStream: boolean,
  nowMs: number,
): number | null {
  const tookMs = nowMs - (isStream ? decidedAtMs : startedAtMs);
  return tookMs > 0 && completion_tokens > 1 ? (completion_tokens * 1000) / tookMs : null;
}

/** Returns how long an endpoint is left alone. A function without a key may say itself when to ask it again. */
function pauseAfter(error: UpstreamError, retry: RetrySettings): number {
  const askedMs = error.retryAfterMs;
  if (error.fault !== 'operator') return askedMs ?? 0;
  return hadNoKey(error) ? (askedMs ?? retry.cooldownMs) : retry.cooldownMs;
}

/**
 * Sets aside for a while an endpoint that refused our key, or asked for a longer pause than we wait: for all workspaces
 * where no request can provoke that, else for the workspace alone. Of several keys, only the one that was refused or rate
 * limited is set aside, however short the pause: another one serves meanwhile.
 */
export function coolDownAfter(
  { health, clock, retry }: Pick<ExecuteDeps, 'health' | 'clock' | 'retry'>,
  target: Target,
  error: UpstreamError,
): void {
  if (error.fault === 'caller') return;
  const forWhom = isProven(error) ? null : workspaceOf(target);
  const ref = keyRefOf(target.credential);
  if (ref !== null && isOfKey(error)) {
    const ofKeyMs = error.status === 429 ? (error.retryAfterMs ?? retry.keyCooldownMs) : pauseAfter(error, retry);
    health.coolDown(ownKeyHealth(target.endpoint, ref), clock.now() + ofKeyMs, forWhom, target.workspaceId);
    return;
  }
  const pauseMs = pauseAfter(error, retry);
  if (error.fault !== 'operator' && pauseMs <= retry.maxRetryAfterMs) return;
  health.coolDown(keyOf(target), clock.now() + pauseMs, forWhom, target.workspaceId);
}
