import type { Call } from '../../call/call.ts';
import type { FollowedWork, SafeFollower } from '../../telemetry/follow.ts';

type Worker = Pick<FollowedWork, 'kind' | 'name' | 'hook' | 'callId'>;

/**
 * Does work of a plugin, guardrail or tool, and tells the follower of the call how long it took. It costs nothing where
 * nobody follows.
 * @param isFailure  true: a result counts as a failure as well
 * @throws the error of the work
 */
export function followed<T>(
  follower: SafeFollower | null,
  { time }: Pick<Call, 'time'>,
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
