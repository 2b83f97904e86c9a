import { describe, expect, it } from 'vitest';
import { createCache } from '../../../src/stores/cache.ts';
import { manualClock } from '../../support/manual-clock.ts';

/** A cache over a source whose loads end when told to. */
function scripted(max?: number) {
  const clock = manualClock();
  const loads: { key: string; resolve(value: string | null): void; reject(error: Error): void }[] = [];
  const cache = createCache<string | null>({
    clock,
    ttlMs: 1000,
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
});
