import type { UpstreamError } from '../../base/http/upstream-error.ts';
import type { Target } from '../../call/plan.ts';
import { keyRefOf } from '../../routing/key-ring.ts';
import type { RetrySettings } from '../../schema/settings/settings.ts';
import { hadNoKey } from './operator-key.ts';

/** The target that is called next after a failed attempt, and the wait before. */
export interface NextTarget {
  /** Index in the plan. */
  at: number;
  delayMs: number;
}

/** The statuses with which a provider may refuse a BYOK credential. The next target may be called at once. */
const refusals = new Set([401, 402, 403, 429]);

/**
 * Chooses the next target after a failure. Pure.
 * - A transient failure: the same target after a backoff, as often as `attemptsPerEndpoint` allows; then the next
 * target.
 * - A provider that refuses the credential, or does not have the model: the next target.
 * - One of several keys of the operator that is refused or rate limited: the next target at once, which may be the next
 * key. After any other failure, the next endpoint: it is not the fault of the key.
 * - A part of the request that the endpoint has no word for: the next target.
 * - A refusal that is the caller's fault: the first target of the next model.
 * @param at        index of the target that failed
 * @param attempts  the number of attempts at it so far
 * @param random    a number from 0 up to, but not including, 1: takes off up to half of a backoff, so that clients do
 *   not come back in step
 * @returns null: no target is left
 */
export function chooseNext(
  targets: readonly Target[],
  at: number,
  attempts: number,
  error: UpstreamError,
  retry: RetrySettings,
  random: () => number,
): NextTarget | null {
  const current = targets[at] as Target;
  const isKey = keyRefOf(current.credential) !== null;
  const next = isKey && !isOfKey(error) ? afterKeys(targets, at) : at + 1;
  const following = next < targets.length ? { at: next, delayMs: 0 } : null;
  const isRefused = error.reason === 'status' && refusals.has(error.status);
  // A refusal of the content with 403 holds for every credential.
  const isOfContent = error.status === 403 && error.fault === 'caller';
  if (current.isByok && following && isRefused && !isOfContent) return following;
  if (isKey && following && isOfKey(error)) return following;
  // The request was not sent: this endpoint has no word for a part of it. Another endpoint may have one.
  if (error.fault === 'caller' && error.isUnsent) return following;
  // A provider that does not have the model says nothing about the request. Another provider may have the model.
  if (error.fault === 'caller' && error.status !== 404) {
    const model = targets.findIndex((one, index) => index > at && one.modelIndex > current.modelIndex);
    return model < 0 ? null : { at: model, delayMs: 0 };
  }
  const askedMs = error.retryAfterMs ?? 0;
  if (error.fault === 'transient' && attempts < retry.attemptsPerEndpoint && askedMs <= retry.maxRetryAfterMs)
    return { at, delayMs: Math.max(askedMs, backoffMs(retry, attempts, random)) };
  return following;
}

/** Tells whether a failure is of the key, so that another key at the same endpoint may serve. */
export function isOfKey(error: UpstreamError): boolean {
  if (hadNoKey(error)) return true;
  return error.reason === 'status' && refusals.has(error.status) && error.fault !== 'caller';
}

/** Returns the index of the first target after one that is not the same endpoint with another key of the operator. */
function afterKeys(targets: readonly Target[], at: number): number {
  const { endpoint } = targets[at] as Target;
  let next = at + 1;
  for (; next < targets.length; next++) {
    const target = targets[next] as Target;
    if (target.endpoint !== endpoint || keyRefOf(target.credential) === null) break;
  }
  return next;
}

/** Doubles with each attempt, less a random part of up to half. */
function backoffMs(retry: RetrySettings, attempts: number, random: () => number): number {
  const full = Math.min(retry.baseDelayMs * 2 ** (attempts - 1), retry.maxDelayMs);
  return Math.round(full * (1 - random() / 2));
}
