import type { Clock } from '../base/clock.ts';
import { createFairCache } from '../base/fair-cache.ts';

/** Keeps values of a store for a short time. Simultaneous loads of the same key become one load. */
export interface Cache<T> {
  /** Returns no promise when the cache has the value, so that a request need not wait for a turn of the event loop. */
  get(key: string): T | Promise<T>;
  /**
   * Sets a value, such as one that was just written. If others may write the same key at the same time, use `forget`
   * instead: the replies may come in another order than the writes.
   */
  set(key: string, value: T): void;
  /** Drops the value. Later calls of `get` get the result of a load that begins after this call. */
  forget(key: string): void;
}

export interface CacheOptions<T> {
  clock: Clock;
  /** The time in ms for which a value is used; 0: simultaneous loads are joined and nothing is kept. */
  ttlMs: number;
  load: (key: string) => Promise<T>;
  /** The most values. Default 10,000: enough for every key in use, and a limit for the keys that guessers can add. */
  max?: number;
  /**
   * The group of a value, such as its workspace. A group with many values does not push out those of other groups.
   * Default: one group.
   */
  groupOf?: (value: T) => string;
}

interface Known<T> {
  value: T;
  /**
   * The time at which the value was true. For a loaded value, that is the start of the load: the store may have changed
   * since.
   */
  sinceMs: number;
}

export function createCache<T>(options: CacheOptions<T>): Cache<T> {
  const { clock, ttlMs, load, max = 10_000, groupOf = () => '' } = options;
  const cache = createFairCache<string, Known<T>>({ clock, max, idleMs: ttlMs });
  const loading = new Map<string, Promise<T>>();

  function isFresh({ sinceMs }: Known<T>): boolean {
    const ageMs = clock.monotonic() - sinceMs;
    return ttlMs > 0 && ageMs >= 0 && ageMs <= ttlMs;
  }

  function startLoading(key: string): Promise<T> {
    const sinceMs = clock.monotonic();
    /** true: the key was set or forgotten meanwhile, so the loaded value may be older than the change. */
    const isOutdated = () => loading.get(key) !== mine;
    const mine: Promise<T> = load(key).then(
      (value) => {
        if (isOutdated()) return get(key);
        loading.delete(key);
        cache.set(groupOf(value), key, { value, sinceMs });
        return value;
      },
      (error: unknown) => {
        if (isOutdated()) return get(key);
        loading.delete(key);
        throw error;
      },
    );
    loading.set(key, mine);
    return mine;
  }

  function get(key: string): T | Promise<T> {
    // `peek` does not note the use of a key: a key in use is loaded, and therefore set, every few seconds.
    const known = cache.peek(key);
    return known && isFresh(known) ? known.value : (loading.get(key) ?? startLoading(key));
  }

  return {
    get,
    set(key, value) {
      loading.delete(key);
      cache.set(groupOf(value), key, { value, sinceMs: clock.monotonic() });
    },
    forget(key) {
      loading.delete(key);
      cache.delete(key);
    },
  };
}
