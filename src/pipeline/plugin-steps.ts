import type { Step } from '../call/hooks.ts';
import type { ChatChunk } from '../schema/chunk.ts';
import type { ActiveHook } from './active-hooks.ts';
import type { CallRun } from './call-run.ts';
import { followedSteps } from './followed-steps.ts';
import { HookOfCall } from './hook-context.ts';
import { StepChain } from './step-chain.ts';

const none: readonly Step[] = [];

/** The steps of a plugin or guardrail, each within its time. @throws what `steps` throws, unless it may be skipped */
export function guardedSteps(run: CallRun, hook: ActiveHook): readonly Step[] {
  const asked = new HookOfCall(run, hook, 'steps');
  let steps: readonly Step[];
  try {
    steps = hook.hooks.steps?.(asked.context) ?? none;
    asked.hasSucceeded();
  } catch (error) {
    asked.skip(error);
    return none;
  }
  const timed = steps.map((step) => (step.isAsync === true ? inTime(run, step, asked) : step));
  const followed = followedSteps(run, hook, timed);
  return asked.maySkip && followed.length > 0 ? [skippable(new StepChain(followed), asked)] : followed;
}

function inTime({ call }: CallRun, step: Step, asked: HookOfCall): Step {
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
function skippable(steps: StepChain, asked: HookOfCall): Step {
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
