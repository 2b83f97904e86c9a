import type { Clock } from './clock.ts';

/** Others' code may throw at once instead of rejecting, and its promises may be of another kind. */
function started<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return Promise.resolve(work());
  } catch (error) {
    return Promise.reject(error);
  }
}

/**
 * The work's result, unless the work takes longer. Nobody hears of a result, or a failure, that comes after that.
 * @param late  what is thrown then
 * @throws what `late` makes, or what the work throws
 */
export function within<T>(
  clock: Clock,
  timeoutMs: number,
  work: () => T | Promise<T>,
  late: (timeoutMs: number) => Error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(timeoutMs, () => reject(late(timeoutMs)));
    started(work).then(
      (result) => {
        cancel();
        resolve(result);
      },
      (error: unknown) => {
        cancel();
        reject(error);
      },
    );
  });
}
