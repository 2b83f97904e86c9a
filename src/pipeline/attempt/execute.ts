import { UpstreamError } from '../../base/http/upstream-error.ts';
import type { Target } from '../../call/plan.ts';
import type { EncodedRequest } from '../../dialects/dialect.ts';
import type { ExecuteDeps } from '../deps.ts';
import type { Attempted, AttemptWatcher } from './attempt.ts';
import { runHedged } from './hedge.ts';
import { observeFailure } from './observe.ts';
import { askAt, type Execution, type Prepared } from './prepared.ts';
import { traced } from './traced.ts';
import { Walk, walkAlong } from './walk.ts';

/** The target that serves, with the request that was sent and the result. */
export interface Executed extends Prepared {
  attempted: Attempted;
}

/**
 * Calls the targets of a plan until one succeeds, and returns the walk, which tells what was executed.
 * @throws GatewayError when no target is left; the reason of the signal after an abort
 */
export function execute(deps: ExecuteDeps, execution: Execution): Promise<{ executed(): Executed }> {
  return walkAlong<Attempted, ChatWalk>(deps, execution, (first) => new ChatWalk(deps, execution, first));
}

/** The walk of a chat request. */
class ChatWalk extends Walk<Attempted> implements AttemptWatcher {
  readonly #execution: Execution;
  /** The latest request that plugins have prepared; null: no plugin prepares requests. */
  #prepared: Prepared | null = null;

  constructor(deps: ExecuteDeps, execution: Execution, first: number) {
    super(deps, execution, first, execution.ask.request.stream === true);
    this.#execution = execution;
  }

  /** The result, once an attempt has succeeded. */
  executed(): Executed {
    const attempted = this.made as Attempted;
    if (this.#prepared !== null) return { attempted, ...this.#prepared };
    return { attempted, ...this.#asIs(this.target) };
  }

  protected call(target: Target): Promise<Attempted> {
    const { ask, prepare } = this.#execution;
    if (this.deps.hedging !== null && ask.request.stream === true) return this.#hedged();
    if (prepare === null) return this.#traced(this.#asIs(target));
    return this.prepared(target).then((prepared) => {
      this.#prepared = prepared;
      return this.#traced(prepared);
    });
  }

  #traced(made: Prepared): Promise<Attempted> {
    const { asked, time, signal, attempts, follower, connection } = this.#execution;
    const input = { ask: made.ask, asked, time, signal, follower, connection };
    return traced(this.deps, input, made.target, attempts, this);
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
      observeFailure(this.deps, target, error);
      throw error;
    }
  }

  /** Returns the request where no plugin prepares it. */
  #asIs(target: Target): Prepared {
    return { ask: askAt(this.#execution.ask, target), target };
  }

  /** Calls the target, and another one beside it when the first token is late. */
  async #hedged(): Promise<Attempted> {
    const ended = await runHedged(this.deps, this.#execution, this, this.at);
    this.goTo(ended.at);
    if (!ended.isOk) throw ended.error;
    this.#prepared = ended.prepared;
    return ended.attempted;
  }
}
