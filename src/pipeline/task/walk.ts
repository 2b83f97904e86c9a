import type { Target } from '../../call/plan.ts';
import type { AttemptTrace } from '../../call/trace.ts';
import { Walk, type Walked } from '../attempt/walk.ts';
import type { ExecuteDeps } from '../deps.ts';
import { attemptTask, type TaskAttemptInput, type TaskMade } from './attempt.ts';
import { batchesAt, withCeiling } from './bounds.ts';
import type { Served } from './cost.ts';
import type { TaskProgress } from './task.ts';

/**
 * The walk of a task. An attempt asks for what is missing. What an attempt has brought before it failed stays, as long as
 * the next target is of the same model; another model begins anew.
 */
export class TaskWalk extends Walk<TaskMade> {
  readonly #walked: Walked;
  readonly #input: TaskAttemptInput;
  readonly #progress: TaskProgress;
  readonly #attempts: AttemptTrace[];
  #model: string | null = null;
  #called: Target | null = null;
  /** The use of all that is in the result so far. */
  #served: Served[] = [];

  constructor(
    deps: ExecuteDeps,
    walked: Walked,
    first: number,
    { input, progress }: { input: TaskAttemptInput; progress: TaskProgress },
  ) {
    super(deps, walked, first, input.isStream);
    this.#walked = walked;
    this.#attempts = walked.attempts;
    this.#input = input;
    this.#progress = progress;
  }

  /** The target that was called last, with what its requests can cost. */
  get called(): Target {
    return this.#called ?? this.target;
  }

  /** The use of all that is in the result. */
  get served(): readonly Served[] {
    return this.#served;
  }

  /** @returns what this attempt has brought */
  protected async call(planned: Target): Promise<TaskMade> {
    const { modelSlug } = planned.endpoint;
    if (this.#model !== null && this.#model !== modelSlug) {
      this.#progress.restart();
      this.#served = [];
    }
    this.#model = modelSlug;
    const before = this.#served.length;
    const { target, batches } = this.#priced(planned);
    const open = await attemptTask(this.deps, this.#input, target, batches, this.#attempts, this.#served);
    this.#called = target;
    return { served: this.#served.slice(before), open };
  }

  /** The hold has to pay for what is missing; for all of it at another model. */
  protected override covers(planned: Target): boolean | Promise<boolean> {
    const isSame = planned.endpoint.modelSlug === this.#model;
    const target = isSame ? this.#priced(planned).target : planned;
    return this.#walked.share.covers(target, this.#attempts);
  }

  #priced(planned: Target) {
    const batches = batchesAt(this.deps, this.#progress, planned);
    const target = planned.ceilingNanoUsd ? (withCeiling(planned, batches) ?? planned) : planned;
    return { target, batches };
  }
}
