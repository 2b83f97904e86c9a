import type { Clock } from '../../base/clock.ts';

/** The store did not answer in time. */
export class StoreTimeoutError extends Error {
  override readonly name = 'StoreTimeoutError';

  constructor(timeoutMs: number) {
    super(`the store took longer than ${timeoutMs} ms`);
  }
}

/**
 * The work's result, unless it takes longer. What becomes of it after that is nobody's, be it a failure.
 * @throws StoreTimeoutError, or what the work throws
 */
export function within<T>(clock: Clock, timeoutMs: number, work: () => T | Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(timeoutMs, () => reject(new StoreTimeoutError(timeoutMs)));
    // An adapter may throw at once instead of rejecting.
    new Promise<T>((done) => done(work())).then(
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
