import { LRUCache } from 'lru-cache';
import type { Clock } from '../base/clock.ts';
import { lazily } from '../base/lazily.ts';

/** What was read from a store, believed for a short time. Loads of the same key at once are one load. */
export interface Cache<T> {
  /** Without a promise where it is known: a request on its way should not have to wait a turn. */
  get(key: string): T | Promise<T>;
  /**
   * What is known from now on, such as what was just written here. Where others may write the same at once, `forget`:
   * answers do not come back in the order of the writes.
   */
  set(key: string, value: T): void;
  /** Whoever asks from now on is told what a load that begins from now on finds. */
  forget(key: string): void;
}

export interface CacheOptions<T> {
  clock: Clock;
  /** How long something is believed; 0: loads are joined and nothing is remembered. */
  ttlMs: number;
  load: (key: string) => Promise<T>;
  /** Default 10,000: every key in use at once, and a bound on what guessers can fill. */
  max?: number;
}

interface Known<T> {
  value: T;
  /** When it was true: what comes from a load may have changed since it was asked for. */
  sinceMs: number;
}

/** lru-cache's own time to live is not used, and need not be looked at. */
const asItIs = { allowStale: true };

export function createCache<T>({ clock, ttlMs, load, max = 10_000 }: CacheOptions<T>): Cache<T> {
  // Not lru-cache's `ttl`, of which 0 means for ever and which a clock that is set back prolongs; nor its `fetch`: whoever
  // waits for that gets an error when the key is set, forgotten or evicted meanwhile.
  // Made for the first key: the room for all of them is taken at once, 2 ms and 300 KB that not every gateway needs.
  const cache = lazily(() => new LRUCache<string, Known<T>>({ max }));
  const loading = new Map<string, Promise<T>>();

  function isFresh({ sinceMs }: Known<T>): boolean {
    const ageMs = clock.now() - sinceMs;
    return ttlMs > 0 && ageMs >= 0 && ageMs <= ttlMs;
  }

  function startLoading(key: string): Promise<T> {
    const sinceMs = clock.now();
    /** Set or forgotten meanwhile: what was read may be of before the change. */
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
    // Who was asked for last need not be noted: what is in use is loaded, and so set, every few seconds.
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
