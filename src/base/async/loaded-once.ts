/**
 * Loads a value at its first use, such as a part of the package, and keeps it. A load that failed is tried again at the
 * next use.
 * @returns a function that returns the value itself once it is there: a promise would cost each later use a turn
 */
export function loadedOnce<T extends object>(load: () => Promise<T>): () => T | Promise<T> {
  let value: T | null = null;
  let loading: Promise<T> | null = null;
  return () => {
    if (value !== null) return value;
    loading ??= load().then(
      (loaded) => {
        value = loaded;
        return loaded;
      },
      (error) => {
        loading = null;
        throw error;
      },
    );
    return loading;
  };
}
