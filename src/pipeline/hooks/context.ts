import type { Ask } from '../../call/ask.ts';
import type { PluginContext } from '../../call/hooks.ts';
import type { ActiveHook } from '../call/active-hooks.ts';
import { AskedHook } from '../call/asked-hook.ts';
import type { HookName } from '../call/hook-failure.ts';
import type { CallRun } from '../call/run.ts';
import { followed } from './followed.ts';
import { contextOf, type Run } from './plugin-context.ts';

type Annotations = Parameters<PluginContext['addAnnotations']>[0];

/** The call that a hook is asked about. */
export interface HookRun extends Run, Pick<CallRun, 'watch'> {}

/** A hook that is asked about a call, with a context that has no effect once nobody waits for the hook any more. */
export class HookOfCall extends AskedHook {
  readonly context: PluginContext;
  readonly #run: HookRun;
  readonly #worker: Parameters<typeof followed>[2];
  /**
   * The annotations of the hook while it is asked: they count where the hook does not fail. null: they count at once.
   */
  #pending: Annotations[number][] | null = [];
  /** true: an annotation was made that counts. */
  hasAnnotated = false;

  /** @param ask  the request that the hook is given */
  constructor(run: HookRun, hook: ActiveHook, name: HookName, ask: Ask) {
    super(run.deps, run.call, hook, name);
    this.#run = run;
    this.#worker = { kind: hook.isGuardrail ? 'guardrail' : 'plugin', name: hook.id, hook: name, callId: null };
    const ofCall = contextOf(run, ask, {
      plugin: hook.isGuardrail ? null : hook.id,
      spender: hook.isGuardrail ? 'guardrails' : 'plugins',
      options: hook.options,
      isAsked: hook.isAsked,
    });
    const asked = this;
    this.context = {
      ...ofCall,
      get signal() {
        return asked.signal;
      },
      addStage: (stage) => {
        if (asked.isGivenUp) return;
        // A guardrail names its own patterns.
        if (hook.isGuardrail) run.journal.addStage(stage);
        else ofCall.addStage(stage);
      },
      addAnnotations: (annotations) => {
        if (asked.isGivenUp) return;
        if (asked.#pending !== null) asked.#pending.push(...annotations);
        else asked.#annotate(annotations);
      },
      async hold(nanoUsd) {
        asked.throwIfGivenUp();
        const expense = await ofCall.hold(nanoUsd);
        // An amount that nobody settles is booked as it was held.
        asked.throwIfGivenUp();
        return { settle: (spentNanoUsd) => void (asked.isGivenUp || expense.settle(spentNanoUsd)) };
      },
    };
  }

  /** @throws Error where nobody waits for the hook any more */
  throwIfGivenUp(): void {
    if (this.isGivenUp) throw new Error('Nobody waits for this hook any more');
  }

  /** Makes further annotations of the hook count at once. */
  hasSucceeded(): void {
    const pending = this.#pending ?? [];
    this.#pending = null;
    if (pending.length > 0) this.#annotate(pending);
  }

  #annotate(annotations: Annotations): void {
    this.hasAnnotated = true;
    this.#run.journal.addAnnotations(annotations);
  }

  /**
   * Returns the result of the hook for a value, within its time; the value itself where the hook returns nothing, or is
   * skipped.
   */
  async outcome<T>(value: T, work: () => T | Promise<T> | undefined): Promise<T> {
    this.#run.call.signal.throwIfAborted();
    try {
      const made = (await this.followed(() => this.inTime(work))) ?? value;
      this.hasSucceeded();
      return made;
    } catch (error) {
      this.skip(error);
      return value;
    }
  }

  /** Tells the watch of the call how long work of the hook takes. */
  followed<T>(work: () => T | Promise<T>): T | Promise<T> {
    return followed(this.#run.watch, this.#run.call, this.#worker, work);
  }

  /** Shows that the call goes on without the hook. @throws the errors of `skipAfter` */
  skip(error: unknown): void {
    this.#run.journal.addStage(this.skipAfter(error));
  }
}
