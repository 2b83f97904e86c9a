import { UpstreamError } from '../base/upstream-error.ts';
import type { Call } from '../call/call.ts';
import type { Target } from '../call/plan.ts';
import type { EncodedRequest } from '../dialects/dialect.ts';
import type { Usage } from '../schema/chat.ts';
import { type Attempted, type AttemptObserver, type AttemptWatcher, attempt } from './attempt.ts';
import { costAt } from './cost.ts';
import type { PipelineDeps } from './deps.ts';
import { observeFailure, observeFirstToken } from './observe.ts';

/**
 * Runs a try, and writes down how it went: in the call's trace, and for the health of the endpoint, which knows already
 * that it begins.
 */
export function traced(deps: PipelineDeps, call: Call, target: Target, watcher: AttemptWatcher): Promise<Attempted> {
  return attempt(deps, call, target, new Observer(deps, call, target, watcher));
}

class Observer implements AttemptObserver {
  readonly #deps: PipelineDeps;
  readonly #call: Call;
  readonly #target: Target;
  readonly #watcher: AttemptWatcher;
  readonly #startedAtMs: number;
  #dropped: readonly string[] = [];

  constructor(deps: PipelineDeps, call: Call, target: Target, watcher: AttemptWatcher) {
    this.#deps = deps;
    this.#call = call;
    this.#target = target;
    this.#watcher = watcher;
    this.#startedAtMs = deps.clock.now();
  }

  show(encoded: EncodedRequest): void {
    this.#dropped = encoded.dropped;
    this.#watcher.show(encoded);
  }

  answered(attempted: Attempted): void {
    this.#note(200, null);
    // Of a whole answer all is said when it is settled.
    if (attempted.kind === 'stream')
      observeFirstToken(this.#deps, this.#target, this.#deps.clock.now() - this.#startedAtMs);
  }

  failed(error: unknown): void {
    observeFailure(this.#deps, this.#target, error);
    if (error instanceof UpstreamError)
      this.#note(error.status, error.errorType, costOf(error, this.#target, this.#call));
    else if (this.#call.signal.aborted) this.#note(499, 'cancelled');
  }

  #note(status: number, errorType: string | null, costNanoUsd = 0): void {
    const { providerName, endpoint, isByok } = this.#target;
    this.#call.trace.attempts.push({
      provider: providerName,
      providerSlug: endpoint.providerSlug,
      model: endpoint.modelSlug,
      startedAtMs: this.#startedAtMs,
      decidedAtMs: this.#deps.clock.now(),
      status,
      errorType,
      isByok,
      costNanoUsd,
      dropped: this.#dropped,
    });
  }
}

function costOf({ usage }: UpstreamError, { endpoint }: Target, { request }: Call): number {
  return (usage && costAt(endpoint, usage as Usage, request)?.totalNanoUsd) || 0;
}
