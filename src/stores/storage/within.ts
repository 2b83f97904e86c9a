import type { Clock } from '../../base/clock.ts';

/** The store did not answer in time. */
export class StoreTimeoutError extends Error {
  override readonly name = 'StoreTimeoutError';

  constructor(timeoutMs: number) {
    super(`the store took longer than ${timeoutMs} ms`);
  }
}

/** An adapter may throw at once instead of rejecting, and its promises may be of another kind. */
function started<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return Promise.resolve(work());
  } catch (error) {
    return Promise.reject(error);
  }
}

/**
 * The work's result, unless it takes longer. What becomes of it after that is nobody's, be it a failure.
 * @throws StoreTimeoutError, or what the work throws
 */
export function within<T>(clock: Clock, timeoutMs: number, work: () => T | Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(timeoutMs, () => reject(new StoreTimeoutError(timeoutMs)));
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
