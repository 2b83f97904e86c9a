import { describe, expect, it } from 'vitest';
import { createCache } from '../../../src/stores/cache.ts';
import { manualClock, settle } from '../../support/manual-clock.ts';

/** A cache over a source whose loads end when told to. */
function scripted(max?: number, ttlMs = 1000) {
  const clock = manualClock();
  const loads: { key: string; resolve(value: string | null): void; reject(error: Error): void }[] = [];
  const cache = createCache<string | null>({
    clock,
    ttlMs,
    load: (key) => new Promise((resolve, reject) => loads.push({ key, resolve, reject })),
    ...(max === undefined ? {} : { max }),
  });
  return { clock, loads, cache };
}

describe('a cache', () => {
  it('joins loads of the same key, and knows the value without a promise afterwards', async () => {
    const { loads, cache } = scripted();
    const both = Promise.all([cache.get('a'), cache.get('a')]);
    expect(loads).toHaveLength(1);
    loads[0]?.resolve('one');
    expect(await both).toEqual(['one', 'one']);
    expect(cache.get('a')).toBe('one');
  });
  it('remembers null', async () => {
    const { loads, cache } = scripted();
    const first = cache.get('a');
    loads[0]?.resolve(null);
    await first;
    expect(cache.get('a')).toBe(null);
  });
  it('believes a value from when it was asked for, not from when it came', async () => {
    const { clock, loads, cache } = scripted();
    const first = cache.get('a');
    await clock.advance(600);
    loads[0]?.resolve('one');
    await first;
    await clock.advance(400);
    expect(cache.get('a')).toBe('one');
    await clock.advance(1);
    expect(cache.get('a')).toBeInstanceOf(Promise);
    expect(loads).toHaveLength(2);
  });
  it('gives what was set while it was loading, also to those who wait', async () => {
    const { loads, cache } = scripted();
    const waiting = cache.get('a');
    cache.set('a', 'new');
    loads[0]?.resolve('old');
    expect(await waiting).toBe('new');
    expect(cache.get('a')).toBe('new');
  });
  it('loads again for those who wait for what was forgotten meanwhile', async () => {
    const { loads, cache } = scripted();
    const waiting = cache.get('a');
    cache.forget('a');
    loads[0]?.resolve('old');
    await Promise.resolve();
    loads[1]?.resolve('new');
    expect(await waiting).toBe('new');
    expect(loads).toHaveLength(2);
  });
  it('neither keeps a failed load nor fails the next', async () => {
    const { loads, cache } = scripted();
    const first = cache.get('a');
    loads[0]?.reject(new Error('down'));
    await expect(first).rejects.toThrow('down');
    const second = cache.get('a');
    loads[1]?.resolve('up');
    expect(await second).toBe('up');
  });
  it('still answers those whose key is pushed out by others while it loads', async () => {
    const { loads, cache } = scripted(1);
    const waiting = ['a', 'b', 'c'].map((key) => cache.get(key));
    for (const { key, resolve } of loads) resolve(key);
    expect(await Promise.all(waiting)).toEqual(['a', 'b', 'c']);
  });
  it('believes what was set from when it was set', async () => {
    const { clock, loads, cache } = scripted();
    cache.set('a', 'one');
    await clock.advance(1000);
    expect(cache.get('a')).toBe('one');
    await clock.advance(1);
    expect(cache.get('a')).toBeInstanceOf(Promise);
    expect(loads).toHaveLength(1);
  });
  it('gives nobody who asks after a change what was read before it, however the loads end', async () => {
    for (const change of ['set', 'forget'] as const) {
      for (const order of [
        [0, 1],
        [1, 0],
      ]) {
        const { loads, cache } = scripted();
        const before = cache.get('a');
        if (change === 'set') cache.set('a', 'new');
        else cache.forget('a');
        const after = cache.get('a');
        for (const index of order) {
          loads[index]?.resolve(index === 0 ? 'old' : 'new');
          await settle();
        }
        expect([change, order, await after, await before, cache.get('a')]).toEqual([
          change,
          order,
          'new',
          'new',
          'new',
        ]);
        expect(loads).toHaveLength(change === 'set' ? 1 : 2);
      }
    }
  });
  it('joins those who wait for what was forgotten to one load', async () => {
    const { loads, cache } = scripted();
    const waiting = Promise.all(Array.from({ length: 100 }, () => cache.get('a')));
    cache.forget('a');
    const later = cache.get('a');
    loads[0]?.resolve('old');
    await settle();
    loads[1]?.resolve('new');
    expect(new Set([...(await waiting), await later])).toEqual(new Set(['new']));
    expect(loads).toHaveLength(2);
  });
  it('follows a key that is changed again and again while it loads', async () => {
    const { loads, cache } = scripted();
    const waiting = cache.get('a');
    for (let n = 0; n < 5; n++) {
      cache.forget('a');
      loads[n]?.resolve(`old ${n}`);
      await settle();
    }
    cache.set('a', 'new');
    loads[5]?.resolve('old 5');
    expect(await waiting).toBe('new');
  });
  it('fails nobody by a load that was replaced by a change', async () => {
    const { loads, cache } = scripted();
    const waiting = cache.get('a');
    cache.set('a', 'new');
    loads[0]?.reject(new Error('down'));
    expect(await waiting).toBe('new');
  });
  it('tells a failure to all who wait, and asks again for the next', async () => {
    const { loads, cache } = scripted();
    const all = Promise.allSettled([cache.get('a'), cache.get('a'), cache.get('a')]);
    loads[0]?.reject(new Error('down'));
    expect((await all).map(({ status }) => status)).toEqual(Array(3).fill('rejected'));
    expect(loads).toHaveLength(1);
    const next = cache.get('a');
    loads[1]?.resolve('up');
    expect(await next).toBe('up');
  });
  it('told to believe nothing, still joins loads, and asks anew for each that comes after', async () => {
    const { loads, cache } = scripted(undefined, 0);
    const both = Promise.all([cache.get('a'), cache.get('a')]);
    loads[0]?.resolve('one');
    expect(await both).toEqual(['one', 'one']);
    cache.set('a', 'two');
    const next = cache.get('a');
    expect(next).toBeInstanceOf(Promise);
    loads[1]?.resolve('three');
    expect([await next, loads.length]).toEqual(['three', 2]);
  });
  it('believes nothing for longer because the clock was set back', async () => {
    const clock = manualClock();
    let backMs = 0;
    let loads = 0;
    const cache = createCache({
      clock: { ...clock, now: () => clock.now() - backMs },
      ttlMs: 1000,
      load: async () => ++loads,
    });
    expect(await cache.get('a')).toBe(1);
    backMs = 3_600_000;
    await clock.advance(999);
    expect(await cache.get('a')).toBe(1);
    await clock.advance(2);
    expect(await cache.get('a')).toBe(2);
  });
  it('keeps no more than it may', async () => {
    const { loads, cache } = scripted(2);
    for (const key of ['a', 'b', 'c']) cache.set(key, key);
    expect([cache.get('c'), cache.get('b')]).toEqual(['c', 'b']);
    expect(cache.get('a')).toBeInstanceOf(Promise);
    expect(loads).toHaveLength(1);
  });
});
