import { LRUCache } from 'lru-cache';
import type { Clock } from '../base/clock.ts';

/** What was read from a store, believed for a short time. Loads of the same key at once are one load. */
export interface Cache<T> {
  /** Without a promise where it is known: a request on its way should not have to wait a turn. */
  get(key: string): T | Promise<T>;
  /** What is known from now on, such as what was just written here. */
  set(key: string, value: T): void;
  forget(key: string): void;
}

export interface CacheOptions<T> {
  clock: Clock;
  ttlMs: number;
  load: (key: string) => Promise<T>;
  /** Default 10,000: every key in use at once, and a bound on what guessers can fill. */
  max?: number;
}

export function createCache<T>({ clock, ttlMs, load, max = 10_000 }: CacheOptions<T>): Cache<T> {
  // lru-cache holds no null.
  const cache = new LRUCache<string, { value: T }>({
    max,
    ttl: ttlMs,
    ttlResolution: 0,
    perf: { now: () => clock.now() },
    fetchMethod: async (key) => ({ value: await load(key) }),
  });
  return {
    get(key) {
      const known = cache.get(key);
      if (known) return known.value;
      return cache.fetch(key).then((loaded) => {
        if (loaded) return loaded.value;
        // Forgotten while it was being loaded: what was read may be of before the change.
        return load(key);
      });
    },
    set: (key, value) => void cache.set(key, { value }),
    forget: (key) => void cache.delete(key),
  };
}
