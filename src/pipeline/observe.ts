import { UpstreamError } from '../base/upstream-error.ts';
import { healthKey } from '../call/facts.ts';
import type { Target } from '../call/plan.ts';
import type { AttemptTrace } from '../call/trace.ts';
import type { Observation } from '../catalog/health.ts';
import type { Usage } from '../schema/chat.ts';
import type { ExecuteDeps } from './deps.ts';

// What one of a workspace's own credentials meets says nothing of the endpoint for anybody else: it has a key of its own.
const keyOf = ({ endpoint, credential }: Target) => healthKey(endpoint, credential);

/** @returns false: the endpoint is being tried again after failures, by another call that was planned at the same time */
export function observeStart({ health }: Pick<ExecuteDeps, 'health'>, target: Target): boolean {
  return health.started(keyOf(target));
}

/** The first token of a stream, of which nobody knows yet how it ends; or how long it was waited for in vain. */
export function observeFirstToken({ health }: Pick<ExecuteDeps, 'health'>, target: Target, firstTokenMs: number): void {
  health.observe(keyOf(target), { firstTokenMs });
}

/** What a failed attempt tells of the endpoint: nothing, where the request or its client was the reason. */
export function observeFailure({ health }: Pick<ExecuteDeps, 'health'>, target: Target, error: unknown): void {
  health.observe(keyOf(target), seenIn(error));
}

function seenIn(error: unknown): Observation {
  if (!(error instanceof UpstreamError) || error.fault === 'caller') return {};
  return { outcome: error.status === 429 && error.reason === 'status' ? 'limited' : 'failed' };
}

/**
 * Reports how a response ended: as far as its client read it, or broken off by the provider.
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
  health.observe(keyOf(target), tokensPerSecond === null ? { outcome } : { outcome, tokensPerSecond });
}

/** Output tokens per second: of a stream from its first token on, of a complete response from the start of the attempt. */
function speedOf(
  { startedAtMs, decidedAtMs }: AttemptTrace,
  { completion_tokens }: Usage,
  isStream: boolean,
  nowMs: number,
): number | null {
  const tookMs = nowMs - (isStream ? decidedAtMs : startedAtMs);
  return tookMs > 0 && completion_tokens > 1 ? (completion_tokens * 1000) / tookMs : null;
}

/** An endpoint that refused our key, or asked for a longer pause than we wait, is left alone for a while. */
export function coolDownAfter(
  { health, clock, retry }: Pick<ExecuteDeps, 'health' | 'clock' | 'retry'>,
  target: Target,
  error: UpstreamError,
): void {
  const pauseMs = error.fault === 'operator' ? retry.cooldownMs : (error.retryAfterMs ?? 0);
  if (error.fault === 'operator' || pauseMs > retry.maxRetryAfterMs)
    health.coolDown(keyOf(target), clock.now() + pauseMs);
}
