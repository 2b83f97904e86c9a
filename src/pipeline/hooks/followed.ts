import { isGatewayError } from '../../base/errors.ts';
import { CallAborted } from '../../call/abort.ts';
import type { Call } from '../../call/call.ts';
import type { FollowedWork } from '../../call/trace.ts';
import type { CallWatch } from '../call/watch.ts';

type Worker = Pick<FollowedWork, 'kind' | 'name' | 'hook' | 'callId'>;

/**
 * Does work of a plugin, guardrail or tool, and tells the watch of the call how long it took. It costs nothing where
 * nobody wants to know.
 * @param isFailure  true: a result counts as a failure as well
 * @throws the error of the work
 */
export function followed<T>(
  watch: Pick<CallWatch, 'wantsWork' | 'worked'>,
  { time }: Pick<Call, 'time'>,
  worker: Worker,
  work: () => T | Promise<T>,
  isFailure: (made: T) => boolean = () => false,
): T | Promise<T> {
  return watch.wantsWork ? timed() : work();

  async function timed(): Promise<T> {
    const startedAtMs = time.now();
    const tell = (outcome: FollowedWork['outcome']) =>
      watch.worked({ ...worker, startedAtMs, endedAtMs: time.now(), hasFailed: outcome !== 'ok', outcome });
    try {
      const made = await work();
      tell(isFailure(made) ? 'failed' : 'ok');
      return made;
    } catch (error) {
      tell(outcomeOf(error));
      throw error;
    }
  }
}

/** Returns the outcome of work that has thrown. */
export function outcomeOf(error: unknown): Exclude<FollowedWork['outcome'], 'ok'> {
  if (error instanceof CallAborted) return 'cancelled';
  // What a worker says to the client is its decision, and no failure of it.
  return isGatewayError(error) && error.status < 500 ? 'refused' : 'failed';
}
