import pRetry from 'p-retry';
import { wait } from '../../base/clock.ts';
import { GatewayError } from '../../base/errors.ts';
import { UpstreamError } from '../../base/http/upstream-error.ts';
import type { Target } from '../../call/plan.ts';
import type { EncodedRequest } from '../../dialects/dialect.ts';
import type { ExecuteDeps } from '../deps.ts';
import type { Attempted, AttemptWatcher } from './attempt.ts';
import { failureOf } from './failure.ts';
import { runHedged } from './hedge.ts';
import { chooseNext } from './next-target.ts';
import { coolDownAfter, observeFailure, observeStart } from './observe.ts';
import { askAt, type Execution, type Prepared } from './prepared.ts';
import { traced } from './traced.ts';

/** The target that serves, with the request that was sent and the result. */
export interface Executed extends Prepared {
  attempted: Attempted;
}

/**
 * Calls the targets of a plan until one succeeds.
 * @throws GatewayError when no target is left; the reason of the signal after an abort
 */
export async function execute(deps: ExecuteDeps, execution: Execution): Promise<Executed> {
  const { targets } = execution.plan;
  // Another call, planned at the same time, may be finding out whether an endpoint is back.
  const first = targets.findIndex((target) => observeStart(deps, target));
  if (first < 0) throw allBeingTried();
  const walk = new Walk(deps, execution, first);
  try {
    await pRetry((number) => walk.attempt(number), {
      retries: deps.retry.maxAttempts - 1,
      onFailedAttempt: ({ error }) => walk.failed(error),
      shouldRetry: ({ error }) => walk.moveOn(error),
      // p-retry needs of a signal only the parts that ours has.
      signal: execution.signal as AbortSignal,
      // p-retry knows no Retry-After, no endpoints and no clock of ours: `moveOn` moves on, and waits. These are the
      // other options, all of them: where one is missing, p-retry's copy of the options takes 12 µs instead of 0.6.
      minTimeout: 0,
      maxTimeout: 0,
      maxRetryTime: Number.POSITIVE_INFINITY,
      factor: 1,
      randomize: false,
      unref: false,
      shouldConsumeRetry: always,
    });
  } catch (error) {
    // p-retry checks the signal once more after a success. A response that has arrived is on the bill, and must be
    // settled.
    if (walk.attempted !== null) return walk.executed(walk.attempted);
    if (error instanceof UpstreamError && !execution.signal.aborted) throw failureOf(walk.errors, execution.attempts);
    throw error;
  }
  return walk.executed(walk.attempted as Attempted);
}

const always = () => true;

/** The place of an execution on its plan. */
class Walk implements AttemptWatcher {
  /** Index of the target that is called. */
  at: number;
  /** The result of the attempt that succeeded. */
  attempted: Attempted | null = null;
  readonly errors: UpstreamError[] = [];
  readonly #deps: ExecuteDeps;
  readonly #execution: Execution;
  /** Attempts at this target so far. */
  #attempts = 0;
  readonly #startedAtMs: number;
  /** The latest request that plugins have prepared; null: no plugin prepares requests. */
  #prepared: Prepared | null = null;

  constructor(deps: ExecuteDeps, execution: Execution, first: number) {
    this.#deps = deps;
    this.#execution = execution;
    this.at = first;
    this.#startedAtMs = deps.clock.monotonic();
  }

  executed(attempted: Attempted): Executed {
    const { plan } = this.#execution;
    if (this.#prepared !== null) return { attempted, ...this.#prepared };
    const target = plan.targets[this.at] as Target;
    return { attempted, ...this.#asIs(target) };
  }

  /** @param number  the number of the attempt, from 1 */
  async attempt(number: number): Promise<void> {
    const { plan, ask, asked, time, signal, attempts, follower } = this.#execution;
    const target = plan.targets[this.at] as Target;
    if (number > 1) observeStart(this.#deps, target);
    this.#attempts++;
    const { hedging } = this.#deps;
    if (hedging !== null && ask.request.stream === true) this.attempted = await this.#hedged();
    else {
      if (this.#execution.prepare !== null) this.#prepared = await this.prepared(target);
      const made = this.#prepared ?? this.#asIs(target);
      const input = { ask: made.ask, asked, time, signal, follower };
      this.attempted = await traced(this.#deps, input, made.target, attempts, this);
    }
  }

  show(encoded: EncodedRequest): void {
    this.#execution.show(encoded);
  }

  /**
   * Returns the request as plugins prepare it for this target. @throws UpstreamError where it does not fit the budget
   */
  async prepared(target: Target): Promise<Prepared> {
    const { prepare } = this.#execution;
    if (prepare === null) return this.#asIs(target);
    try {
      const prepared = await prepare(target);
      if (prepared !== null) return prepared;
      throw new UpstreamError('What plugins made of the request costs more than the budget covers.', {
        reason: 'status',
        status: 402,
        fault: 'caller',
      });
    } catch (error) {
      // The attempt has begun for the health of the endpoint, and ends here.
      observeFailure(this.#deps, target, error);
      throw error;
    }
  }

  /** Returns the request where no plugin prepares it. */
  #asIs(target: Target): Prepared {
    return { ask: askAt(this.#execution.ask, target), target };
  }

  failed(error: unknown, target = this.#execution.plan.targets[this.at] as Target): void {
    if (!(error instanceof UpstreamError)) return;
    this.errors.push(error);
    coolDownAfter(this.#deps, target, error);
  }

  /** Goes to the next target, after its delay. @returns false: no target is left that the budget allows */
  async moveOn(error: unknown): Promise<boolean> {
    if (!(error instanceof UpstreamError) || this.#hasNoTimeAfter(error)) return false;
    const { clock, retry, random } = this.#deps;
    const { plan, share, signal, attempts } = this.#execution;
    const next = chooseNext(plan.targets, this.at, this.#attempts, error, retry, random);
    if (next === null) return false;
    // Failed attempts have used a part of the hold: the next target must still fit into it.
    let { at } = next;
    while (at < plan.targets.length && !(await share.covers(plan.targets[at] as Target, attempts))) at++;
    if (at === plan.targets.length) return false;
    if (at === next.at && next.delayMs > 0) await wait(clock, next.delayMs, signal);
    if (at !== this.at) this.#attempts = 0;
    this.at = at;
    return true;
  }

  /** Calls the target, and another one beside it when the first token is late. */
  async #hedged(): Promise<Attempted> {
    const ended = await runHedged(this.#deps, this.#execution, this, this.at);
    if (ended.at !== this.at) this.#attempts = 1;
    this.at = ended.at;
    if (!ended.isOk) throw ended.error;
    this.#prepared = ended.prepared;
    return ended.attempted;
  }

  /**
   * true: a JSON request has no time for another attempt as long as the one that timed out. The client is told of the
   * time-out instead.
   */
  #hasNoTimeAfter({ waitedMs }: UpstreamError): boolean {
    // The next stream may begin at once.
    if (waitedMs === undefined || this.#execution.ask.request.stream === true) return false;
    const { clock, timeouts } = this.#deps;
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
