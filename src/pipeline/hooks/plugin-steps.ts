import { disregard } from '../../base/async/tell.ts';
import type { Ask } from '../../call/ask.ts';
import type { ResponseStep } from '../../call/hooks.ts';
import type { ChatChunk } from '../../schema/chat/chunk.ts';
import type { ActiveHook } from '../call/active-hooks.ts';
import type { CallRun } from '../call/run.ts';
import { HookOfCall } from './context.ts';
import { StepChain } from './step-chain.ts';

const none: readonly ResponseStep[] = [];

/** The steps of a plugin or guardrail, each within its time. @throws what `steps` throws, unless it may be skipped */
export function guardedSteps(run: CallRun, hook: ActiveHook, ask: Ask): readonly ResponseStep[] {
  const asked = new HookOfCall(run, hook, 'steps', ask);
  let steps: readonly ResponseStep[];
  try {
    steps = listOf(hook.hooks.steps?.(asked.context) ?? none);
    asked.hasSucceeded();
  } catch (error) {
    asked.skip(error);
    return none;
  }
  const timed = steps.map((step) => (step.isAsync === true ? inTime(run, step, asked) : step));
  const followed = followedSteps(run, hook, timed);
  return asked.maySkip && followed.length > 0 ? [skippable(new StepChain(followed), asked)] : followed;
}

/** @throws TypeError for a promise: steps are there at once */
function listOf(given: readonly ResponseStep[]): readonly ResponseStep[] {
  if (Array.isArray(given)) return given;
  disregard(given);
  throw new TypeError('steps: expected a list of steps');
}

function inTime({ call }: CallRun, step: ResponseStep, asked: HookOfCall): ResponseStep {
  return {
    isAsync: true,
    push(chunk) {
      call.signal.throwIfAborted();
      return asked.inTime(() => step.push(chunk));
    },
    // A step that did not come to an end is not told of another.
    end: (end) => (asked.isGivenUp ? [] : asked.inTime(() => step.end?.(end) ?? [])),
  };
}

/**
 * The steps of a plugin as one, which may be left out as long as they have changed nothing: what they hold back is kept
 * here, and goes on where they fail. Who has changed the response, or left something out, cannot be left out any more:
 * what it still holds is lost, and the response is not complete without it.
 */
function skippable(steps: StepChain, asked: HookOfCall): ResponseStep {
  /** What went in and has not come out. */
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
 * The steps of a plugin or guardrail. Who follows the call is told once from when to when they have seen the response:
 * from its first chunk to its end, or to the failure of a step.
 */
function followedSteps(
  { follower, call }: Pick<CallRun, 'follower' | 'call'>,
  { id: name, isGuardrail }: Pick<ActiveHook, 'id' | 'isGuardrail'>,
  steps: readonly ResponseStep[],
): readonly ResponseStep[] {
  if (follower === null) return steps;
  let startedAtMs: number | null = null;
  let isTold = false;
  const tell = (hasFailed: boolean) => {
    if (isTold || startedAtMs === null) return;
    isTold = true;
    const kind = isGuardrail ? 'guardrail' : 'plugin';
    follower.worked({ kind, name, hook: 'steps', callId: null, startedAtMs, endedAtMs: call.time.now(), hasFailed });
  };
  const fail = (error: unknown): never => {
    // A client that has left is no failure of a plugin.
    tell(!call.signal.aborted);
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
    tell(false);
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
