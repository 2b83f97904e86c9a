import pRetry from 'p-retry';
import type { StopSignal } from '../../base/async/stop.ts';
import { wait } from '../../base/clock.ts';
import { GatewayError } from '../../base/errors.ts';
import { UpstreamError } from '../../base/http/upstream-error.ts';
import type { Plan, Target } from '../../call/plan.ts';
import type { AttemptTrace } from '../../call/trace.ts';
import type { ExecuteDeps } from '../deps.ts';
import type { HoldShare } from '../money/hold-share.ts';
import { failureOf } from './failure.ts';
import { chooseNext } from './next-target.ts';
import { coolDownAfter, observeStart } from './observe.ts';

/** A plan and its money, and everything that is needed to walk along its targets, whatever the request is for. */
export interface Walked {
  readonly plan: Plan;
  readonly share: HoldShare;
  /** Aborted when nobody waits any more. */
  readonly signal: StopSignal;
  /** The log of the attempts; each is added when it is decided. */
  readonly attempts: AttemptTrace[];
}

/**
 * Walks along the targets until one succeeds.
 * @param start  makes the walk that begins at the target of this index
 * @throws GatewayError when no target is left; the reason of the signal after an abort
 */
export async function walkAlong<Made, OneWalk extends Walk<Made>>(
  deps: ExecuteDeps,
  walked: Walked,
  start: (first: number) => OneWalk,
): Promise<OneWalk & { made: Made }> {
  // Another call, planned at the same time, may be finding out whether an endpoint is back.
  const first = walked.plan.targets.findIndex((target) => observeStart(deps, target));
  if (first < 0) throw allBeingTried();
  const walk = start(first) as OneWalk & { made: Made };
  try {
    await walk.attempt(1);
  } catch (error) {
    await walkOn(deps, walked, walk, error);
  }
  return walk;
}

/**
 * Goes on after the first attempt has failed. Most requests need no second attempt: until then they hold nothing of
 * p-retry (see "What a waiting request holds" in docs/performance.md).
 */
async function walkOn(deps: ExecuteDeps, walked: Walked, walk: Walk<unknown>, firstError: unknown): Promise<void> {
  const attempt = (number: number) => (number === 1 ? Promise.reject(firstError) : walk.attempt(number));
  try {
    await pRetry(attempt, {
      retries: deps.retry.maxAttempts - 1,
      onFailedAttempt: ({ error }) => walk.failed(error),
      shouldRetry: ({ error }) => walk.moveOn(error),
      // p-retry needs of a signal only the parts that ours has.
      signal: walked.signal as AbortSignal,
      // p-retry knows no Retry-After, no endpoints and no clock of ours: `moveOn` moves on, and waits.
      minTimeout: 0,
      maxTimeout: 0,
      maxRetryTime: Number.POSITIVE_INFINITY,
    });
  } catch (error) {
    // p-retry checks the signal once more after a success. A response that has arrived is on the bill, and must be
    // settled.
    if (walk.made !== null) return;
    if (error instanceof UpstreamError && !walked.signal.aborted) throw failureOf(walk.errors, walked.attempts);
    throw error;
  }
}

/** The place of an execution on its plan. */
export abstract class Walk<Made> {
  /** Index of the target that is called. */
  at: number;
  /** The result of the attempt that succeeded. */
  made: Made | null = null;
  readonly errors: UpstreamError[] = [];
  protected readonly deps: ExecuteDeps;
  readonly #walked: Walked;
  readonly #isStream: boolean;
  /** Attempts at this target so far. */
  #attempts = 0;
  readonly #startedAtMs: number;

  constructor(deps: ExecuteDeps, walked: Walked, first: number, isStream: boolean) {
    this.deps = deps;
    this.#walked = walked;
    this.#isStream = isStream;
    this.at = first;
    this.#startedAtMs = deps.clock.monotonic();
  }

  /** Calls the target. Its result is `made`. */
  protected abstract call(target: Target): Promise<Made>;

  /** The target that is called. */
  get target(): Target {
    return this.#walked.plan.targets[this.at] as Target;
  }

  /** @param number  the number of the attempt, from 1 */
  async attempt(number: number): Promise<void> {
    const { target } = this;
    if (number > 1) observeStart(this.deps, target);
    this.#attempts++;
    this.made = await this.call(target);
  }

  failed(error: unknown, target = this.target): void {
    if (!(error instanceof UpstreamError)) return;
    this.errors.push(error);
    coolDownAfter(this.deps, target, error);
  }

  /** Goes to the next target, after its delay. @returns false: no target is left that the budget allows */
  async moveOn(error: unknown): Promise<boolean> {
    if (!(error instanceof UpstreamError) || this.#hasNoTimeAfter(error)) return false;
    const { clock, retry, random } = this.deps;
    const { plan, signal } = this.#walked;
    const next = chooseNext(plan.targets, this.at, this.#attempts, error, retry, random);
    if (next === null) return false;
    // Failed attempts have used a part of the hold: the next target must still fit into it.
    let { at } = next;
    while (at < plan.targets.length && !(await this.covers(plan.targets[at] as Target))) at++;
    if (at === plan.targets.length) return false;
    if (at === next.at && next.delayMs > 0) await wait(clock, next.delayMs, signal);
    if (at !== this.at) this.#attempts = 0;
    this.at = at;
    return true;
  }

  /** true: the hold pays for a further target, or was made to. */
  protected covers(target: Target): boolean | Promise<boolean> {
    return this.#walked.share.covers(target, this.#walked.attempts);
  }

  /** Goes to a target that was called beside the planned one. */
  protected goTo(at: number): void {
    if (at !== this.at) this.#attempts = 1;
    this.at = at;
  }

  /**
   * true: a JSON request has no time for another attempt as long as the one that timed out. The client is told of the
   * time-out instead.
   */
  #hasNoTimeAfter({ waitedMs }: UpstreamError): boolean {
    // The next stream may begin at once.
    if (waitedMs === undefined || this.#isStream) return false;
    const { clock, timeouts } = this.deps;
    return clock.monotonic() - this.#startedAtMs + waitedMs >= timeouts.totalMs;
  }
}

function allBeingTried(): GatewayError {
  return new GatewayError(
    'unavailable',
    'Every endpoint that could serve is being called by another request after failures; try again later',
    { retryAfterMs: 1000 },
  );
}
