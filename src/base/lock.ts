/** Work of one key at a time, in the order it came; other keys do not wait. */
export interface Lock {
  /**
   * Runs `work` when all that came before it under the same key has ended, well or badly, and gives what it gives.
   * Work that never ends holds its key for ever, and so does work that waits for more work of its own key.
   */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Keys that are in use. */
  readonly size: number;
}

export function createLock(): Lock {
  /** The end of the last work of each key. Never rejects. */
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
