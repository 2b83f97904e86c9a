/** Runs the work of one key in its order of arrival, one at a time. Other keys do not wait. */
export interface Lock {
  /**
   * Runs `work` once all earlier work of the same key has ended, also with an error. Settles like `work`. Work that
   * never ends blocks its key for ever; so does work that waits for other work of its own key.
   */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** The number of keys in use. */
  readonly size: number;
}

export function createLock(): Lock {
  /** The end of the latest work of each key. These promises never reject. */
  const ends = new Map<string, Promise<void>>();
  return {
    run(key, work) {
      const result = (ends.get(key) ?? Promise.resolve()).then(work);
      const finish = () => {
        if (ends.get(key) === end) ends.delete(key);
      };
      const end: Promise<void> = result.then(finish, finish);
      ends.set(key, end);
      return result;
    },
    get size() {
      return ends.size;
    },
  };
}
