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
  });
  // Not lru-cache's `fetch`: whoever waits for it gets an error when the key is set, forgotten or evicted meanwhile.
  const loading = new Map<string, Promise<T>>();

  function startLoading(key: string): Promise<T> {
    // What was read may have changed since it was asked for: it is believed from then on, not from when it came.
    const start = clock.now();
    const mine: Promise<T> = load(key).then(
      (value) => {
        // Set or forgotten meanwhile: what was read may be of before the change.
        if (loading.get(key) !== mine) return get(key);
        loading.delete(key);
        cache.set(key, { value }, { start });
        return value;
      },
      (error: unknown) => {
        if (loading.get(key) === mine) loading.delete(key);
        throw error;
      },
    );
    loading.set(key, mine);
    return mine;
  }

  function get(key: string): T | Promise<T> {
    const known = cache.get(key);
    return known ? known.value : (loading.get(key) ?? startLoading(key));
  }

  return {
    get,
    set(key, value) {
      loading.delete(key);
      cache.set(key, { value });
    },
    forget(key) {
      loading.delete(key);
      cache.delete(key);
    },
  };
}
