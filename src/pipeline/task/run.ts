import type { StopSignal } from '../../base/async/stop.ts';
import type { Call } from '../../call/call.ts';
import type { Guardrail } from '../../guardrails/guardrail.ts';
import { describeRoute, droppedBy } from '../../routing/describe.ts';
import type { Usage } from '../../schema/chat/chat.ts';
import type { PipelineStage, ServiceMetadata } from '../../schema/chat/envelope.ts';
import type { Admission } from '../../stores/rates/limiter.ts';
import { type ActiveHook, activeHooks } from '../call/active-hooks.ts';
import { admitWithTokens } from '../call/admission.ts';
import { CallJournal, noTokens } from '../call/journal.ts';
import { type CallEnd, recordOf } from '../call/record.ts';
import { CallWatch } from '../call/watch.ts';
import { stageWithoutWithheld } from '../call/withheld.ts';
import type { PipelineDeps } from '../deps.ts';
import type { HookRun } from '../hooks/context.ts';
import { Expenses } from '../money/expenses.ts';
import { CallHold } from '../money/hold.ts';
import { TaskGeneration } from './generation.ts';
import type { Task } from './task.ts';

/**
 * One client call of a task on its way: its hold, its attempts, the acts of guardrails, and one record at its end.
 */
export class TaskRun implements HookRun {
  readonly deps: PipelineDeps;
  /** The call, with the view of the task in place of a chat request: guardrails and records read it. */
  readonly call: Call;
  readonly hold: CallHold;
  readonly expenses: Expenses;
  readonly journal = new CallJournal();
  readonly watch: CallWatch;
  /** Guardrails. Plugins act on chat alone. */
  readonly hooks: readonly ActiveHook[];
  generation: TaskGeneration | null = null;
  #admission: Admission | null = null;
  #isOver = false;
  #typicalTokens = 0;

  /** @param imposed  guardrails of the store */
  constructor(deps: PipelineDeps, call: Call, imposed: readonly Guardrail[] = []) {
    this.deps = deps;
    this.call = call;
    this.hooks = activeHooks(deps, call, imposed).filter(({ isGuardrail }) => isGuardrail);
    this.hold = new CallHold(deps, call, this.hooks.length > 0);
    this.expenses = new Expenses(this.hold);
    this.watch = new CallWatch(deps, call, this.isGuarded);
  }

  get signal(): StopSignal {
    return this.call.signal;
  }

  get generations(): readonly TaskGeneration[] {
    return this.generation === null ? [] : [this.generation];
  }

  /** true: guardrails act on the call. */
  get isGuarded(): boolean {
    return this.hooks.length > 0;
  }

  /** The headers that tell the caller its rate limits; undefined: nothing limits the call. */
  get rateHeaders(): Admission['headers'] | undefined {
    return this.#admission?.headers;
  }

  /** The fields of the request that had no effect. */
  get dropped(): readonly string[] {
    return droppedBy(this.generation?.attempts ?? []);
  }

  addStage(stage: PipelineStage): void {
    this.journal.addStage(stageWithoutWithheld(this.hooks, stage));
  }

  /** Takes the place of the call in the rate limits. @throws the errors of `admit` */
  async admit(task: Task): Promise<void> {
    this.#typicalTokens = task.typicalTokens;
    this.#admission = await admitWithTokens(this.deps.rates, this.call, this.#typicalTokens);
  }

  begin(task: Task): TaskGeneration {
    this.generation = new TaskGeneration(task.view(), this.call.time);
    return this.generation;
  }

  /** Returns the route of the call; undefined: the caller did not ask for it. */
  metadata(): ServiceMetadata | undefined {
    if (!this.call.wantsMetadata) return undefined;
    return describeRoute(this.generations, this.journal.stages, this.deps.region);
  }

  /** Ends the call: settles the hold, and writes the record. Only the first end counts. */
  finish(end: CallEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.generation?.failed(end.status);
    this.expenses.settleAll();
    this.hold.settle();
    this.#admission?.end(this.#tokensUsed());
    if (this.deps.record === null) return;
    this.watch.ended(
      recordOf(
        {
          call: this.call,
          hold: this.hold,
          generations: this.generations,
          stages: this.journal.stages,
          work: this.watch.work,
          expenses: this.expenses.settled,
          words: this.watch.words,
          hooks: this.hooks,
          switches: this.watch.switches,
          usage: () => this.#usage(),
        },
        end,
      ),
    );
  }

  #usage(): Usage {
    return this.generation?.receipt?.usage ?? noTokens;
  }

  /** The used tokens; those of a request that failed, where a provider may charge for it. */
  #tokensUsed(): number {
    const { generation } = this;
    if (generation === null) return 0;
    const { receipt, attempts } = generation;
    const isCharged = attempts.some(({ costNanoUsd }) => costNanoUsd > 0);
    return receipt?.usage.total_tokens || (isCharged ? this.#typicalTokens : 0);
  }
}
