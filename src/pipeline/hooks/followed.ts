import type { FollowedWork } from '../../telemetry/follow.ts';
import type { CallRun } from '../call/run.ts';

type Worker = Pick<FollowedWork, 'kind' | 'name' | 'hook' | 'callId'>;

/**
 * Does work of a plugin, guardrail or tool, and tells who follows the call how long it took. Where nobody does, it costs
 * nothing.
 * @param isFailure  whether what came of it is a failure as well
 * @throws what the work throws
 */
export function followed<T>(
  { follower, call: { time } }: Pick<CallRun, 'follower' | 'call'>,
  worker: Worker,
  work: () => T | Promise<T>,
  isFailure: (made: T) => boolean = () => false,
): T | Promise<T> {
  return follower === null ? work() : timed();

  async function timed(): Promise<T> {
    const startedAtMs = time.now();
    let hasFailed = true;
    try {
      const made = await work();
      hasFailed = isFailure(made);
      return made;
    } finally {
      follower?.worked({ ...worker, startedAtMs, endedAtMs: time.now(), hasFailed });
    }
  }
}
