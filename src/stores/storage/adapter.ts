import type { Keyv } from 'keyv';

/** The innermost store of a Keyv: a Map, or the adapter of an earlier Keyv, however often it is wrapped. */
export function innermostAdapter(store: object): object {
  return adaptersOf(store).at(-1) as object;
}

/**
 * The store itself and all stores that it wraps, from the outside in. Keyv and its adapters call the inner one `store`.
 */
export function adaptersOf(store: object): object[] {
  const found: object[] = [];
  let next: unknown = store;
  while (typeof next === 'object' && next !== null && !found.includes(next)) {
    found.push(next);
    next = next instanceof Map ? undefined : (next as { store?: unknown }).store;
  }
  return found;
}

/** Checks the shape, not the class: two copies of Keyv may be loaded. */
export function isKeyv(store: object): store is Keyv {
  const { store: inner, encode, decode, on } = store as Partial<Keyv>;
  return typeof inner === 'object' && [encode, decode, on].every((method) => typeof method === 'function');
}
