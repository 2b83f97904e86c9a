/**
 * Calls code of the host app, and goes on. It never throws, because no caller could handle the error. It does not wait
 * for a returned promise, but handles its rejection, which would otherwise end the process.
 * @param failed  called with the thrown error, or with the reason of the rejection
 * @returns the result of the call; undefined where the call has thrown
 */
export function tell<T>(callback: () => T, failed: (error: unknown) => void = ignore): T | undefined {
  try {
    const given = callback();
    disregard(given, failed);
    return given;
  } catch (error) {
    failed(error);
    return undefined;
  }
}

/**
 * Handles the rejection of a promise that code of the host app has returned and that nobody waits for. Without that,
 * the rejection would end the process.
 * @param failed  as of `tell`
 */
export function disregard(given: unknown, failed: (error: unknown) => void = ignore): void {
  if (given === null || (typeof given !== 'object' && typeof given !== 'function')) return;
  try {
    // It may be a promise of another kind, whose `then` throws: at once, or when it is called.
    if (typeof (given as { then?: unknown }).then === 'function') Promise.resolve(given).catch(failed);
  } catch (error) {
    failed(error);
  }
}

function ignore(): void {}
