import { disregard } from '../../base/async/tell.ts';
import type { Ask } from '../../call/ask.ts';
import type { ResponseStep } from '../../call/hooks.ts';
import type { FollowedWork } from '../../call/trace.ts';
import type { ChatChunk } from '../../schema/chat/chunk.ts';
import type { ActiveHook } from '../call/active-hooks.ts';
import type { CallRun } from '../call/run.ts';
import { HookOfCall, type HookRun } from './context.ts';
import { outcomeOf } from './followed.ts';
import { StepChain } from './step-chain.ts';

const none: readonly ResponseStep[] = [];

/**
 * Returns the steps of a plugin or guardrail, each within its time. @throws the error of `steps`, unless it may be
 * skipped
 */
export function guardedSteps(
  run: HookRun,
  hook: ActiveHook,
  name: 'steps' | 'restore',
  ask: Ask,
): readonly ResponseStep[] {
  if (hook.hooks[name] === undefined) return none;
  const asked = new HookOfCall(run, hook, name, ask);
  let steps: readonly ResponseStep[];
  try {
    steps = listOf(name, hook.hooks[name]?.(asked.context) ?? none);
    asked.hasSucceeded();
  } catch (error) {
    asked.skip(error);
    return none;
  }
  const timed = steps.map((step) => (step.isAsync === true ? inTime(run, step, asked) : step));
  const followed = followedSteps(run, hook, name, timed);
  if (!asked.maySkip) return followed.map((step) => naming(step, asked));
  return followed.length > 0 ? [skippable(new StepChain(followed), asked)] : followed;
}

/** A step whose errors say whose they are. */
function naming(step: ResponseStep, asked: HookOfCall): ResponseStep {
  const named = <T>(work: () => T | Promise<T>): T | Promise<T> => {
    try {
      const done = work();
      return done instanceof Promise ? done.catch((error: unknown) => Promise.reject(asked.named(error))) : done;
    } catch (error) {
      throw asked.named(error);
    }
  };
  return {
    isAsync: step.isAsync === true,
    push: (chunk) => named(() => step.push(chunk)),
    end: (end) => named(() => step.end?.(end) ?? []),
  };
}

/** @throws TypeError for a promise: steps are there at once */
function listOf(name: string, given: readonly ResponseStep[]): readonly ResponseStep[] {
  if (Array.isArray(given)) return given;
  disregard(given);
  throw new TypeError(`${name}: expected a list of steps`);
}

function inTime({ call }: Pick<CallRun, 'call'>, step: ResponseStep, asked: HookOfCall): ResponseStep {
  return {
    isAsync: true,
    push(chunk) {
      call.signal.throwIfAborted();
      return asked.inTime(() => step.push(chunk));
    },
    // A step that did not come to an end does not learn of another one.
    end: (end) => (asked.isGivenUp ? [] : asked.inTime(() => step.end?.(end) ?? [])),
  };
}

/**
 * Makes one step of the steps of a plugin. The step may be left out as long as they have changed nothing: the chunks
 * that they hold back are kept here, and go on where they fail. A plugin that has changed the response, or left a chunk
 * out, cannot be left out any more: the chunks that it still holds are lost, and the response is not complete without
 * them.
 */
function skippable(steps: StepChain, asked: HookOfCall): ResponseStep {
  /** The chunks that went in and have not come out. */
  let held: ChatChunk[] = [];
  let hasChanged = false;

  async function passed(work: () => Promise<readonly ChatChunk[]>): Promise<readonly ChatChunk[]> {
    try {
      const released = await work();
      if (hasChanged) return released;
      hasChanged = asked.hasAnnotated || released.some((chunk, at) => chunk !== held[at]);
      held = hasChanged ? [] : held.slice(released.length);
      return released;
    } catch (error) {
      if (hasChanged || asked.hasAnnotated) throw error;
      asked.skip(error);
      const kept = held;
      held = [];
      return kept;
    }
  }

  return {
    isAsync: true,
    push(chunk) {
      if (asked.isGivenUp) return [chunk];
      if (!hasChanged) held.push(chunk);
      return passed(() => steps.push([chunk]));
    },
    end: (end) => (asked.isGivenUp ? [] : passed(() => steps.end(end))),
  };
}

type Released = ReturnType<ResponseStep['push']>;

/**
 * Reports the time of the steps of a plugin or guardrail to the watch of the call, once: from the first chunk of the
 * response to its end, or to the failure of a step.
 */
function followedSteps(
  { watch, call }: Pick<CallRun, 'watch' | 'call'>,
  { id, isGuardrail }: Pick<ActiveHook, 'id' | 'isGuardrail'>,
  hook: 'steps' | 'restore',
  steps: readonly ResponseStep[],
): readonly ResponseStep[] {
  if (!watch.wantsWork) return steps;
  let startedAtMs: number | null = null;
  let isTold = false;
  const tell = (outcome: FollowedWork['outcome']) => {
    if (isTold || startedAtMs === null) return;
    isTold = true;
    const kind = isGuardrail ? 'guardrail' : 'plugin';
    const hasFailed = outcome === 'refused' || outcome === 'failed';
    watch.worked({ kind, name: id, hook, callId: null, startedAtMs, endedAtMs: call.time.now(), hasFailed, outcome });
  };
  const fail = (error: unknown): never => {
    // A client that has left is no failure of a plugin.
    tell(call.signal.aborted ? 'cancelled' : outcomeOf(error));
    throw error;
  };
  const watched = (work: () => Released): Released => {
    try {
      const released = work();
      return released instanceof Promise ? released.catch(fail) : released;
    } catch (error) {
      return fail(error);
    }
  };
  const told = (released: readonly ChatChunk[]) => {
    tell('ok');
    return released;
  };
  const last = steps.length - 1;
  return steps.map((step, at) => ({
    isAsync: step.isAsync === true,
    push(chunk) {
      startedAtMs ??= call.time.now();
      return watched(() => step.push(chunk));
    },
    end(end) {
      const released = watched(() => step.end?.(end) ?? []);
      if (at < last) return released;
      return released instanceof Promise ? released.then(told) : told(released);
    },
  }));
}
