import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFairCache } from '../../../src/base/fair-cache.ts';
import { manualClock } from '../../support/manual-clock.ts';

const idleMs = 100;

interface Kept {
  key: number;
  value: number;
  group: string;
  places: number;
  usedAt: number;
  other: string | null;
}

/** The same rules, by looking at everything each time. */
function naive(max: number) {
  let kept: Kept[] = [];
  const usedAt = new Map<string, number>();
  const usedMs = new Map<string, number>();
  /** Since when a group has as many places as it has. */
  const sizedAt = new Map<string, number>();
  let now = 0;
  let nowMs = 0;
  const note = (group: string) => {
    usedAt.set(group, ++now);
    usedMs.set(group, nowMs);
  };
  const placesOf = (group: string) => kept.reduce((sum, one) => sum + (one.group === group ? one.places : 0), 0);
  const groups = () => [...new Set(kept.map(({ group }) => group))];
  const entriesOf = (group: string) =>
    kept.filter((one) => one.group === group).sort((a, b) => (a.usedAt < b.usedAt ? -1 : 1));
  const remove = (gone: Kept) => {
    kept = kept.filter((one) => one !== gone);
    sizedAt.set(gone.group, ++now);
  };
  const giveUp = (gone: Kept) => {
    const { group, other } = gone;
    if (other === null || other === group) return remove(gone);
    sizedAt.set(group, ++now);
    if (placesOf(other) === 0) note(other);
    sizedAt.set(other, ++now);
    gone.group = other;
    gone.other = null;
    gone.usedAt = ++now;
  };
  const use = (one: Kept) => {
    one.usedAt = ++now;
    note(one.group);
  };
  return {
    wait: (ms: number) => {
      nowMs += ms;
    },
    get(key: number) {
      const found = kept.find((one) => one.key === key);
      if (found) use(found);
      return found?.value;
    },
    getFor(group: string, key: number) {
      const found = kept.find((one) => one.key === key);
      if (!found) return undefined;
      if (found.group === group) use(found);
      else {
        found.other = group;
        found.usedAt = ++now;
      }
      return found.value;
    },
    peek: (key: number) => kept.find((one) => one.key === key)?.value,
    set(group: string, key: number, value: number, places: number) {
      const known = kept.find((one) => one.key === key);
      if (known?.group === group && known.places === places) {
        known.value = value;
        use(known);
        return;
      }
      if (known) remove(known);
      if (places > max) return;
      while (kept.reduce((sum, one) => sum + one.places, 0) + places > max) {
        const first = (of: string[], at: Map<string, number>) =>
          of.reduce((one, other) => ((at.get(other) as number) < (at.get(one) as number) ? other : one));
        const most = Math.max(...groups().map(placesOf));
        const idlest = first(groups(), usedAt);
        const isIdle = nowMs - (usedMs.get(idlest) as number) >= idleMs;
        const isOwn = placesOf(group) > 0 && placesOf(group) + places >= most;
        const largest = groups().filter((one) => placesOf(one) === most);
        const giving = isIdle ? idlest : isOwn ? group : most === 1 ? idlest : first(largest, sizedAt);
        giveUp(entriesOf(giving)[0] as Kept);
      }
      const entry = { key, value, group, places, usedAt: 0, other: null };
      kept.push(entry);
      sizedAt.set(group, ++now);
      use(entry);
    },
    delete(key: number) {
      const found = kept.find((one) => one.key === key);
      if (found) remove(found);
    },
    size: () => kept.length,
    byGroup: () =>
      groups().map((group) =>
        entriesOf(group)
          .reverse()
          .map(({ key, value }) => [key, value]),
      ),
  };
}

const group = fc.constantFrom('a', 'b', 'c', 'd');
const key = fc.integer({ min: 0, max: 20 });
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('set' as const), group, key, places: fc.integer({ min: 1, max: 3 }) }),
  },
  fc.record({ kind: fc.constantFrom('get' as const, 'peek' as const, 'delete' as const), key }),
  fc.record({ kind: fc.constant('getFor' as const), group, key }),
  fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(10, 60) }),
);

describe('a cache whose places are shared fairly', () => {
  it.each([1, 3])('does what looking at everything would find (entries of up to %i places)', (largest) => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.array(step, { maxLength: 80 }), (max, steps) => {
        const sizes = new Map<number, number>();
        const cache = createFairCache<number, number>({
          clock: { monotonic: () => nowMs },
          idleMs,
          max,
          placesOf: (_, value) => sizes.get(value) as number,
        });
        const reference = naive(max);
        let nowMs = 0;
        for (const [at, one] of steps.entries()) {
          if (one.kind === 'set') {
            const places = Math.min(one.places, largest);
            sizes.set(at, places);
            cache.set(one.group, one.key, at);
            reference.set(one.group, one.key, at, places);
          } else if (one.kind === 'wait') {
            nowMs += one.ms;
            reference.wait(one.ms);
          } else if (one.kind === 'getFor') {
            expect(cache.getFor(one.group, one.key)).toBe(reference.getFor(one.group, one.key));
          } else expect(cache[one.kind](one.key)).toBe(reference[one.kind](one.key));
          expect(cache.size).toBe(reference.size());
        }
        const sorted = (lists: unknown[][]) => lists.map((list) => JSON.stringify(list)).sort();
        expect(sorted(cache.byGroup())).toEqual(sorted(reference.byGroup()));
        expect([...cache.values()].sort()).toEqual(
          reference
            .byGroup()
            .flatMap((list) => list.map(([, value]) => value))
            .sort(),
        );
      }),
      { numRuns: 500 },
    );
  });
  it('keeps what a group has up to its equal part of the places, whatever others do', () => {
    const others = fc.array(
      fc.record({
        group: fc.constantFrom('b', 'c', 'd'),
        key: fc.integer({ min: 100, max: 200 }),
        isGet: fc.boolean(),
      }),
      { maxLength: 200 },
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), others, (part, steps) => {
        const cache = createFairCache<string, true>({ clock: manualClock(), max: part * 4 });
        for (let own = 0; own < part; own++) cache.set('a', `a ${own}`, true);
        for (const one of steps) {
          if (one.isGet) cache.getFor(one.group, `${one.group} ${one.key}`);
          else cache.set(one.group, `${one.group} ${one.key}`, true);
        }
        for (let own = 0; own < part; own++) expect(cache.peek(`a ${own}`)).toBe(true);
      }),
    );
  });
  it('forgets what was used least recently where there is one group, and where each has one entry', () => {
    for (const groupOf of [() => 'a', (name: string) => name]) {
      const cache = createFairCache<string, true>({ clock: manualClock(), max: 3 });
      for (const name of ['x', 'y', 'z']) cache.set(groupOf(name), name, true);
      cache.get('x');
      cache.set(groupOf('new'), 'new', true);
      expect(['x', 'y', 'z', 'new'].map((name) => cache.peek(name))).toEqual([true, undefined, true, true]);
    }
  });
  it('takes the places of a group that is idle, and of no other before it', async () => {
    const clock = manualClock();
    const cache = createFairCache<string, true>({ clock, max: 4, idleMs: 1_000 });
    for (const name of ['x', 'y']) cache.set('gone', name, true);
    await clock.advance(999);
    for (const name of ['1', '2', '3', '4']) cache.set('a', name, true);
    expect(['x', 'y', '1', '2', '3', '4'].filter((name) => cache.peek(name))).toEqual(['x', 'y', '3', '4']);
    await clock.advance(1);
    for (const name of ['5', '6', '7']) cache.set('a', name, true);
    expect(['x', 'y', '3', '4', '5', '6', '7'].filter((name) => cache.peek(name))).toEqual(['4', '5', '6', '7']);
  });
  it('gives what others use to them where its group has to give it up', () => {
    const cache = createFairCache<string, number>({ clock: manualClock(), max: 10 });
    cache.set('many', 'shared', 1);
    expect(cache.getFor('few', 'shared')).toBe(1);
    for (let n = 0; n < 100; n++) cache.set('many', `flood ${n}`, n);
    expect([cache.peek('shared'), cache.size]).toEqual([1, 10]);
    const lengths = cache.byGroup().map((list) => list.length);
    expect(lengths.sort()).toEqual([1, 9]);
  });
  it('keeps nothing that takes more than all places', () => {
    const cache = createFairCache<string, number>({ clock: manualClock(), max: 2, placesOf: (_, places) => places });
    cache.set('a', 'x', 2);
    cache.set('b', 'large', 3);
    expect([cache.peek('x'), cache.peek('large')]).toEqual([2, undefined]);
    cache.set('a', 'x', 3);
    expect(cache.size).toBe(0);
  });
});
