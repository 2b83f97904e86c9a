import type { Clock } from './clock.ts';

/**
 * A cache with a bounded number of places. When it is full, the group that has most places gives up its least recently
 * used entry. The new entry counts already: a group that has as many places as any other makes room for itself, so that
 * two groups do not take places from each other for ever. A group that has been idle gives up its entries before all
 * others. A group is the owner of entries, such as the id of a workspace.
 *
 * Every step takes the same time for any number of entries and groups. An `LRUCache` for each group would take 40 µs
 * for each new group, and the order of a single `LRUCache` tells nothing about a group.
 */
export interface FairCache<K, V> {
  /** Makes the entry the most recently used of its group. */
  get(key: K): V | undefined;
  /** Like `get`, for an entry that several groups use: if the owning group gives the entry up, this group gets it. */
  getFor(groupId: string, key: K): V | undefined;
  /** Reads a value without counting as a use: the order stays. */
  peek(key: K): V | undefined;
  /** An entry that takes more than all places is not kept. */
  set(groupId: string, key: K, value: V): void;
  delete(key: K): void;
  readonly size: number;
  values(): Iterable<V>;
  /** The keys with their values. Reading them is no use. */
  pairs(): Iterable<[K, V]>;
  /** The entries of each group, the most recently used first. */
  byGroup(): [K, V][][];
}

export interface FairCacheOptions<K, V> {
  clock: Pick<Clock, 'monotonic'>;
  /** The number of places, over all groups. */
  max: number;
  /** The time in ms without a use after which a group is idle. Default 10 min. */
  idleMs?: number;
  /** The places that an entry takes, a positive integer. Default 1. */
  placesOf?: (key: K, value: V) => number;
}

interface Linked<T> {
  before: T | null;
  after: T | null;
}

/** A list with the least recently used item first. */
interface List<T> {
  first: T | null;
  last: T | null;
}

interface Entry<K, V> extends Linked<Entry<K, V>> {
  key: K;
  value: V;
  places: number;
  group: Group<K, V>;
  /** The group that used the entry last, other than its owner. */
  otherId: string | null;
}

interface Group<K, V> extends Linked<Group<K, V>> {
  id: string;
  places: number;
  usedMs: number;
  entries: List<Entry<K, V>>;
}

export function createFairCache<K, V>(options: FairCacheOptions<K, V>): FairCache<K, V> {
  const { clock, max, idleMs = 600_000, placesOf = () => 1 } = options;
  const entries = new Map<K, Entry<K, V>>();
  const groups = new Map<string, Group<K, V>>();
  const byUse: List<Group<K, V>> = emptyList();
  const byPlaces = new Map<number, Set<Group<K, V>>>();
  let taken = 0;
  /** The most places that a group has. */
  let most = 0;

  function groupOf(id: string): Group<K, V> {
    let group = groups.get(id);
    if (group === undefined) {
      group = { id, places: 0, usedMs: clock.monotonic(), entries: emptyList(), before: null, after: null };
      groups.set(id, group);
      append(byUse, group);
    }
    return group;
  }

  function resize(group: Group<K, V>, change: number): void {
    const equals = byPlaces.get(group.places);
    equals?.delete(group);
    if (equals?.size === 0) byPlaces.delete(group.places);
    taken += change;
    group.places += change;
    if (group.places === 0) {
      groups.delete(group.id);
      unlink(byUse, group);
    } else {
      const others = byPlaces.get(group.places);
      if (others === undefined) byPlaces.set(group.places, new Set([group]));
      else others.add(group);
      most = Math.max(most, group.places);
    }
    // Runs at most as often as `most` has grown.
    while (most > 0 && !byPlaces.has(most)) most--;
  }

  function enter(group: Group<K, V>, entry: Entry<K, V>): void {
    entry.group = group;
    append(group.entries, entry);
    resize(group, entry.places);
  }

  function leave(entry: Entry<K, V>): void {
    unlink(entry.group.entries, entry);
    resize(entry.group, -entry.places);
  }

  function remove(entry: Entry<K, V>): void {
    leave(entry);
    entries.delete(entry.key);
  }

  function use(entry: Entry<K, V>): void {
    const { group } = entry;
    group.usedMs = clock.monotonic();
    toEnd(group.entries, entry);
    toEnd(byUse, group);
  }

  function useFor(groupId: string, entry: Entry<K, V>): void {
    if (entry.group.id === groupId) use(entry);
    else {
      entry.otherId = groupId;
      toEnd(entry.group.entries, entry);
    }
  }

  function giveUpFirst(group: Group<K, V>): void {
    const entry = group.entries.first as Entry<K, V>;
    const { otherId } = entry;
    if (otherId === null || otherId === group.id) {
      remove(entry);
      return;
    }
    leave(entry);
    entry.otherId = null;
    enter(groupOf(otherId), entry);
  }

  /** The group that makes room for an entry of a group. */
  function givingFor(groupId: string, places: number): Group<K, V> {
    const idlest = byUse.first as Group<K, V>;
    if (clock.monotonic() - idlest.usedMs >= idleMs) return idlest;
    const own = groups.get(groupId);
    if (own !== undefined && own.places + places >= most) return own;
    if (most === 1) return idlest;
    const [largest] = byPlaces.get(most) as Set<Group<K, V>>;
    return largest as Group<K, V>;
  }

  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      use(entry);
      return entry.value;
    },
    getFor(groupId, key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      useFor(groupId, entry);
      return entry.value;
    },
    peek: (key) => entries.get(key)?.value,
    set(groupId, key, value) {
      const known = entries.get(key);
      const places = placesOf(key, value);
      if (known?.group.id === groupId && known.places === places) {
        known.value = value;
        use(known);
        return;
      }
      if (known !== undefined) remove(known);
      if (places > max) return;
      while (taken + places > max) giveUpFirst(givingFor(groupId, places));
      const group = groupOf(groupId);
      const entry = { key, value, places, group, otherId: null, before: null, after: null };
      entries.set(key, entry);
      enter(group, entry);
      use(entry);
    },
    delete(key) {
      const entry = entries.get(key);
      if (entry !== undefined) remove(entry);
    },
    get size() {
      return entries.size;
    },
    *values() {
      for (const { value } of entries.values()) yield value;
    },
    *pairs() {
      for (const [key, { value }] of entries) yield [key, value];
    },
    byGroup: () => Array.from(groups.values(), ({ entries: own }) => latestFirst(own)),
  };
}

function emptyList<T>(): List<T> {
  return { first: null, last: null };
}

function append<T extends Linked<T>>(list: List<T>, item: T): void {
  item.before = list.last;
  item.after = null;
  if (list.last === null) list.first = item;
  else list.last.after = item;
  list.last = item;
}

function toEnd<T extends Linked<T>>(list: List<T>, item: T): void {
  if (list.last === item) return;
  unlink(list, item);
  append(list, item);
}

function unlink<T extends Linked<T>>(list: List<T>, { before, after }: T): void {
  if (before === null) list.first = after;
  else before.after = after;
  if (after === null) list.last = before;
  else after.before = before;
}

function latestFirst<K, V>({ last }: List<Entry<K, V>>): [K, V][] {
  const found: [K, V][] = [];
  for (let entry = last; entry !== null; entry = entry.before) found.push([entry.key, entry.value]);
  return found;
}
