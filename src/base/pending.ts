/**
 * Something that is on its way: calls one of the two once. What a promise is for, where the promises themselves would cost
 * more than what is waited for.
 */
export type Pending<T> = (done: (value: T) => void, failed: (error: unknown) => void) => void;

export function pendingOf<T>(promise: Promise<T>): Pending<T> {
  return (done, failed) => void promise.then(done, failed);
}
