import type { PluginContext } from '../call/hooks.ts';
import type { ActiveHook } from './active-hooks.ts';
import { AskedHook } from './asked-hook.ts';
import type { CallRun } from './call-run.ts';
import type { HookName } from './hook-failure.ts';

type Annotations = Parameters<PluginContext['addAnnotations']>[0];

/** A hook that is asked about a call, with a context that has no effect once nobody waits for the hook any more. */
export class HookOfCall extends AskedHook {
  readonly context: PluginContext;
  readonly #run: CallRun;
  readonly #asked: ActiveHook;
  readonly #name: HookName;
  /** What the hook has annotated while it is asked: it counts where the hook does not fail. null: it counts at once. */
  #pending: Annotations[number][] | null = [];
  /** Whether something was annotated that counts. */
  hasAnnotated = false;

  constructor(run: CallRun, hook: ActiveHook, name: HookName) {
    super(run.deps, run.call, hook, name);
    this.#run = run;
    this.#asked = hook;
    this.#name = name;
    const ofCall = run.contextOf(hook.options);
    const asked = this;
    this.context = {
      ...ofCall,
      get signal() {
        return asked.signal;
      },
      addStage: (stage) => {
        if (!asked.isGivenUp) ofCall.addStage(stage);
      },
      addAnnotations: (annotations) => {
        if (asked.isGivenUp) return;
        if (asked.#pending !== null) asked.#pending.push(...annotations);
        else asked.#annotate(annotations);
      },
      async hold(nanoUsd) {
        asked.throwIfGivenUp();
        const expense = await ofCall.hold(nanoUsd);
        // What nobody settles is booked as it was held.
        asked.throwIfGivenUp();
        return { settle: (spentNanoUsd) => void (asked.isGivenUp || expense.settle(spentNanoUsd)) };
      },
    };
  }

  /** @throws Error where nobody waits for the hook any more */
  throwIfGivenUp(): void {
    if (this.isGivenUp) throw new Error('Nobody waits for this hook any more');
  }

  /** From now on, what the hook annotates counts at once. */
  hasSucceeded(): void {
    const pending = this.#pending ?? [];
    this.#pending = null;
    if (pending.length > 0) this.#annotate(pending);
  }

  #annotate(annotations: Annotations): void {
    this.hasAnnotated = true;
    this.#run.annotations.push(...annotations);
  }

  /** What the hook makes of a value, within its time; the value itself where it makes nothing, or is skipped. */
  async outcome<T>(value: T, work: () => T | Promise<T> | undefined): Promise<T> {
    this.#run.call.signal.throwIfAborted();
    return this.followed(async () => {
      const made = (await this.inTime(work)) ?? value;
      this.hasSucceeded();
      return made;
    }).catch((error) => {
      this.skip(error);
      return value;
    });
  }

  /** Tells who follows the call how long the hook has taken. */
  async followed<T>(work: () => Promise<T>): Promise<T> {
    const { follower, deps } = this.#run;
    if (follower === null) return work();
    const { id: name, isGuardrail } = this.#asked;
    const startedAtMs = deps.clock.now();
    let hasFailed = true;
    try {
      const made = await work();
      hasFailed = false;
      return made;
    } finally {
      const kind = isGuardrail ? 'guardrail' : 'plugin';
      const endedAtMs = deps.clock.now();
      follower.worked({ kind, name, hook: this.#name, callId: null, startedAtMs, endedAtMs, hasFailed });
    }
  }

  /** The call goes on without the hook, and says so. @throws as `skipAfter` */
  skip(error: unknown): void {
    this.#run.stages.push(this.skipAfter(error));
  }
}
