/**
 * A result that is not there yet: calls one of the two functions once. Used instead of a promise where promises would
 * cost more than the work that they wait for.
 */
export type Pending<T> = (done: (value: T) => void, failed: (error: unknown) => void) => void;

export function pendingOf<T>(promise: Promise<T>): Pending<T> {
  return (done, failed) => void promise.then(done, failed);
}
