import type { Clock } from '../../base/clock.ts';

/** The store did not respond in time. */
export class StoreTimeoutError extends Error {
  override readonly name = 'StoreTimeoutError';

  constructor(timeoutMs: number) {
    super(`the store took longer than ${timeoutMs} ms`);
  }
}

/** An adapter may throw synchronously instead of rejecting, and may return promises of another library. */
function started<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return Promise.resolve(work());
  } catch (error) {
    return Promise.reject(error);
  }
}

/**
 * Runs work with a time limit. After the time-out, the result of the work is ignored, also a failure.
 * @throws StoreTimeoutError, or the error of the work
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
