import { LRUCache } from 'lru-cache';
import type { Clock } from '../base/clock.ts';
import { lazily } from '../base/lazily.ts';

/** Keeps values of a store for a short time. Simultaneous loads of the same key become one load. */
export interface Cache<T> {
  /** Returns no promise when the value is cached, so that a request need not wait for a turn of the event loop. */
  get(key: string): T | Promise<T>;
  /**
   * Sets the value, such as one that was just written. If others may write the same key at the same time, use `forget`
   * instead: responses may not arrive in the order of the writes.
   */
  set(key: string, value: T): void;
  /** Later calls of `get` get the result of a load that begins after this call. */
  forget(key: string): void;
}

export interface CacheOptions<T> {
  clock: Clock;
  /** How long a value is used; 0: simultaneous loads are joined and nothing is kept. */
  ttlMs: number;
  load: (key: string) => Promise<T>;
  /** Default 10,000: enough for every key in use, and a limit for the keys that guessers can add. */
  max?: number;
}

interface Known<T> {
  value: T;
  /** When the value was true. For a loaded value, this is the start of the load: the value may have changed since. */
  sinceMs: number;
}

/** lru-cache need not check its own time to live, which we do not use. */
const asItIs = { allowStale: true };

export function createCache<T>({ clock, ttlMs, load, max = 10_000 }: CacheOptions<T>): Cache<T> {
  // Not lru-cache's `ttl`: there, 0 means for ever, and a clock that is set back makes the time longer. Not its `fetch`
  // either: its callers get an error when the key is set, forgotten or evicted meanwhile. Made for the first key:
  // lru-cache reserves memory for all keys at once (2 ms, 300 KB), and not every gateway needs it.
  const cache = lazily(() => new LRUCache<string, Known<T>>({ max }));
  const loading = new Map<string, Promise<T>>();

  function isFresh({ sinceMs }: Known<T>): boolean {
    const ageMs = clock.now() - sinceMs;
    return ttlMs > 0 && ageMs >= 0 && ageMs <= ttlMs;
  }

  function startLoading(key: string): Promise<T> {
    const sinceMs = clock.now();
    /** true: the key was set or forgotten meanwhile, so the loaded value may be from before the change. */
    const isOutdated = () => loading.get(key) !== mine;
    const mine: Promise<T> = load(key).then(
      (value) => {
        if (isOutdated()) return get(key);
        loading.delete(key);
        cache().set(key, { value, sinceMs });
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
    const known = cache().peek(key, asItIs);
    return known && isFresh(known) ? known.value : (loading.get(key) ?? startLoading(key));
  }

  return {
    get,
    set(key, value) {
      loading.delete(key);
      cache().set(key, { value, sinceMs: clock.now() });
    },
    forget(key) {
      loading.delete(key);
      cache().delete(key);
    },
  };
}
