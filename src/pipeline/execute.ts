import pRetry, { type Options } from 'p-retry';
import { wait } from '../base/clock.ts';
import { GatewayError } from '../base/errors.ts';
import { UpstreamError } from '../base/upstream-error.ts';
import type { Call } from '../call/call.ts';
import type { Plan, Try } from '../call/plan.ts';
import type { EncodedRequest } from '../dialects/dialect.ts';
import type { Attempted } from './attempt.ts';
import type { PipelineDeps } from './deps.ts';
import { failureOf } from './failure.ts';
import { runHedged } from './hedge.ts';
import type { Hedging } from './hedging.ts';
import { observeStart, restAfter } from './observe.ts';
import type { Reserved } from './reserve.ts';
import { traced } from './traced.ts';

export interface Executed {
  attempted: Attempted;
  /** Index of the try that serves. */
  served: number;
  /** Bodies that were sent upstream, one per attempt, for a caller who asked to see them. */
  sentBodies: Record<string, unknown>[];
}

/**
 * Walks the plan until a try succeeds: a transient failure is tried again at the same endpoint after a backoff, then at
 * the next; a refusal of our credentials moves to the next endpoint; a refusal that is the caller's fault to the next
 * model.
 * @throws GatewayError when no try is left; the reason of the call's signal after an abort
 */
export function execute(deps: PipelineDeps, call: Call, plan: Plan, reserved: Reserved | null): Promise<Executed> {
  const { retry } = deps;
  const errors: UpstreamError[] = [];
  const sentBodies: Record<string, unknown>[] = [];
  const wantsBodies = call.request.debug?.echo_upstream_body === true && call.request.stream === true;
  const show = (encoded: EncodedRequest) => {
    if (wantsBodies) sentBodies.push(encoded.payload);
  };
  let at = plan.tries.findIndex((step) => observeStart(deps, step));
  if (at < 0) return Promise.reject(beingTried());
  let here = 0;
  const alone = () => {
    here++;
    return traced(deps, call, plan.tries[at] as Try, show);
  };
  /** The try, and one beside it when its first token is late. */
  const beside = async (hedging: Hedging) => {
    here++;
    const ended = await runHedged({ deps, call, plan, reserved, show, hedging, failed }, at);
    if (ended.at !== at) here = 1;
    at = ended.at;
    if (!ended.isOk) throw ended.error;
    return ended.attempted;
  };
  const { hedging } = deps;
  const run = hedging !== null && call.request.stream === true ? () => beside(hedging) : alone;
  const again = () => {
    observeStart(deps, plan.tries[at] as Try);
    return run();
  };
  const failed = (step: Try, error: unknown) => {
    if (!(error instanceof UpstreamError)) return;
    errors.push(error);
    restAfter(deps, step, error);
  };
  const succeeded = (attempted: Attempted): Executed => ({ attempted, served: at, sentBodies });
  const rules = (): Options => ({
    retries: retry.maxAttempts - 1,
    minTimeout: 0,
    // What p-retry asks of a signal, ours can do.
    signal: call.signal as AbortSignal,
    onFailedAttempt: ({ error }) => failed(plan.tries[at] as Try, error),
    // p-retry knows no Retry-After and no endpoints, so where to go and how long to wait is decided here.
    async shouldRetry({ error }) {
      if (!(error instanceof UpstreamError)) return false;
      const next = await nextTry(deps, call, plan, reserved, at, here, error);
      if (!next) return false;
      if (next.delayMs > 0) await wait(deps.clock, next.delayMs, call.signal);
      if (next.at !== at) here = 0;
      at = next.at;
      return true;
    },
  });
  // Most requests need no second attempt, and p-retry only then; the first counts as the first of its attempts.
  return run().then(succeeded, (first: unknown) =>
    pRetry((number) => (number === 1 ? Promise.reject(first) : again()), rules()).then(succeeded, (error: unknown) => {
      if (error instanceof UpstreamError && !call.signal.aborted) throw failureOf(errors, call.trace);
      throw error;
    }),
  );
}

function beingTried(): GatewayError {
  return new GatewayError(
    'unavailable',
    'Every endpoint that could serve is being tried again after failures; try again later',
    { retryAfterMs: 1000 },
  );
}

/** What one of the workspace's own credentials may be refused with; the next may be welcome at once. */
const refusals = new Set([401, 402, 403, 429]);

interface Next {
  at: number;
  delayMs: number;
}

/** Where to go after a failure, and when; null when there is nowhere left that the budget allows. */
async function nextTry(
  deps: PipelineDeps,
  call: Call,
  plan: Plan,
  reserved: Reserved | null,
  at: number,
  here: number,
  error: UpstreamError,
): Promise<Next | null> {
  const wished = wishedTry(deps, plan, at, here, error);
  if (!wished || reserved === null) return wished;
  // What failed attempts have used is spent: each further one must still fit into what is held.
  for (let next = wished.at; next < plan.tries.length; next++) {
    if (await reserved.covers(plan.tries[next] as Try, call.trace))
      return next === wished.at ? wished : { at: next, delayMs: 0 };
  }
  return null;
}

function wishedTry(deps: PipelineDeps, plan: Plan, at: number, here: number, error: UpstreamError): Next | null {
  const { retry } = deps;
  const current = plan.tries[at] as Try;
  const isLast = at + 1 >= plan.tries.length;
  if (current.isByok && !isLast && error.reason === 'status' && refusals.has(error.status))
    return { at: at + 1, delayMs: 0 };
  // A provider that does not have the model says nothing about the request: the next one may have it.
  if (error.fault === 'caller' && error.status !== 404) {
    const next = plan.tries.findIndex((one, index) => index > at && one.modelIndex > current.modelIndex);
    return next < 0 ? null : { at: next, delayMs: 0 };
  }
  const askedMs = error.retryAfterMs ?? 0;
  if (error.fault === 'transient' && here < retry.attemptsPerEndpoint && askedMs <= retry.maxRetryAfterMs) {
    return { at, delayMs: Math.max(askedMs, backoffMs(deps, here)) };
  }
  return isLast ? null : { at: at + 1, delayMs: 0 };
}

/** Doubles with each attempt; a random part of up to half is taken off, so that clients do not come back in step. */
function backoffMs({ retry, random }: PipelineDeps, attempts: number): number {
  const full = Math.min(retry.baseDelayMs * 2 ** (attempts - 1), retry.maxDelayMs);
  return Math.round(full * (1 - random() / 2));
}
