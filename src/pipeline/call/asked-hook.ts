import { type StopSignal, StopSwitch } from '../../base/async/stop.ts';
import type { Clock } from '../../base/clock.ts';
import { GatewayError, isGatewayError } from '../../base/errors.ts';
import type { Call } from '../../call/call.ts';
import type { Guardrail } from '../../guardrails/guardrail.ts';
import type { PipelineStage } from '../../schema/chat/envelope.ts';
import type { TimeoutSettings } from '../../schema/settings/timeouts.ts';
import type { ActiveHook } from './active-hooks.ts';
import { type HookName, namedError, nameOf, type ReportPluginFailure } from './hook-failure.ts';

export interface HookDeps {
  clock: Clock;
  timeouts: Pick<TimeoutSettings, 'pluginMs'>;
  reportPluginFailure?: ReportPluginFailure | undefined;
}

/** One hook that is asked: its time, and the effect on the call where it fails. */
export class AskedHook {
  readonly #deps: HookDeps;
  readonly #call: Call;
  readonly #hook: ActiveHook;
  readonly #name: HookName;
  readonly #signal: HookSignal;
  /** The error that the client gets where the hook has not ended in its time. */
  #late: GatewayError | null = null;
  /** true: nobody waits for the hook any more, and it may change nothing. */
  isGivenUp = false;

  constructor(deps: HookDeps, call: Call, hook: ActiveHook, name: HookName) {
    this.#deps = deps;
    this.#call = call;
    this.#hook = hook;
    this.#name = name;
    this.#signal = new HookSignal(call.signal);
  }

  get signal(): AbortSignal {
    return this.#signal.signal;
  }

  /** true: the call may go on without the hook where it fails. */
  get maySkip(): boolean {
    return this.#hook.onError === 'skip';
  }

  /**
   * Returns the result of work of the hook, within the time of a plugin.
   * @throws the error of the work; the reason of the call's signal; a GatewayError where it takes too long
   */
  inTime<T>(work: () => T | Promise<T>): T | Promise<T> {
    const begun = work();
    return isPromise(begun) ? this.#raced(begun, this.#deps.timeouts.pluginMs) : begun;
  }

  /** Returns the result of work without a limit of time: the work has limits of its own. */
  whileWanted<T>(work: () => T | Promise<T>): T | Promise<T> {
    const begun = work();
    return isPromise(begun) ? this.#raced(begun, null) : begun;
  }

  #raced<T>(work: Promise<T>, limitMs: number | null): Promise<T> {
    const { signal } = this.#call;
    // Steps learn of the end of a call that was aborted; that work has its time as well.
    const wasAborted = signal.aborted;
    return new Promise<T>((resolve, reject) => {
      const cancel = limitMs === null ? null : this.#deps.clock.after(limitMs, () => over(this.#tooLate(limitMs)));
      const onAbort = () => over(signal.reason);
      const stop = () => {
        cancel?.();
        signal.removeEventListener('abort', onAbort);
      };
      const over = (reason: unknown) => {
        stop();
        this.isGivenUp = true;
        this.#signal.abort(reason);
        reject(reason);
      };
      if (!wasAborted) signal.addEventListener('abort', onAbort, { once: true });
      // A promise of another kind may throw at once.
      Promise.resolve(work).then(
        (result) => {
          stop();
          resolve(result);
        },
        (error: unknown) => {
          stop();
          reject(error);
        },
      );
    });
  }

  #tooLate(limitMs: number): GatewayError {
    this.#late = new GatewayError('plugin_timeout', `${nameOf(this.#hook)} took longer than ${limitMs} ms`);
    return this.#late;
  }

  /** The error, with the name of the plugin or guardrail that has thrown it. */
  named(error: unknown): unknown {
    return namedError(error, this.#hook, this.#name);
  }

  /**
   * Decides about a call whose hook has failed.
   * @returns the stage that reports the failure, where the call goes on without the hook
   * @throws the error, where the call fails with it; the reason of the call's signal, where nobody waits any more
   */
  skipAfter(error: unknown): PipelineStage {
    const isLate = this.#late !== null && error === this.#late;
    this.#call.signal.throwIfAborted();
    // A message of a plugin to the client is its decision, and no failure.
    if (!this.maySkip || (isGatewayError(error) && !isLate)) throw this.named(error);
    this.isGivenUp = true;
    this.#signal.abort(error);
    this.#deps.reportPluginFailure?.(this.#hook, this.#name, error);
    const data = { hook: this.#name, reason: isLate ? 'timeout' : 'error' };
    const failed = isLate ? 'took too long' : 'failed';
    const { id, hooks, isGuardrail } = this.#hook;
    if (!isGuardrail) return { type: 'plugin', name: id, summary: `${failed} and was skipped`, data };
    const { name = id, scope = 'gateway' } = hooks as Guardrail;
    const summary = `${failed}: what it should have checked passed unchecked`;
    return { type: 'guardrail', name, summary, guardrail_id: id, guardrail_scope: scope, data };
  }
}

/** A plugin may be made with promises of another kind. */
function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

/** The signal of a hook. It is made when a hook looks at it: most do not. */
class HookSignal {
  readonly #ofCall: StopSignal;
  #own: StopSwitch | null = null;
  #aborted: { reason: unknown } | null = null;

  /** @param ofCall  the signal of the client call; its abort aborts this one */
  constructor(ofCall: StopSignal) {
    this.#ofCall = ofCall;
  }

  get signal(): AbortSignal {
    if (this.#own === null) {
      const own = new StopSwitch();
      this.#own = own;
      if (this.#aborted !== null) own.abort(this.#aborted.reason);
      else if (this.#ofCall.aborted) own.abort(this.#ofCall.reason);
      else this.#ofCall.addEventListener('abort', () => own.abort(this.#ofCall.reason), { once: true });
    }
    return this.#own.signal;
  }

  abort(reason: unknown): void {
    this.#aborted ??= { reason };
    this.#own?.abort(reason);
  }
}
