import type { Step } from '../call/hooks.ts';
import type { ChatChunk } from '../schema/chunk.ts';
import type { ActiveHook } from './active-hooks.ts';
import type { CallRun } from './call-run.ts';

type Released = ReturnType<Step['push']>;

/**
 * The steps of a plugin or guardrail. Who follows the call is told once from when to when they have seen the response:
 * from its first chunk to its end, or to the failure of a step.
 */
export function followedSteps(
  { follower, deps: { clock }, call }: Pick<CallRun, 'follower' | 'deps' | 'call'>,
  { id: name, isGuardrail }: Pick<ActiveHook, 'id' | 'isGuardrail'>,
  steps: readonly Step[],
): readonly Step[] {
  if (follower === null) return steps;
  let startedAtMs: number | null = null;
  let isTold = false;
  const tell = (hasFailed: boolean) => {
    if (isTold || startedAtMs === null) return;
    isTold = true;
    const kind = isGuardrail ? 'guardrail' : 'plugin';
    follower.worked({ kind, name, hook: 'steps', callId: null, startedAtMs, endedAtMs: clock.now(), hasFailed });
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
      startedAtMs ??= clock.now();
      return watched(() => step.push(chunk));
    },
    end(end) {
      const released = watched(() => step.end?.(end) ?? []);
      if (at < last) return released;
      return released instanceof Promise ? released.then(told) : told(released);
    },
  }));
}
