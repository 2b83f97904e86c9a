import { LRUCache } from 'lru-cache';

/** Which endpoints to leave alone for now. Bounded: an endpoint nobody uses is forgotten. */
export interface Health {
  /** Leaves an endpoint alone until `untilMs`; a later time wins. */
  rest(key: string, untilMs: number): void;
  /** The endpoint answered: it need not rest. */
  succeeded(key: string): void;
  /** Endpoints that rest at `nowMs`: key to the end of the rest, epoch ms. */
  resting(nowMs: number): ReadonlyMap<string, number>;
}

const nobody: ReadonlyMap<string, number> = new Map();

export function createHealth(maxEndpoints = 10_000): Health {
  const rests = new LRUCache<string, number>({ max: maxEndpoints });
  return {
    rest(key, untilMs) {
      if (untilMs > (rests.get(key) ?? 0)) rests.set(key, untilMs);
    },
    succeeded(key) {
      if (rests.size > 0) rests.delete(key);
    },
    resting(nowMs) {
      if (rests.size === 0) return nobody;
      const current = new Map<string, number>();
      for (const [key, untilMs] of rests.entries()) {
        if (untilMs > nowMs) current.set(key, untilMs);
        else rests.delete(key);
      }
      return current;
    },
  };
}
