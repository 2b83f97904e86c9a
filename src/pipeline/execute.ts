import pRetry, { type Options } from 'p-retry';
import { wait } from '../base/clock.ts';
import { GatewayError } from '../base/errors.ts';
import { UpstreamError } from '../base/upstream-error.ts';
import type { Call } from '../call/call.ts';
import type { Plan, Target } from '../call/plan.ts';
import type { EncodedRequest } from '../dialects/dialect.ts';
import type { Attempted, AttemptWatcher } from './attempt.ts';
import type { PipelineDeps } from './deps.ts';
import { failureOf } from './failure.ts';
import { type HedgedInput, runHedged } from './hedge.ts';
import type { Hedging } from './hedging.ts';
import { coolDownAfter, observeStart } from './observe.ts';
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
  const { targets } = plan;
  let first = 0;
  while (first < targets.length && !observeStart(deps, targets[first] as Target)) first++;
  if (first === targets.length) return Promise.reject(beingTried());
  const walk = new Walk(deps, call, plan, reserved, first);
  // Most requests need no second attempt, and p-retry only then.
  return walk.run().then(
    (attempted) => walk.succeeded(attempted),
    (error: unknown) => walk.goOn(error),
  );
}

/** Where on its plan a call is. */
class Walk implements AttemptWatcher {
  readonly #deps: PipelineDeps;
  readonly #call: Call;
  readonly #plan: Plan;
  readonly #reserved: Reserved | null;
  readonly #errors: UpstreamError[] = [];
  readonly #sentBodies: Record<string, unknown>[] = [];
  readonly #wantsBodies: boolean;
  /** Index of the try in flight. */
  #at: number;
  /** Attempts at it so far. */
  #here = 0;

  constructor(deps: PipelineDeps, call: Call, plan: Plan, reserved: Reserved | null, first: number) {
    this.#deps = deps;
    this.#call = call;
    this.#plan = plan;
    this.#reserved = reserved;
    this.#at = first;
    this.#wantsBodies = call.request.debug?.echo_upstream_body === true && call.request.stream === true;
  }

  run(): Promise<Attempted> {
    this.#here++;
    const { hedging } = this.#deps;
    if (hedging !== null && this.#call.request.stream === true) return this.#beside(hedging);
    return traced(this.#deps, this.#call, this.#plan.targets[this.#at] as Target, this);
  }

  /** What is sent upstream, for a caller who asked to see it. */
  show({ payload }: EncodedRequest): void {
    if (this.#wantsBodies) this.#sentBodies.push(payload);
  }

  succeeded(attempted: Attempted): Executed {
    return { attempted, served: this.#at, sentBodies: this.#sentBodies };
  }

  /** After the first attempt has failed, which counts as the first of p-retry's. */
  goOn(first: unknown): Promise<Executed> {
    const again = (number: number) => (number === 1 ? Promise.reject(first) : this.#again());
    return pRetry(again, this.#rules()).then(
      (attempted) => this.succeeded(attempted),
      (error: unknown) => {
        if (error instanceof UpstreamError && !this.#call.signal.aborted)
          throw failureOf(this.#errors, this.#call.trace);
        throw error;
      },
    );
  }

  #again(): Promise<Attempted> {
    observeStart(this.#deps, this.#plan.targets[this.#at] as Target);
    return this.run();
  }

  /** The try, and one beside it when its first token is late. */
  async #beside(hedging: Hedging): Promise<Attempted> {
    const input: HedgedInput = {
      deps: this.#deps,
      call: this.#call,
      plan: this.#plan,
      reserved: this.#reserved,
      hedging,
      watcher: this,
      failed: (target, error) => this.#failed(target, error),
    };
    const ended = await runHedged(input, this.#at);
    if (ended.at !== this.#at) this.#here = 1;
    this.#at = ended.at;
    if (!ended.isOk) throw ended.error;
    return ended.attempted;
  }

  #failed(target: Target, error: unknown): void {
    if (!(error instanceof UpstreamError)) return;
    this.#errors.push(error);
    coolDownAfter(this.#deps, target, error);
  }

  #rules(): Options {
    return {
      retries: this.#deps.retry.maxAttempts - 1,
      minTimeout: 0,
      // What p-retry asks of a signal, ours can do.
      signal: this.#call.signal as AbortSignal,
      onFailedAttempt: ({ error }) => this.#failed(this.#plan.targets[this.#at] as Target, error),
      shouldRetry: ({ error }) => this.#moves(error),
    };
  }

  /** p-retry knows no Retry-After and no endpoints, so where to go and how long to wait is decided here. */
  async #moves(error: unknown): Promise<boolean> {
    if (!(error instanceof UpstreamError)) return false;
    const next = await nextTarget(this.#deps, this.#call, this.#plan, this.#reserved, this.#at, this.#here, error);
    if (!next) return false;
    if (next.delayMs > 0) await wait(this.#deps.clock, next.delayMs, this.#call.signal);
    if (next.at !== this.#at) this.#here = 0;
    this.#at = next.at;
    return true;
  }
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
async function nextTarget(
  deps: PipelineDeps,
  call: Call,
  plan: Plan,
  reserved: Reserved | null,
  at: number,
  here: number,
  error: UpstreamError,
): Promise<Next | null> {
  const preferred = preferredTarget(deps, plan, at, here, error);
  if (!preferred || reserved === null) return preferred;
  // What failed attempts have used is spent: each further one must still fit into what is held.
  for (let next = preferred.at; next < plan.targets.length; next++) {
    if (await reserved.covers(plan.targets[next] as Target, call.trace))
      return next === preferred.at ? preferred : { at: next, delayMs: 0 };
  }
  return null;
}

function preferredTarget(deps: PipelineDeps, plan: Plan, at: number, here: number, error: UpstreamError): Next | null {
  const { retry } = deps;
  const current = plan.targets[at] as Target;
  const isLast = at + 1 >= plan.targets.length;
  if (current.isByok && !isLast && error.reason === 'status' && refusals.has(error.status))
    return { at: at + 1, delayMs: 0 };
  // A provider that does not have the model says nothing about the request: the next one may have it.
  if (error.fault === 'caller' && error.status !== 404) {
    const next = plan.targets.findIndex((one, index) => index > at && one.modelIndex > current.modelIndex);
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
