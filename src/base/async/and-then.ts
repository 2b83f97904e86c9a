/**
 * Passes a value on to `next`. A value that is not a promise is passed on at once: a request would otherwise make
 * several promises that it does not need.
 */
export function andThen<T, U>(value: T | Promise<T>, next: (value: T) => U | Promise<U>): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
